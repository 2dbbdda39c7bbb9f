/* review_changes.h - the changes of a review (reviews.h), as records and in memory. */
#ifndef WRIT_STORE_REVIEW_CHANGES_H
#define WRIT_STORE_REVIEW_CHANGES_H

#include "store/tables/review_context.h"
#include "store/write/store.h"

/**
 * Appends the record of an event to the bodies of the group and makes the change in memory.
 *
 * @param changes gets one more; must have room
 *
 * @return WRIT_OK
 *         WRIT_E_MISMATCH  the event cannot happen in its state
 *         WRIT_E_LIMIT, WRIT_E_NOMEM
 */
WRIT_RESULT writ_review_changes_make(struct writ_ledger *ledger, struct writ_reviewed *review,
    const struct writ_reviews_event *event, struct writ_arena *arena,
    struct writ_reviews_changes *changes, struct writ_err *err);
/** Gives the changes rows and ops. The last op answers `entry`; NULL: no entry. */
void writ_review_changes_settle(struct writ_ledger *ledger,
    const struct writ_reviews_changes *changes, struct writ_entry *entry);
/** Removes a review that is over from table and disk, with the present group. */
void writ_review_changes_forget(struct writ_ledger *ledger, struct writ_reviewed *review);
/** Undoes changes that got no rows. */
void writ_review_changes_revert(
    struct writ_ledger *ledger, const struct writ_reviews_changes *changes);

/** Ends the AWAIT entries of a review: all of them, or those whose time is over at `now_us`. */
void writ_review_changes_release(
    struct writ_ledger *ledger, struct writ_reviewed *review, int64_t now_us, enum writ_code code);

/** Puts a review of the disk into the table, from its records. `boundary` NULL: it is sealed.
 * WRIT_E_MISMATCH, WRIT_E_LIMIT, WRIT_E_IO, WRIT_E_NOMEM, WRIT_E_CRYPTO. */
WRIT_RESULT writ_review_changes_load(struct writ_ledger *ledger, struct writ_view id,
    struct writ_tag name, uint64_t leaf, struct writ_boundary *boundary, const struct writ_row *row,
    struct writ_err *err);

/** Takes the next record of a review that is in the table, which another gateway wrote, and ends
 * the entries that wait for it. WRIT_E_MISMATCH, WRIT_E_NOMEM, WRIT_E_CRYPTO. */
WRIT_RESULT writ_review_changes_hear(struct writ_ledger *ledger, struct writ_reviewed *review,
    uint64_t leaf, struct writ_view body, struct writ_err *err);

/**
 * Reads the review context from the row of the review, into the arena. It is compared with the
 * record that opened the review each time: a changed row is not shown, and poisons the ledger.
 *
 * @param lives  the review is open: its context must exist
 * @param ret    all empty when it is over and its context is no longer kept
 *
 * WRIT_E_IO, WRIT_E_BUSY, WRIT_E_NOMEM, WRIT_E_CRYPTO. Blocks.
 */
WRIT_RESULT writ_review_changes_shown(struct writ_ledger *ledger, struct writ_view id, bool lives,
    struct writ_arena *arena, struct writ_review_context *ret, struct writ_err *err);

#endif
