/* client_stream.c - the stream of events to one client.
 *
 * Invariants:
 * 1. Events reach the client in the order in which they were written: bytes that its queue does not
 *    take wait in `pending`, and all later events wait behind them.
 * 2. A notice about a task goes before all later events: while one is not settled (`held`) nothing
 *    is flushed, and `ahead` is put before `pending` when the last one is settled. */
#include "gateway/request/client_stream.h"

#include "gateway/mcp/event_id.h"
#include "gateway/request/finish.h"
#include "gateway/request/resume.h"

#define HEARTBEAT_MS 15000
#define PENDING_KEPT 65536 /* bytes of memory that a stream keeps between two events */

/* Passes waiting bytes to the client's queue, as far as it takes them. False: more is left. */
static bool
flush(struct writ_request *request)
{
    writ_result r;

    if (request->stream.held > 0) {
        return false;
    }
    if (request->stream.pending.len == 0) {
        return true;
    }
    r = writ_exchange_write_all(request->x, &request->stream.pending);
    if (r.code == WRIT_E_NOMEM) { /* no callback would come when there is room again */
        request->stream.cut = true;
    }
    if (!writ_is_ok(r) && !request->stream.cut) {
        return false;
    }
    if (request->stream.pending.cap > PENDING_KEPT) {
        writ_buf_wipe(&request->stream.pending);
        request->stream.pending = writ_buf_make(WRIT_CLIENT_EVENT_MAX);
    }
    writ_buf_clear(&request->stream.pending);
    return true;
}

static void
room_again(struct writ_exchange *x, void *ctx)
{
    struct writ_request *request = ctx;

    (void)x;
    if (!flush(request)) {
        return;
    }
    if (request->stream.closing) {
        writ_request_continue(request);
    } else if (request->stream.room != NULL) {
        request->stream.room(request);
    } else if (request->forward.open) {
        writ_upcall_resume(&request->forward.upcall);
    }
}

enum writ_step
writ_client_stream_end(struct writ_request *request, bool whole)
{
    request->stream.closing = true;
    request->stream.cut = request->stream.cut || !whole;
    return WRIT_STEP_CLOSE;
}

enum writ_step
writ_client_stream_end_with(struct writ_request *request, const struct writ_sse_event *event)
{
    struct writ_client_stream *stream = &request->stream;
    writ_result r = {WRIT_E_INVALID};

    if (request->x->hooks == NULL && event->data.len > PENDING_KEPT) {
        r = writ_sse_put_before(&stream->pending, event, stream->last, NULL);
    }
    if (r.code == WRIT_E_INVALID) { /* its data has several lines, or it is short */
        r = writ_sse_put(&stream->pending, event, NULL);
    }
    return writ_client_stream_end(request, writ_is_ok(r));
}

enum writ_step
writ_client_stream_close(struct writ_request *request)
{
    if (request->stream.held > 0 || (!request->stream.cut && !flush(request))) {
        return writ_request_wait(request, WRIT_STEP_CLOSE);
    }
    return writ_finish_stream(request, !request->stream.cut);
}

/* The client has left: writes are dropped, so there is room for all bytes. */
static void
reader_left(struct writ_exchange *x, void *ctx)
{
    struct writ_request *request = ctx;
    bool modern = request->message.era == WRIT_MCP_ERA_MODERN;

    if (request->call != NULL && !modern) {
        writ_resume_leave(request);
    } else if (request->forward.open) {
        writ_upcall_cancel(&request->forward.upcall, modern);
    }
    if (request->stream.open) {
        room_again(x, request);
    }
}

void
writ_client_stream_left(struct writ_request *request)
{
    room_again(request->x, request);
}

void
writ_client_stream_watch(struct writ_request *request)
{
    writ_exchange_on_gone(request->x, reader_left, request);
    if (request->message.era == WRIT_MCP_ERA_MODERN) {
        writ_exchange_probe(request->x, WRIT_CLIENT_PROBE_MS);
    }
}

static void
begin(struct writ_request *request, struct writ_header more)
{
    const struct writ_header headers[] = {
        {WRIT_LIT("Content-Type"), WRIT_LIT("text/event-stream")},
        {WRIT_LIT("Cache-Control"), WRIT_LIT("no-cache, no-transform")},
        {WRIT_LIT("X-Accel-Buffering"), WRIT_LIT("no")},
        more,
    };
    size_t count = sizeof headers / sizeof *headers;

    request->stream.pending = writ_buf_make(WRIT_CLIENT_EVENT_MAX);
    request->stream.open = true;
    writ_exchange_stream(request->x, 200, headers, more.name.len > 0 ? count : count - 1);
    writ_exchange_heartbeat(request->x, HEARTBEAT_MS);
    writ_exchange_probe(request->x, WRIT_CLIENT_PROBE_MS);
    writ_exchange_on_room(request->x, room_again, request);
}

