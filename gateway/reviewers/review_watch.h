/* review_watch.h - tells the first loop of each review that is open or has changed, from the first
 * record on; as long as the gateway runs. */
#ifndef WRIT_GATEWAY_REVIEW_WATCH_H
#define WRIT_GATEWAY_REVIEW_WATCH_H

#include "gateway/state/gateway.h"

/** The owner sets the first three members; the rest is zeroed. */
struct writ_review_watch {
    struct writ_worker *worker;
    /** A portion, borrowed for the call. False: no memory for it; it is called with the same one
     * again a second later. */
    bool (*changed)(void *ctx, const struct writ_entry_review_watch *now);
    void *ctx;
    uint64_t at, from;
    struct writ_arena *arena;
    struct writ_entry entry;
    struct writ_post post;
    struct writ_timer again;
};

/** Begins, on the loop of the worker. WRIT_E_BUSY. */
WRIT_RESULT writ_review_watch_start(struct writ_review_watch *watch);
/** After the loops have ended: `changed` is not called again. */
void writ_review_watch_end(struct writ_review_watch *watch);
/** After the ledger is closed. */
void writ_review_watch_wipe(struct writ_review_watch *watch);

#endif
