/* token_cache.h - the tokens that one loop has verified, so that it need not verify them at each
 * call.
 *
 * A fixed number of places; a new verdict replaces the old one of its place. Each is for the exact
 * text of one token (by its SHA-256) under one version of the keys. For one thread. */
#ifndef WRIT_GATEWAY_TOKEN_CACHE_H
#define WRIT_GATEWAY_TOKEN_CACHE_H

#include "policy/model/config.h"

#define WRIT_TOKEN_CACHE_MAX 1024 /* remembered at once */

/** The members of an agent, and those of a configuration that name their claims. */
struct writ_token_cache_field {
    size_t agent, name; /* offsets in struct writ_agent and struct writ_claim_names */
};

#define WRIT_TOKEN_CACHE_FIELDS 6 /* the last: scopes, which are read in their own way */
extern const struct writ_token_cache_field writ_token_cache_fields[WRIT_TOKEN_CACHE_FIELDS];

/** Field `i` of an agent, and of the names of claims. */
struct writ_view writ_token_cache_value(const struct writ_agent *agent, size_t i);
struct writ_view writ_token_cache_name(const struct writ_claim_names *names, size_t i);
void writ_token_cache_set(struct writ_agent *agent, size_t i, struct writ_view value);

/** One verdict. */
struct writ_token_cache_seen {
    struct writ_digest token;
    const struct writ_identity_config *entry; /* the entry of the configuration that accepted it */
    struct writ_view endpoint; /* the path for which it is valid; empty: all. Outlives the
                                  verdict */
    int64_t exp_s;             /* the end of the token's life */
    size_t place;              /* the place of its keys (issuers.h) */
    uint64_t version;          /* and which version of them */
    struct writ_agent agent;
};

struct writ_token_cache;

/** NULL without memory. */
struct writ_token_cache *writ_token_cache_new(void);
void writ_token_cache_free(struct writ_token_cache *verdicts);

/** The verdict on that token, or NULL; the caller checks whether it is still valid. Borrowed until
 * the next put. */
const struct writ_token_cache_seen *writ_token_cache_find(
    const struct writ_token_cache *verdicts, const struct writ_digest *token);

/** Caches a verdict, with a copy of its texts; does nothing without memory. */
void writ_token_cache_put(
    struct writ_token_cache *verdicts, const struct writ_token_cache_seen *seen);

#endif
