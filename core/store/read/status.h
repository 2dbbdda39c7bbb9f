/* status.h - what a ledger and the server under it are like now: its size, its checkpoint, and on
 * PostgreSQL its gateways and how commits are replicated. Reads alone, beside gateways that write.
 */
#ifndef WRIT_STORE_STATUS_H
#define WRIT_STORE_STATUS_H

#include "base/clock.h"
#include "evidence/json/digest.h"

#define WRIT_STATUS_RECENT_US INT64_C(60000000) /* the time of `recent` */

enum writ_status_life {
    WRIT_STATUS_ENDED = 0,
    WRIT_STATUS_LIVE,
    WRIT_STATUS_LATE, /* its lease has passed, and no other gateway has declared it dead yet */
};

/** One epoch of a gateway. */
struct writ_status_gateway {
    uint64_t epoch, turns;
    enum writ_status_life life;
    int64_t started_us, lease_us; /* by the clock of the database */
    struct writ_view name, version, policy;
};

/** A server that follows this one. */
struct writ_status_standby {
    struct writ_view name, state, sync_state; /* ptr NULL: the role may not see it */
    bool has_bytes, has_time;
    int64_t lag_bytes, lag_us;
};

/** Zeroed: nothing is known. Views and lists are in the arena. */
struct writ_status {
    struct writ_arena *arena;
    bool shared, is_open; /* is_open: a program has the file open, to write */
    bool copying;         /* a copy that is not complete (copy.h) */
    int version;          /* of the tables */
    int64_t now_us;
    uint64_t records, bytes, recent; /* recent: records of the last WRIT_STATUS_RECENT_US */
    int64_t last_us;                 /* of the last record */
    struct writ_view origin;
    bool has_checkpoint; /* the last one, which is not verified */
    uint64_t checkpoint_size;
    struct writ_digest root;
    /* of a server */
    bool recovery; /* it is a standby */
    struct writ_view server, fsync, synchronous_commit, standby_names;
    struct writ_status_gateway *gateways;
    struct writ_status_standby *standbys;
    size_t gateways_n, standbys_n;
};

/** Reads it; `clock` is for a file. Wipe `ret` in any case; it must be zeroed. As writ_reader_open;
 * WRIT_E_MISMATCH for a ledger without an id. */
WRIT_RESULT writ_status_read(const char *path, const struct writ_clock *clock,
    struct writ_status *ret, struct writ_err *err);
void writ_status_wipe(struct writ_status *status);

#endif
