/* wal_checkpoint.h - copies the write-ahead log into the database, beside the writer.
 *
 * Inside a COMMIT this would cost milliseconds. A thread with its own connection does most of it
 * while the writer works, and the writer does the small rest between two groups, so that the log
 * restarts from its beginning. When the writer appends faster than the passes copy, the writer
 * copies the rest at WRIT_WAL_PAGES_MAX: the log is bounded, and with it the time of a start after
 * a crash. */
#ifndef WRIT_STORE_WAL_CHECKPOINT_H
#define WRIT_STORE_WAL_CHECKPOINT_H

#include "base/bytes.h"

#define WRIT_WAL_PAGES     1024  /* of the log: time for a pass */
#define WRIT_WAL_REST      128   /* so many pages the writer copies by itself */
#define WRIT_WAL_PAGES_MAX 16384 /* 64 MiB: the writer copies all that is left */

struct writ_wal_checkpoint;

/** Starts the thread. `path` is copied. WRIT_E_IO, WRIT_E_NOMEM. */
WRIT_RESULT writ_wal_checkpoint_start(
    const char *path, int64_t busy_us, struct writ_wal_checkpoint **ret, struct writ_err *err);
/** Waits for the running pass and ends the thread. NULL is permitted. */
void writ_wal_checkpoint_stop(struct writ_wal_checkpoint *checkpoint);

/** Requests one pass. Does nothing while one is running. */
void writ_wal_checkpoint_wake(struct writ_wal_checkpoint *checkpoint);

/** The log has restarted: none of its pages is in the database. */
void writ_wal_checkpoint_begun(struct writ_wal_checkpoint *checkpoint);

struct writ_wal_state {
    bool busy;
    bool poisoned;   /* a pass failed in a way after which nothing may be written */
    uint64_t copied; /* pages of the log that are in the database after the last pass */
};

/** The progress. Thread-safe. `err` (may be NULL) gets the reason when it is poisoned. */
struct writ_wal_state writ_wal_checkpoint_state(
    struct writ_wal_checkpoint *checkpoint, struct writ_err *err);

enum writ_wal_work {
    WRIT_WAL_NOTHING = 0,
    WRIT_WAL_PASS, /* of the thread */
    WRIT_WAL_COPY, /* by the writer, of all that is left */
};

/** The work that a log of `pages` pages needs between two groups. `idle`: no entry waits. */
enum writ_wal_work writ_wal_checkpoint_next(
    uint64_t pages, const struct writ_wal_state *state, bool idle);

#endif
