/* revocations.h - the places of credentials in the list of revoked ones (status_list.h).
 *
 * Credentials of the same agent, tenant, upstream, tool and policy share a place, so that the size
 * of the list does not grow with the rate of calls. When more of them live than there are places,
 * the rest share one, which every stop revokes. A revoked place is not given again before all
 * credentials in it have expired.
 *
 * The list has a range of places for each of the last runs of the gateway. Of an earlier run only
 * the range and the lifetime of its credentials are known: a stop revokes all of them. A gateway
 * that was restarted so often that such credentials live in its own range has one place for all its
 * own credentials, until those have expired.
 *
 * A table in memory, no I/O; its owner (stop_rules.h) keeps the lock, and its four numbers in a
 * file. */
#ifndef WRIT_GATEWAY_REVOCATIONS_H
#define WRIT_GATEWAY_REVOCATIONS_H

#include "evidence/credential/status_list.h"
#include "gateway/stops/kill.h"

#define WRIT_REVOCATIONS_RANGES 4
#define WRIT_REVOCATIONS_EACH   (WRIT_STATUS_LIST_BYTES * 8 / WRIT_REVOCATIONS_RANGES)
#define WRIT_REVOCATIONS_PLACES (WRIT_REVOCATIONS_RANGES * WRIT_REVOCATIONS_EACH)
#define WRIT_REVOCATIONS_FIELDS 5 /* of a call: calls with equal fields share a place */

/** A place of this run, and the calls that have it. */
struct writ_revocations_place {
    struct writ_buf text; /* the fields, one after the other */
    uint16_t ends[WRIT_REVOCATIONS_FIELDS];
    bool revoked;
    bool unknown;    /* an earlier run may have given it to a credential */
    int64_t until_s; /* when all credentials in it have expired */
};

/** The four numbers outlive a run; a zeroed one is a first run that has not begun. */
struct writ_revocations {
    int64_t range;                            /* of this run, from 0 */
    int64_t began_s[WRIT_REVOCATIONS_RANGES]; /* when the last run of each range began; 0: none */
    int64_t longest_s;                        /* that a credential of any run lived */
    int64_t others_s; /* until then, everything in other ranges is revoked */
    struct writ_revocations_place places[WRIT_REVOCATIONS_EACH];
};

/** The first run of all begins. */
void writ_revocations_begin(struct writ_revocations *r, int64_t now_s);

/** Begins a run after another one, whose numbers are in `r`: it gets the next range. */
void writ_revocations_follow(struct writ_revocations *r, int64_t now_s);

/** Frees the memory of the places. */
void writ_revocations_wipe(struct writ_revocations *r);

/** Gives the place for a credential of `call` that expires at `until_s`. False: there is none, and
 * no credential may be issued; `ret` stays unchanged. Does not raise longest_s. */
bool writ_revocations_give(struct writ_revocations *r, const struct writ_kill_call *call,
    int64_t now_s, int64_t until_s, int64_t *ret);

/** Revokes every place that may hold a credential named by the stop, and all places of earlier
 * runs. */
void writ_revocations_revoke(
    struct writ_revocations *r, const struct writ_kill *kill, int64_t now_s);

/** A stop that an earlier run pulled: until `until_s` all credentials of such runs are revoked. */
void writ_revocations_hear(struct writ_revocations *r, int64_t until_s, int64_t now_s);

/** True when the place, 0 to WRIT_REVOCATIONS_PLACES - 1, is revoked and its credentials may
 * live. */
bool writ_revocations_has(const struct writ_revocations *r, int64_t place, int64_t now_s);

#endif
