/* claims.h - the keys that are taken, in the memory of the writer.
 *
 * A claim stands from the grant of a call until `kept` has passed and its boundary is sealed, and
 * in any case while the call is in flight. It is found by its key and, because the contract asks
 * for both, by (tenant, intent_ref, idempotency_key). Memory is bounded: a table that is full takes
 * no further claim, and the call is refused; who makes claims has them in his share.
 *
 * One thread. */
#ifndef WRIT_STORE_CLAIMS_H
#define WRIT_STORE_CLAIMS_H

#include "evidence/outcome.h"
#include "store/shares.h"

#define WRIT_CLAIMS_RECENT 512 /* bytes of tenant and agent that are remembered */
#define WRIT_CLAIMS_SLOTS  64  /* of the wheel in which claims wait for their end */

/** One key that is taken. */
struct writ_hold {
    struct writ_map_node by_key, by_intent;
    struct writ_tag call;          /* the state-free identity of the call */
    struct writ_hold *next, *prev; /* in the list of its boundary; later in a slot of the wheel */
    struct writ_charge charge;     /* of whose call it is */
    uint64_t leaf;                 /* of the decision */
    int64_t made_us;
    int64_t until_us; /* on the wheel: when it ends */
    int64_t kept_us;  /* how long it is kept, at least */
    bool in_flight;
    bool interrupted; /* its outcome was written by recovery */
    uint8_t outcome;  /* enum writ_outcome_kind, once not in flight */
};

struct writ_claims {
    struct writ_map by_key, by_intent;
    struct writ_shares shares;
    struct writ_owner recent; /* the one that was asked for last: many calls in a row are of one */
    struct writ_view recent_tenant, recent_agent; /* in `recent_text`; tenant.ptr NULL: none yet */
    char recent_text[WRIT_CLAIMS_RECENT];
    size_t most;
    int64_t slot_us;
    int64_t ticked_us; /* slots that end before are empty */
    struct writ_hold *slots[WRIT_CLAIMS_SLOTS];
    struct writ_hold *spare; /* freed nodes, by `next` */
    struct writ_hold_block *blocks;
};

/** A table for at most `most` claims. WRIT_E_NOMEM, WRIT_E_CRYPTO. */
WRIT_RESULT writ_claims_init(struct writ_claims *ret, size_t most, int64_t kept_us,
    int64_t window_kept_us, struct writ_err *err);
/** Frees all claims. A zeroed table is fine. */
void writ_claims_wipe(struct writ_claims *claims);

/** How many are held. */
size_t writ_claims_count(const struct writ_claims *claims);

/** The claim of that key, or of that intent; NULL when nobody holds it. Belongs to the table. */
struct writ_hold *writ_claims_by_key(const struct writ_claims *claims, struct writ_tag key);
struct writ_hold *writ_claims_by_intent(const struct writ_claims *claims, struct writ_tag intent);

/** Whose claim that would be. WRIT_E_CRYPTO. */
WRIT_RESULT writ_claims_owner(struct writ_claims *claims, struct writ_view tenant,
    struct writ_view agent_id, struct writ_owner *ret, struct writ_err *err);

/** Takes a key; the rest of the claim is for the caller to fill in, and it is in no list yet. NULL
 * when the table is full or there is no memory. `owner` NULL: it counts against nobody. */
struct writ_hold *writ_claims_add(struct writ_claims *claims, struct writ_tag key,
    struct writ_tag intent, const struct writ_owner *owner);

/** Puts a claim at the head of a list of its boundary. */
void writ_claims_link(struct writ_hold **list, struct writ_hold *hold);

/** Frees a claim that is in `list`. */
void writ_claims_remove(
    struct writ_claims *claims, struct writ_hold **list, struct writ_hold *hold);

/** Lets a claim that is in no list end in its time; its boundary is sealed as of `sealed_us`. A
 * claim whose time has passed is freed at once. */
void writ_claims_retire(
    struct writ_claims *claims, struct writ_hold *hold, int64_t sealed_us, int64_t now_us);

/** Frees claims whose time has passed, at most `most` of them. */
void writ_claims_tick(struct writ_claims *claims, int64_t now_us, size_t most);

#endif
