/* pass.h - messages that are not governed, and what governed ones share with them: the fields that
 * go upstream, and events on their way back to the client.
 *
 * Ids of requests that a server sends to a client get the name of their upstream ("fs/n/7"), so
 * that the answer, which comes as a message of its own, finds its way back. */
#ifndef WRIT_GATEWAY_PASS_H
#define WRIT_GATEWAY_PASS_H

#include "gateway/request.h"

#define WRIT_PASS_HEADERS_MAX 48

/** Fills the upcall with what goes upstream beside the body: era, session, version, mirrored names
 * and parameters, trace context. `headers` has room for WRIT_PASS_HEADERS_MAX; more parameters are
 * an error. `name` is the upstream's own name of what Mcp-Name mirrors.
 * WRIT_E_LIMIT, WRIT_E_NOMEM. */
WRIT_RESULT writ_pass_prepare(struct writ_request *request, struct writ_upstream *upstream,
    struct writ_view name, struct writ_header *headers, struct writ_upcall_request *ret);

/** The same for a message of our own in place of the client's: none of its fields go along.
 * WRIT_E_NOMEM. */
WRIT_RESULT writ_pass_prepare_own(struct writ_request *request, struct writ_upstream *upstream,
    struct writ_view name, struct writ_header *headers, struct writ_upcall_request *ret);

/**
 * As writ_pass_prepare_own, for a whole message of our own: `body` is read again, so that what is
 * sent is what is looked at. Its id must be nobody else's in the client's session.
 *
 * @param body     in the arena of the request
 * @param message  written; outlives the upcall
 *
 * @return WRIT_OK, WRIT_E_PARSE, WRIT_E_LIMIT, WRIT_E_NOMEM
 */
WRIT_RESULT writ_pass_prepare_message(struct writ_request *request, struct writ_upstream *upstream,
    struct writ_view body, struct writ_mcp_message *message, struct writ_header *headers,
    struct writ_upcall_request *ret);

/** Begins the client's stream. */
void writ_pass_begin(struct writ_request *request);

/** Answers with a stream of one event, the message, and ends the request: for the answer of an
 * endpoint's only upstream which came as a stream. `more`: a field of the head, or none. */
void writ_pass_answer_event(
    struct writ_request *request, struct writ_header more, struct writ_view message);

/** What an event is to the request on whose stream it came. */
enum writ_pass_kind {
    WRIT_PASS_FOREIGN = 0, /* it must not reach this client */
    WRIT_PASS_RESPONSE,    /* the response */
    WRIT_PASS_OTHER,       /* a notification, a request of the server, a comment */
    WRIT_PASS_ANSWER,      /* GET: the response to an earlier request, whose stream was lost */
    WRIT_PASS_TASK,        /* a notice about a task: for its own agent alone (task_word.h) */
};

/**
 * Tells them apart, by one strict parse of every event (security.md H14). FOREIGN is what is no
 * message, a message that other parsers may read in another way, a response to something else, and
 * a request of a server on a stream of the stateless revision, which has none. A response on a GET
 * is an ANSWER where the client asks for the rest of an earlier stream, and FOREIGN else.
 *
 * @param from  whose event it is
 * @param ret  gets the event's data as it goes on: one line, written anew; the id of a server's
 *             request with the name of its upstream
 */
enum writ_pass_kind writ_pass_inspect(const struct writ_request *request,
    struct writ_upstream *from, const struct writ_sse_event *event, struct writ_buf *ret);

/** Passes one event or comment of the upcall on, with `data` in place of its own. The upcall is
 * paused while the client is slow. */
void writ_pass_event(
    struct writ_request *request, const struct writ_sse_event *event, struct writ_view data);

/** Passes a notice about a task on when that is settled, before all that comes behind it; the
 * stream does not end before. */
void writ_pass_task(
    struct writ_request *request, const struct writ_sse_event *event, struct writ_view data);

/** The id of an event of the upcall as the client knows it: on an endpoint of several upstreams it
 * says whose it is ("fs/42"), so that the rest of the stream can be asked for. The view is `id` or
 * lies in `scratch`. */
struct writ_view writ_pass_event_id(
    const struct writ_request *request, struct writ_view id, struct writ_buf *scratch);

/** Writes whole events, as writ_sse_put made them, to the client's stream. WRIT_E_BUSY: they were
 * taken, but the client is slow, and `request->room` is called when it is not. Else: they cannot be
 * passed on. */
WRIT_RESULT writ_pass_write(struct writ_request *request, struct writ_view events);

/** Ends the client's stream behind what still waits for it, and the request with it: with an end of
 * the body when `whole`. */
void writ_pass_close(struct writ_request *request, bool whole);

/** Time for a client that closed its side of the connection to show whether it is still there. */
#define WRIT_PASS_PROBE_MS 200

/** Values in the message of one event: bounds the memory that it costs. */
#define WRIT_PASS_EVENT_VALUES_MAX (1u << 20)

/** Longest id of an event that a client is sent, in bytes. */
#define WRIT_PASS_EVENT_ID_MAX 8192

/** The client of a stream has gone: what waits for it is thrown away, and a stream that waited to
 * end ends, and the request with it. */
void writ_pass_left(struct writ_request *request);

/** Longest event on its way to a client, in bytes. */
#define WRIT_PASS_EVENT_MAX ((size_t)64 << 20)

/** Cancels the upcall when a client of the stateless revision leaves, which is how it cancels
 * (2026-07-28, basic/patterns/cancellation). A legacy client that leaves cancels nothing: the
 * connection to an http upstream is closed as the client closed its own, so that the client can ask
 * for the rest; but a governed call is kept as long as its outcome is learned no other way. */
void writ_pass_watch_client(struct writ_request *request);

/** Writes `message` with another id. For `id` NULL the id is left out. WRIT_E_PARSE. */
WRIT_RESULT writ_pass_rewrite_id(
    const struct writ_json *message, struct writ_view id_json, struct writ_buf *ret);

/** Writes `message` with `raw` in place of the value at `path`, a name for each level; without
 * change where there is none. WRIT_E_PARSE, WRIT_E_LIMIT, WRIT_E_NOMEM. */
WRIT_RESULT writ_pass_rewrite_at(const struct writ_json *message, const struct writ_view *path,
    size_t n, struct writ_view raw, struct writ_buf *ret);

/** Whether a whole answer looks good and is not the response to this very request, by one strict
 * parse: it may be somebody else's, or read in another way by the client, and must not be told. */
bool writ_pass_is_another(const struct writ_request *request, struct writ_upstream *from,
    const struct writ_upcall_answer *answer);

/** Answers with an upstream's whole answer, or with the refusal that it stands for: only JSON
 * passes (of other answers from 400 to 499 the status alone), redirects and the upstream's own 401
 * and 403 do not (security.md H15). Ends the request. */
enum writ_step writ_pass_answer(
    struct writ_request *request, const struct writ_upcall_answer *answer);

#endif
