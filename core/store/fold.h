/* fold.h - folds the write-ahead log back into the database, beside the writer.
 *
 * Inside a COMMIT this would cost milliseconds; a thread with a connection of its own does the
 * bulk of it while the writer goes on, and the writer does the small rest between two groups, so
 * that the log starts again at its beginning and does not grow for ever. */
#ifndef WRIT_STORE_FOLD_H
#define WRIT_STORE_FOLD_H

#include "base/bytes.h"

struct writ_fold;

/** Starts the thread. `path` is copied. WRIT_E_IO, WRIT_E_NOMEM. */
WRIT_RESULT writ_fold_start(
    const char *path, int64_t busy_us, struct writ_fold **ret, struct writ_err *err);
/** Waits for what it is doing and ends it. NULL is fine. */
void writ_fold_stop(struct writ_fold *fold);

/** Asks for one pass. Does nothing while one is running. */
void writ_fold_wake(struct writ_fold *fold);

/** The log began anew: nothing of it is folded in. */
void writ_fold_anew(struct writ_fold *fold);

struct writ_fold_state {
    bool busy;
    bool poisoned;   /* a pass failed in a way after which nobody may write */
    uint64_t folded; /* pages of the log that are in the database after the last pass */
};

/** How far it is. Thread-safe. `err` (may be NULL) gets what poisoned it. */
struct writ_fold_state writ_fold_look(struct writ_fold *fold, struct writ_err *err);

#endif
