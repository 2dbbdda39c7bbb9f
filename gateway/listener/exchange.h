/* exchange.h - one HTTP request and its answer.
 *
 * The listener makes an exchange when a request has been read completely and has passed every check
 * of framing.h, and passes it to the handler of its route. The handler answers at once or keeps the
 * pointer and answers later. It must answer exactly once: writ_exchange_reply, or
 * writ_exchange_stream followed by writ_exchange_end or writ_exchange_abort. That answer ends the
 * exchange: do not touch it or anything in its arena afterwards.
 *
 * The exchange outlives its client. When the client has left, on_gone is called once and later
 * writes are dropped, but the pointer stays valid until the handler has answered. So a handler need
 * not check whether its client is still connected.
 *
 * Everything here belongs to one loop: call it on the thread of `loop` only. Nothing blocks. */
#ifndef WRIT_GATEWAY_EXCHANGE_H
#define WRIT_GATEWAY_EXCHANGE_H

#include "gateway/listener/listener_types.h"

/**
 * The value of a field, or the empty view with a NULL `ptr` when there is none. Of a repeated field
 * the first value (the security-relevant ones of framing.h cannot be repeated). Borrowed until the
 * exchange ends.
 */
struct writ_view writ_exchange_header(const struct writ_exchange *x, struct writ_view name);

/**
 * The value of a field that is a list, such as Accept: those of all its lines, with commas between
 * them, which mean the same (RFC 9110 5.3). Otherwise as writ_exchange_header. Without memory for
 * several lines, the first of them.
 */
struct writ_view writ_exchange_list(const struct writ_exchange *x, struct writ_view name);

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

/** As writ_exchange_reply, for a body in the arena of the exchange: it is not copied. */
void writ_exchange_reply_held(struct writ_exchange *x, unsigned status,
    const struct writ_header *headers, size_t count, struct writ_view body);

/**
 * Begins an answer of unknown length: the head is sent at once. Written bytes are sent as soon as
 * the socket takes them, without waiting for more; waiting writes may share a chunk.
 */
void writ_exchange_stream(
    struct writ_exchange *x, unsigned status, const struct writ_header *headers, size_t count);

/**
 * Queues bytes of a stream, copied.
 *
 * @return WRIT_OK       queued, or dropped because the client has left
 *         WRIT_E_BUSY   the queue is full and nothing was taken; wait for on_room. A write longer
 *                       than the whole queue is taken when the queue is empty.
 *         WRIT_E_NOMEM  nothing was taken
 */
WRIT_RESULT writ_exchange_write(struct writ_exchange *x, struct writ_view bytes);

/** As writ_exchange_write with the content of a buffer of the heap, which is empty afterwards and
 * may have other memory, unless nothing was taken: many bytes are not copied. */
WRIT_RESULT writ_exchange_write_all(struct writ_exchange *x, struct writ_buf *bytes);

/** Calls `fn` each time when, after a refused write, the queue is at most half full again. Not once
 * the client has left, when every write succeeds: on_gone tells of that. */
void writ_exchange_on_room(
    struct writ_exchange *x, void (*fn)(struct writ_exchange *x, void *ctx), void *ctx);

/** Sends the queued bytes, then the end of the body. Ends the exchange. */
void writ_exchange_end(struct writ_exchange *x);

/** As writ_exchange_end, with `last` after the queued bytes. They are static, or in the arena of
 * the exchange, and not copied. */
void writ_exchange_end_with(
    struct writ_exchange *x, const struct writ_view last[WRIT_EXCHANGE_LAST]);

/** Drops the queued bytes and closes the connection without an end of the body, so that the client
 * sees that the answer is cut. Ends the exchange. */
void writ_exchange_abort(struct writ_exchange *x);

/**
 * Sends the comment line ":\n\n" whenever the stream was silent for `interval_ms` (0: never). Only
 * for text/event-stream with writes of whole events.
 */
void writ_exchange_heartbeat(struct writ_exchange *x, int64_t interval_ms);

/**
 * Calls `fn` once when the client has left; from the next turn of the loop when it has already
 * left. A later call replaces an earlier one; `fn` NULL removes the callback.
 *
 * A client has left when its connection was reset, failed, or broke while the answer was written.
 * The end of its sending side (FIN) alone proves nothing: over TCP a client that closed everything
 * and one that only finished sending look the same. See `writ_exchange_probe`.
 */
void writ_exchange_on_gone(
    struct writ_exchange *x, void (*fn)(struct writ_exchange *x, void *ctx), void *ctx);

/**
 * Finds out whether a client that sent FIN is still there, `after_ms` after the FIN (or from now).
 *
 * The probe is harmless to a client that reads, and causes a reset from one that closed: on a
 * stream with a heartbeat a comment line, before any answer an interim "100 Continue" (RFC 9110
 * 15.2: any number of them may come before an answer). HTTP/1.0 clients get none. Call it for
 * exchanges where it matters that the client leaves: that is how one of the stateless
 * revision cancels (2026-07-28, basic/patterns/cancellation).
 */
void writ_exchange_probe(struct writ_exchange *x, int64_t after_ms);

#endif
