/* client_stream.h - the stream of events that answers a request, as fast as the client reads.
 *
 * Used from the request's loop. Bytes that a slow client's queue does not take wait in the request,
 * up to WRIT_CLIENT_EVENT_MAX; more ends the stream. */
#ifndef WRIT_GATEWAY_CLIENT_STREAM_H
#define WRIT_GATEWAY_CLIENT_STREAM_H

#include "gateway/request/request.h"

/** Longest event on its way to a client, in bytes. */
#define WRIT_CLIENT_EVENT_MAX ((size_t)64 << 20)

/** Longest id of an event that a client is sent, in bytes. */
#define WRIT_CLIENT_EVENT_ID_MAX 8192

/** Time for a client that closed its side of the connection to show whether it is still there. */
#define WRIT_CLIENT_PROBE_MS 200

/** Begins the client's stream. */
void writ_client_stream_begin(struct writ_request *request);

/** Answers with a stream of one event, the message: for the answer of an endpoint's only upstream
 * that was a stream. Returns CLOSE. `more`: a field of the head, or none. */
enum writ_step writ_client_stream_answer(
    struct writ_request *request, struct writ_header more, struct writ_view message);

/** Passes one event or comment of the upcall on, with `data` in place of its own. The upcall is
 * paused while the client is slow. */
void writ_client_stream_event(
    struct writ_request *request, const struct writ_sse_event *event, struct writ_view data);

/** Holds all later events until writ_client_stream_settle was called as often. */
void writ_client_stream_hold(struct writ_request *request);

/** Ends one hold: `event` goes before all later ones; NULL: it is dropped. */
void writ_client_stream_settle(struct writ_request *request, const struct writ_sse_event *event);

/** The id of an event of the upcall for the client: on an endpoint of several upstreams it names
 * the upstream ("fs/42"), so that the rest of the stream can be requested. The view is `id` or lies
 * in `scratch`. */
struct writ_view writ_client_stream_event_id(
    const struct writ_request *request, struct writ_view id, struct writ_buf *scratch);

/** Writes whole events, as made by writ_sse_put. WRIT_E_BUSY: they were taken, but the client is
 * slow, and `request->stream.room` is called when there is room again. Else: they cannot be passed
 * on. */
WRIT_RESULT writ_client_stream_write(struct writ_request *request, struct writ_view events);

/** For a step: ends writing. Returns CLOSE, which ends the stream after the waiting bytes, and the
 * request with it: with an end of the body when `whole`. */
enum writ_step writ_client_stream_end(struct writ_request *request, bool whole);

/** As writ_client_stream_end, after one event more, whose data is in the arena of the exchange. */
enum writ_step writ_client_stream_end_with(
    struct writ_request *request, const struct writ_sse_event *event);

/** The client has left: its waiting bytes are dropped, and a request that waits in CLOSE
 * continues. */
void writ_client_stream_left(struct writ_request *request);

/** Cancels the upcall when a client of the stateless revision leaves, which is how it cancels
 * (2026-07-28, basic/patterns/cancellation). A legacy client that leaves cancels nothing: the
 * connection to an http upstream is closed as the client closed its own, so that the client can
 * request the rest; but a governed call is kept while there is no other way to learn its
 * outcome. */
void writ_client_stream_watch(struct writ_request *request);

#endif
