/* catalog_snapshot.h - the current catalog of one tool server, for all loops.
 *
 * A loop keeps the last catalog that it read and compares one number to know that it is still
 * current, so that a call takes no lock. Every loop sees a new catalog at its next lookup. */
#ifndef WRIT_GATEWAY_CATALOG_SNAPSHOT_H
#define WRIT_GATEWAY_CATALOG_SNAPSHOT_H

#include "gateway/mcp/catalog.h"

#include <pthread.h>

struct writ_catalog_snapshot {
    pthread_mutex_t lock;         /* of `current` */
    struct writ_catalog *current; /* held; NULL: nothing was learned yet */
    atomic_uint_least64_t version;
    atomic_uint_least64_t doubts;  /* how often the list was said or seen to have changed */
    atomic_uint_least64_t settled; /* the doubts at the time when the current one was requested */
    atomic_int_least64_t stale_us; /* when the current one becomes too old; monotonic */
    atomic_int_least64_t asked_us; /* when it was requested */
};

/** The last catalog that one loop read. Zeroed: none. Only for that loop's thread. */
struct writ_catalog_snapshot_view {
    struct writ_catalog *catalog; /* held */
    uint64_t version;
};

/** WRIT_E_NOMEM. */
WRIT_RESULT writ_catalog_snapshot_init(
    struct writ_catalog_snapshot *snapshot, struct writ_err *err);
void writ_catalog_snapshot_wipe(struct writ_catalog_snapshot *snapshot);

/** The current catalog, or NULL; borrowed until the next lookup of this loop. */
const struct writ_catalog *writ_catalog_snapshot_look(
    struct writ_catalog_snapshot *snapshot, struct writ_catalog_snapshot_view *view);

/** Drops the last catalog that was read. */
void writ_catalog_snapshot_forget(struct writ_catalog_snapshot_view *view);

/** Sets a sealed catalog, and takes it. An equal one changes nothing; another one is looked at. Any
 * thread. */
void writ_catalog_snapshot_put(
    struct writ_catalog_snapshot *snapshot, struct writ_catalog *catalog);

/** The current catalog, held, or NULL; and its version. Any thread. */
struct writ_catalog *writ_catalog_snapshot_hold(
    struct writ_catalog_snapshot *snapshot, uint64_t *ret_version);

/** That version, to detect a newer one. Any thread. */
uint64_t writ_catalog_snapshot_version(struct writ_catalog_snapshot *snapshot);

/** Marks that the list has changed, or may have: it must be requested again. Any thread. */
void writ_catalog_snapshot_doubt(struct writ_catalog_snapshot *snapshot);

/** The number of doubts: read it before requesting the list. Any thread. */
uint64_t writ_catalog_snapshot_doubts(struct writ_catalog_snapshot *snapshot);

/** Ends these doubts after the list that was requested at `asked_us` was set; it is valid until
 * `stale_us`. Any thread. */
void writ_catalog_snapshot_settle(
    struct writ_catalog_snapshot *snapshot, uint64_t doubts, int64_t asked_us, int64_t stale_us);

/** When the current list was requested. Any thread. */
int64_t writ_catalog_snapshot_asked_us(struct writ_catalog_snapshot *snapshot);

/** Whether the list must be requested: it is doubtful or too old, or not learned yet. Any
 * thread. */
bool writ_catalog_snapshot_is_doubtful(struct writ_catalog_snapshot *snapshot, int64_t now_us);

#endif
