/* claims.h - the claimed keys: those of calls in flight, and the latest ones beside them, in the
 * memory of the writer.
 *
 * A claim stands from the grant of a call until it has been kept for its time and its boundary is
 * sealed, and in any case while the call is in flight. It is found by its key and by
 * (tenant, intent_ref, idempotency_key). A claim whose call has its outcome does not
 * change any more: it waits here until once.h writes it to the disk.
 *
 * One thread. */
#ifndef WRIT_STORE_CLAIMS_H
#define WRIT_STORE_CLAIMS_H

#include "store/tables/map.h"

/** The known facts about a claim. */
struct writ_claim_facts {
    struct writ_tag call; /* the state-free identity of the call */
    uint64_t leaf;        /* of the decision */
    uint64_t boundary;    /* its row */
    int64_t made_us;
    int64_t kept_us; /* how long it is kept at least; whole seconds */
    bool in_flight;
    bool interrupted; /* its outcome was written by recovery */
    uint8_t outcome;  /* enum writ_outcome_kind, once not in flight */
};

/** One key that is taken. */
struct writ_hold {
    struct writ_map_node by_key, by_intent;
    struct writ_hold *next, *prev; /* not in flight: in the order of the outcomes */
    struct writ_claim_facts facts;
};

struct writ_claims {
    struct writ_map by_key, by_intent;
    struct writ_hold *first, *last; /* those that are not in flight */
    size_t concluded;
    struct writ_hold *spare; /* freed nodes, by `next` */
    struct writ_hold_block *blocks;
};

/** A table for about `most` claims (more only make it slower). WRIT_E_NOMEM, WRIT_E_CRYPTO. */
WRIT_RESULT writ_claims_init(struct writ_claims *ret, size_t most, struct writ_err *err);
/** Frees all claims. A zeroed table is fine. */
void writ_claims_wipe(struct writ_claims *claims);

/** How many are held. */
size_t writ_claims_count(const struct writ_claims *claims);

/** The latest claim of that key, or of that intent; NULL when there is none. Belongs to the
 * table. */
struct writ_hold *writ_claims_by_key(const struct writ_claims *claims, struct writ_tag key);
struct writ_hold *writ_claims_by_intent(const struct writ_claims *claims, struct writ_tag intent);

/** Takes a key for a call in flight. NULL without memory. */
struct writ_hold *writ_claims_add(struct writ_claims *claims, struct writ_tag key,
    struct writ_tag intent, const struct writ_claim_facts *facts);

/** Notes that the call has its outcome. */
void writ_claims_conclude(
    struct writ_claims *claims, struct writ_hold *hold, uint8_t outcome, bool interrupted);

/** Frees a claim. */
void writ_claims_remove(struct writ_claims *claims, struct writ_hold *hold);

#endif