void
writ_client_stream_begin(struct writ_request *request)
{
    begin(request, (struct writ_header){0});
}

enum writ_step
writ_client_stream_answer(
    struct writ_request *request, struct writ_header more, struct writ_view message)
{
    const struct writ_sse_event event = {.kind = WRIT_SSE_EVENT,
        .event = WRIT_LIT("message"),
        .data = message,
        .retry_ms = WRIT_SSE_NO_RETRY};
    writ_auto_buf text = writ_buf_make(WRIT_CLIENT_EVENT_MAX);
    writ_result r = writ_sse_put(&text, &event, NULL);

    begin(request, more);
    writ_client_stream_watch(request);
    if (writ_is_ok(r)) {
        r = writ_client_stream_write(request, writ_buf_view(&text));
    }
    return writ_client_stream_end(request, writ_is_ok(r) || r.code == WRIT_E_BUSY);
}

/* The event cannot be passed on. */
static void
give_up(struct writ_request *request)
{
    if (request->call != NULL) {
        request->call->reply.malformed = true;
    }
    writ_upcall_cancel(&request->forward.upcall, false);
}

struct writ_view
writ_client_stream_event_id(
    const struct writ_request *request, struct writ_view id, struct writ_buf *scratch)
{
    if (id.len == 0 || !writ_request_is_merged(request)) {
        return id;
    }
    writ_buf_clear(scratch);
    writ_event_id_put(scratch, writ_upstream_config(request->forward.upstream)->name, id);
    return writ_is_ok(writ_buf_check(scratch, NULL)) ? writ_buf_view(scratch)
                                                     : (struct writ_view){NULL, 0};
}

writ_result
writ_client_stream_write(struct writ_request *request, struct writ_view events)
{
    writ_buf_put(&request->stream.pending, events);
    WRIT_TRY(writ_buf_check(&request->stream.pending, NULL));
    return flush(request) ? WRIT_DONE : (writ_result){WRIT_E_BUSY};
}

void
writ_client_stream_hold(struct writ_request *request)
{
    request->stream.ahead =
        request->stream.held++ > 0 ? request->stream.ahead : writ_buf_make(WRIT_CLIENT_EVENT_MAX);
    writ_upcall_pause(&request->forward.upcall);
}

void
writ_client_stream_settle(struct writ_request *request, const struct writ_sse_event *event)
{
    request->stream.held--;
    if (event != NULL && !writ_is_ok(writ_sse_put(&request->stream.ahead, event, NULL))) {
        request->stream.cut = true;
    }
    if (request->stream.held > 0) {
        return;
    }
    writ_buf_put(&request->stream.ahead, writ_buf_view(&request->stream.pending));
    request->stream.cut =
        request->stream.cut || !writ_is_ok(writ_buf_check(&request->stream.ahead, NULL));
    writ_buf_wipe(&request->stream.pending);
    request->stream.pending = request->stream.ahead;
    request->stream.ahead = (struct writ_buf){0};
    if (request->stream.cut && !request->stream.closing && request->forward.open) {
        give_up(request);
    }
    room_again(request->x, request);
}

void
writ_client_stream_event(
    struct writ_request *request, const struct writ_sse_event *event, struct writ_view data)
{
    writ_auto_buf id = writ_buf_make(WRIT_CLIENT_EVENT_ID_MAX);
    writ_auto_buf text = writ_buf_make(WRIT_CLIENT_EVENT_MAX);
    struct writ_sse_event changed = *event;
    writ_result r;

    if (event->kind == WRIT_SSE_EVENT) {
        changed.data = data.len > 0 ? data : event->data; /* an empty value is not an absent one */
        changed.id = writ_client_stream_event_id(request, event->id, &id);
    }
    r = writ_sse_put(&text, &changed, NULL);
    if (writ_is_ok(r)) {
        r = writ_client_stream_write(request, writ_buf_view(&text));
    }
    if (r.code == WRIT_E_BUSY) {
        writ_upcall_pause(&request->forward.upcall);
    } else if (!writ_is_ok(r)) {
        give_up(request);
    }
}
