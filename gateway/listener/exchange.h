/* exchange.h - one HTTP request and its answer.
 *
 * The listener makes an exchange when a request has been read whole and passed every check of
 * framing.h, and gives it to the handler of its route. The handler answers at once or keeps the
 * pointer and answers later. It must answer exactly once: writ_exchange_reply, or
 * writ_exchange_stream followed by writ_exchange_end or writ_exchange_abort. That answer ends the
 * exchange: neither it nor anything in its arena may be touched after it.
 *
 * The exchange outlives its client. When the client has gone, on_gone is called once and what is
 * written afterwards is thrown away, but the pointer stays good until the handler has answered.
 * So a handler need not check whether its client is still connected.
 *
 * Everything here belongs to one loop: call it on the thread of `loop` only. Nothing blocks. */
#ifndef WRIT_GATEWAY_EXCHANGE_H
#define WRIT_GATEWAY_EXCHANGE_H

#include "gateway/listener/listener_types.h"

/**
 * The value of a field, or the empty view with a NULL `ptr` when there is none. Of a field that
 * appears more than once (which the security-relevant ones of framing.h cannot) the first.
 * Borrowed until the exchange ends.
 */
struct writ_view writ_exchange_header(const struct writ_exchange *x, struct writ_view name);

/** All fields of the head in their order, names as they were sent. Borrowed. */
const struct writ_header *writ_exchange_headers(const struct writ_exchange *x, size_t *ret_count);

/**
 * Answers, and ends the exchange.
 *
 * Content-Length, Date and Connection are the listener's; headers given under these names, or
 * with Transfer-Encoding, Keep-Alive or Upgrade, are left out. A header whose name is not a token
 * or whose value has CR, LF or NUL is never written: the client gets an empty 500 instead.
 *
 * @param status   200 .. 599
 * @param headers  borrowed for the call
 * @param body     copied; give body.len 0 for none
 */
void writ_exchange_reply(struct writ_exchange *x, unsigned status,
    const struct writ_header *headers, size_t count, struct writ_view body);

/** As writ_exchange_reply, for a body that lies in the arena of the exchange: it is not copied. */
void writ_exchange_reply_held(struct writ_exchange *x, unsigned status,
    const struct writ_header *headers, size_t count, struct writ_view body);

/**
 * Begins an answer of unknown length: the head goes out at once. What is written goes out as soon
 * as the socket takes it, nothing waits for more to come; writes that wait may share a chunk.
 */
void writ_exchange_stream(
    struct writ_exchange *x, unsigned status, const struct writ_header *headers, size_t count);

/**
 * Queues bytes of a stream, copied.
 *
 * @return WRIT_OK       queued, or thrown away because the client has gone
 *         WRIT_E_BUSY   the queue is full and nothing was taken; on_room says when to come back.
 *                       A write longer than the whole queue is taken when the queue is empty.
 *         WRIT_E_NOMEM  nothing was taken
 */
WRIT_RESULT writ_exchange_write(struct writ_exchange *x, struct writ_view bytes);

/** Calls `fn` each time the queue, after a write was refused, is at most half full again. */
void writ_exchange_on_room(
    struct writ_exchange *x, void (*fn)(struct writ_exchange *x, void *ctx), void *ctx);

/** What is queued goes out, then the end of the body. Ends the exchange. */
void writ_exchange_end(struct writ_exchange *x);

/** Drops what is queued and closes the connection without an end of the body, so that the client
 * can tell that the answer is cut. Ends the exchange. */
void writ_exchange_abort(struct writ_exchange *x);

/**
 * Sends the comment line ":\n\n" whenever the stream was silent for `interval_ms` (0: never).
 * For text/event-stream whose writes are whole events only.
 */
void writ_exchange_heartbeat(struct writ_exchange *x, int64_t interval_ms);

/**
 * Calls `fn` once when the client has gone; at once (from a later turn of the loop) when it has
 * already. A later call takes the place of an earlier one; `fn` NULL takes the callback away.
 *
 * A client is gone when its connection was reset, failed, or broke while the answer was written.
 * The end of its sending side (FIN) alone says nothing: over TCP a client that closed everything
 * and one that only finished sending look the same. See `writ_exchange_probe`.
 */
void writ_exchange_on_gone(
    struct writ_exchange *x, void (*fn)(struct writ_exchange *x, void *ctx), void *ctx);

/**
 * Finds out whether a client that sent FIN is still there, `after_ms` after the FIN (or from now).
 *
 * What is sent is harmless to one who reads and draws a reset from one who closed: on a stream
 * with a heartbeat a comment line, before any answer an interim "100 Continue" (RFC 9110 15.2: any
 * number of them may come before an answer). HTTP/1.0 clients get none. Call it for exchanges
 * where the client's leaving means something (a modern MCP client: mcp.md 4.1).
 */
void writ_exchange_probe(struct writ_exchange *x, int64_t after_ms);

#endif
