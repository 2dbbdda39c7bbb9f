/* replay.h - the last events of a session's streams, for a client that lost a stream (2025-11-25,
 * basic/transports, "Resumability and Redelivery"). No I/O.
 *
 * A stream is a number: that of the request whose answer it carries, or 0 for the session's own.
 * Events of all streams have one sequence. The oldest are dropped when there are too many, or too
 * many bytes of them; the newest is always kept. */
#ifndef WRIT_GATEWAY_REPLAY_H
#define WRIT_GATEWAY_REPLAY_H

#include "base/bytes.h"

#include <stdint.h>

#define WRIT_REPLAY_ID_MAX 64 /* bytes of an id */

/** One event. */
struct writ_replay_event {
    uint64_t stream, seq;
    bool ends; /* it is the response: no event of its stream follows */
    struct writ_buf data;
    struct writ_replay_event *next;
};

struct writ_replay {
    uint64_t last_seq;
    uint32_t nonce; /* distinguishes its ids from those of an earlier instance */
    size_t bytes, count, bytes_max, count_max;
    struct writ_replay_event *first, **last;
};

/** Empties it; `nonce` should be random. */
void writ_replay_init(
    struct writ_replay *replay, uint32_t nonce, size_t bytes_max, size_t count_max);
void writ_replay_wipe(struct writ_replay *replay);

/** The next number, for an event that need not be kept, such as one that only has a position. */
uint64_t writ_replay_mark(struct writ_replay *replay);

/** Keeps a copy and gives its number; 0: no memory. */
uint64_t writ_replay_add(
    struct writ_replay *replay, uint64_t stream, struct writ_view data, bool ends);

/** The first event of the stream after that number, or NULL. */
const struct writ_replay_event *writ_replay_next(
    const struct writ_replay *replay, uint64_t stream, uint64_t after);

/** Appends the id of an event. */
void writ_replay_put_id(
    const struct writ_replay *replay, uint64_t stream, uint64_t seq, struct writ_buf *ret);

/** Reads an id. False: not one of this replay. */
bool writ_replay_read_id(
    const struct writ_replay *replay, struct writ_view id, uint64_t *ret_stream, uint64_t *ret_seq);

#endif
