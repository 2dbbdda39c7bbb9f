/* reviewing.h - the answer of reviews to a call. */
#ifndef WRIT_STORE_REVIEWING_H
#define WRIT_STORE_REVIEWING_H

#include "store/write/store.h"

/** The answer of the reviews to a call. */
enum writ_reviewing_answer {
    WRIT_REVIEWING_REFUSES = 0, /* `reason` */
    WRIT_REVIEWING_PENDS,       /* the draft stands: it joins a review, or opens one */
    WRIT_REVIEWING_REDEEMS,     /* the call is approved: it may be granted */
};

/** One call that needs a review. Zero-initialise; `changes` are settled or reverted with the
 * decision. */
struct writ_reviewing {
    enum writ_reviewing_answer answer;
    enum writ_reason reason;      /* REFUSES: why. PENDS: why the review before ended, or NONE */
    struct writ_reviewed *review; /* the review that answers; NULL: none */
    struct writ_view before;      /* id of the review that ended for this one; ptr NULL: none */
    int64_t until_us;             /* of the state in the answer */
    struct writ_reviews_changes changes;
    struct writ_reviewed *told; /* this answer reports its end, so it is forgotten; or NULL */
};

/**
 * Finds the answer of the reviews to a draft, without any change.
 *
 * WRIT_E_NOMEM.
 */
WRIT_RESULT writ_reviewing_ask(struct writ_ledger *ledger, const struct writ_entry_decision *d,
    int64_t now_us, struct writ_reviewing *ret, struct writ_err *err);

/** Makes the changes that go with the answer, behind the body of the decision; writes the answer
 * into the draft's ask. As writ_review_changes_make. */
WRIT_RESULT writ_reviewing_record(struct writ_ledger *ledger, struct writ_reviewing *reviewing,
    struct writ_entry_decision *d, uint64_t leaf, struct writ_boundary *boundary, bool granted,
    struct writ_arena *arena, struct writ_err *err);

/** Gives the changes rows and ops. */
void writ_reviewing_settle(struct writ_ledger *ledger, struct writ_reviewing *reviewing);
/** Undoes the changes, if any. */
void writ_reviewing_revert(struct writ_ledger *ledger, struct writ_reviewing *reviewing);

#endif
