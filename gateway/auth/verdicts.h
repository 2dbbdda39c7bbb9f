/* verdicts.h - the tokens that one loop found right, so that it need not verify them at each call.
 *
 * A fixed number of places; a new verdict takes the place of whatever was there. Each is for the
 * exact text of one token (by its SHA-256) under one version of the keys. For one thread. */
#ifndef WRIT_GATEWAY_VERDICTS_H
#define WRIT_GATEWAY_VERDICTS_H

#include "policy/config.h"

#define WRIT_VERDICTS_MAX 1024 /* remembered at once */

/** The members of an agent, and those of a configuration that name their claims. */
struct writ_verdicts_field {
    size_t agent, name; /* offsets in struct writ_agent and struct writ_claim_names */
};

#define WRIT_VERDICTS_FIELDS 6 /* the last: scopes, which are read in their own way */
extern const struct writ_verdicts_field writ_verdicts_fields[WRIT_VERDICTS_FIELDS];

/** Field `i` of an agent, and of the names of claims. */
struct writ_view writ_verdicts_value(const struct writ_agent *agent, size_t i);
struct writ_view writ_verdicts_name(const struct writ_claim_names *names, size_t i);
void writ_verdicts_set(struct writ_agent *agent, size_t i, struct writ_view value);

/** One verdict. */
struct writ_verdicts_seen {
    struct writ_digest token;
    const struct writ_identity_config *entry; /* of the configuration that it was found by */
    struct writ_view endpoint; /* whose path it is for; empty: all of them. Outlives the verdict */
    int64_t exp_s;             /* the end of the token's life */
    size_t place;              /* whose keys it was found with (issuers.h) */
    uint64_t version;          /* and which version of them */
    struct writ_agent agent;
};

struct writ_verdicts;

/** NULL on no memory. */
struct writ_verdicts *writ_verdicts_new(void);
void writ_verdicts_free(struct writ_verdicts *verdicts);

/** The verdict on that token, or NULL; it is the caller's to ask whether it still holds. Borrowed
 * until the next put. */
const struct writ_verdicts_seen *writ_verdicts_find(
    const struct writ_verdicts *verdicts, const struct writ_digest *token);

/** Remembers a verdict, with a copy of its texts; without memory it does not. */
void writ_verdicts_put(struct writ_verdicts *verdicts, const struct writ_verdicts_seen *seen);

#endif
