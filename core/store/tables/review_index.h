/* review_index.h - how many reviews are open, how many an agent has, and which one is next to end
 * by time.
 *
 * Kept at each change of a review, never by a look at all of them. */
#ifndef WRIT_STORE_REVIEW_INDEX_H
#define WRIT_STORE_REVIEW_INDEX_H

#include "store/tables/reviewed.h"

/** Counts a review, whose terms are known now, among those of its agent. Once for each review.
 * WRIT_E_NOMEM, WRIT_E_CRYPTO. */
WRIT_RESULT writ_review_index_join(
    struct writ_reviews *reviews, struct writ_reviewed *review, struct writ_err *err);
/** Counts it no more, because it leaves the table. One that did not join is fine. */
void writ_review_index_leave(struct writ_reviews *reviews, struct writ_reviewed *review);
/** To be called after each change of its state or of `leaving`, the undoing of a change included;
 * its `leaf` is set by then. Also after a change of `until_us`, `look` or `awaiting`. */
void writ_review_index_follow(struct writ_reviews *reviews, struct writ_reviewed *review);
/** A sweep looks at it next, because something may have ended it. */
void writ_review_index_look(struct writ_reviews *reviews, struct writ_reviewed *review);
/** The same for all live ones of a boundary. */
void writ_review_index_look_in(struct writ_reviews *reviews, struct writ_boundary *boundary);
/** The first one that a sweep looks at until then, or NULL; and the one after it. */
struct writ_reviewed *writ_review_index_due(const struct writ_reviews *reviews, int64_t now_us);
struct writ_reviewed *writ_review_index_due_next(
    const struct writ_reviewed *review, int64_t now_us);

/** Its last record on disk is that one. */
void writ_review_index_change(
    struct writ_reviews *reviews, struct writ_reviewed *review, uint64_t leaf);

/** The live reviews of an agent; SIZE_MAX when that cannot be found out. */
size_t writ_review_index_live(
    const struct writ_reviews *reviews, struct writ_view tenant, struct writ_view agent_id);
/** How many are open. `ret_since_us`: the wall time at which the oldest of them opened; 0: none. */
size_t writ_review_index_open(const struct writ_reviews *reviews, int64_t *ret_since_us);
/** The oldest redeemed set of candidates of an agent that has `most` of them and live reviews
 * together, or more; else NULL. */
struct writ_reviewed *writ_review_index_surplus(
    const struct writ_reviews_agent *agent, size_t most);

#endif
