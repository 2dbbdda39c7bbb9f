/* figures_feed.h - keeps the figures (figures.h) equal to the ledger.
 *
 * A thread with a reader of its own reads new records once a second (what a decision says it has
 * from the loop that granted it, as far as that is there), and, after a start, the earlier ones
 * backwards, block by block, until it has a week. So no request reads records, nothing is stored
 * beside the ledger, and the last hour is right first. Durations of commits are not in the ledger:
 * they begin with the process. */
#ifndef WRIT_GATEWAY_FIGURES_FEED_H
#define WRIT_GATEWAY_FIGURES_FEED_H

#include "gateway/state/budget_use.h"
#include "gateway/state/figures.h"
#include "gateway/state/policy_use.h"
#include "store/ledger/ledger.h"
#include "store/read/reader.h"

#define WRIT_FIGURES_FEED_BLOCK 4096 /* records of one reading */

struct writ_figures_feed;

/** How far the figures go. */
struct writ_figures_progress {
    bool complete;    /* back to the beginning of the ledger, or of the longest span */
    int64_t since_us; /* of the oldest record that was read; 0: none was */
    uint64_t records; /* that were read forwards, counted from the first of the ledger */
    uint64_t lost;    /* without memory, or unreadable */
};

/** Starts the thread. It reads back a week, or `window_us` when that is longer: the longest window
 * of a budget. `path` and the others are borrowed until free. WRIT_E_NOMEM, WRIT_E_CRYPTO.
 */
WRIT_RESULT writ_figures_feed_new(const char *path, struct writ_ledger *ledger,
    const struct writ_clock *clock, int64_t window_us, struct writ_figures_feed **ret,
    struct writ_err *err);
/** Ends the thread before. NULL is permitted. */
void writ_figures_feed_free(struct writ_figures_feed *feed);

/** Any thread: the decision with that leaf, as it was recorded, so that its record need not be read
 * for the figures. Copied. A decision that is not given is read, once a second with the others. */
void writ_figures_feed_grant(struct writ_figures_feed *feed, uint64_t leaf,
    const struct writ_decision *decision, const struct writ_extension *extension);

/** As writ_figures_each; from any thread, which may wait for a moment: not on a loop. */
void writ_figures_feed_each(struct writ_figures_feed *feed, enum writ_figures_span span,
    int64_t now_us, void (*each)(void *ctx, const struct writ_figures_cell *cell), void *ctx,
    struct writ_figures_progress *ret);

/** As writ_budget_use_each; as writ_figures_feed_each. */
void writ_figures_feed_budgets(struct writ_figures_feed *feed, int64_t now_us,
    bool (*each)(void *ctx, const struct writ_budget_use_row *row), void *ctx,
    struct writ_figures_progress *ret);

/** As writ_policy_use_each, over the records that were read; as writ_figures_feed_each. */
void writ_figures_feed_policies(struct writ_figures_feed *feed,
    void (*each)(void *ctx, const struct writ_policy_use_row *row), void *ctx,
    struct writ_figures_progress *ret);

#endif
