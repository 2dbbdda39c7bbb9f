/* answer_stream.h - an answer of unknown length: its queue, its heartbeats, its end. Inside of the
 * listener; handlers use exchange.h, which has the contract of these functions. */
#ifndef WRIT_GATEWAY_ANSWER_STREAM_H
#define WRIT_GATEWAY_ANSWER_STREAM_H

#include "gateway/listener/listener_parts.h"

/** Begins the stream of a request in state OPEN. */
void writ_answer_stream_begin(struct writ_incoming *request, unsigned status,
    const struct writ_header *headers, size_t count);

/** As writ_exchange_write. */
WRIT_RESULT writ_answer_stream_write(struct writ_incoming *request, struct writ_view bytes);

/** Takes the memory of a buffer of the heap as the queue, and gives an empty one in its place.
 * False, and nothing changes: there are few bytes, or others wait, or the client has left. */
bool writ_answer_stream_take(struct writ_incoming *request, struct writ_buf *bytes);

/** Ends the exchange: with the queued bytes, `last` (or NULL) and the end of the body, or (`whole`
 * false) by closing the connection. */
void writ_answer_stream_end(
    struct writ_incoming *request, bool whole, const struct writ_view last[WRIT_EXCHANGE_LAST]);

/** Queues a heartbeat now, unless other bytes wait. */
void writ_answer_stream_beat(struct writ_incoming *request);

/** Queues a heartbeat if one is due, and cuts a client that takes no more bytes. Does nothing for a
 * request that does not stream. */
void writ_answer_stream_sweep(struct writ_incoming *request, int64_t now_us);

#endif
