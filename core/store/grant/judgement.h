/* judgement.h - whether a call is granted: the checks, in their order.
 *
 * Used by grant.c, from the writer's thread. A check returns the reason of a refusal, or NONE; a
 * check that cannot decide is an error. Only the last one changes anything: it books. */
#ifndef WRIT_STORE_JUDGEMENT_H
#define WRIT_STORE_JUDGEMENT_H

#include "store/reviews/reviewing.h"
#include "store/write/store.h"

/** The state of one decision while its checks run. */
struct writ_judgement {
    struct writ_ledger *ledger;
    struct writ_entry *entry;
    struct writ_entry_decision *d;
    struct writ_arena *arena;
    int64_t wall_us, stamp_us;
    struct writ_view name; /* of the boundary that it will be in */
    struct writ_tag tag;
    struct writ_boundary *boundary; /* NULL: not open yet */
    bool sealed;
    struct writ_flight *before;      /* that waits, and that this decision follows */
    struct writ_reviewing reviewing; /* the answer of a review, when the call needs one */
    struct writ_view review_id; /* of the review that answers, in the arena: this answer may end
                                   it */
    int64_t lifetime_us;        /* of the record */
    enum writ_reason crowded;   /* why it cannot be opened, or NONE */
    struct writ_tag key, intent;
    struct writ_booking bookings[WRIT_RESERVATIONS_MAX];
    size_t bookings_n;
    bool granting;      /* false until every check has passed */
    bool asking;        /* a review was consulted */
    writ_result failed; /* WRIT_OK, or why the entry cannot be judged at all */
    struct writ_err err;
};

/** Validates the draft; then finds its boundary, its time, and whether there is room.
 * WRIT_E_INVALID, WRIT_E_LIMIT: not a draft; WRIT_E_CRYPTO, WRIT_E_IO, WRIT_E_BUSY. */
WRIT_RESULT writ_judgement_begin(struct writ_judgement *j);

/** Finds the boundary `j->name`: open in memory, sealed on disk, or absent. WRIT_E_CRYPTO,
 * WRIT_E_IO, WRIT_E_BUSY. */
WRIT_RESULT writ_judgement_find_boundary(struct writ_judgement *j);

/** Runs all checks. NONE: `j->granting` is set, and `j->bookings` are booked. Otherwise
 * `j->d->prior` and `exceeded` say what prevents the call. WRIT_E_NOMEM, WRIT_E_CRYPTO, WRIT_E_IO,
 * WRIT_E_BUSY. */
WRIT_RESULT writ_judgement_run(struct writ_judgement *j, enum writ_reason *ret);

/** Runs the checks that come before a review; they book nothing. Fails as writ_judgement_run. */
WRIT_RESULT writ_judgement_before_review(struct writ_judgement *j, enum writ_reason *ret);

/** Gives back the bookings that no flight took over. */
void writ_judgement_unbook(struct writ_judgement *j);

#endif
