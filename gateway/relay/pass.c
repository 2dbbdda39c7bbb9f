/* pass.c - PASS: a message that is not governed, to one upstream, and its answer. */
#include "gateway/relay/pass.h"

#include "gateway/call/client_event.h"
#include "gateway/request/client_stream.h"
#include "gateway/call/inspect.h"
#include "gateway/request/finish.h"
#include "gateway/relay/reading.h"
#include "gateway/relay/resource_owner.h"
#include "gateway/review/meet.h"
#include "gateway/request/refusal.h"
#include "gateway/mcp/rewrite.h"
#include "gateway/request/upcall_request.h"
#include "gateway/mcp/tool_name.h"

/* ---- a whole answer ---- */

static enum writ_step
broken(struct writ_request *request, const struct writ_upcall_answer *answer)
{
    switch (answer->end) {
    case WRIT_UPCALL_TIMEOUT:
        return writ_refusal_http(
            request, 504, WRIT_REFUSAL_CODE, WRIT_REASON_UPSTREAM_TIMEOUT, NULL);
    case WRIT_UPCALL_TOO_LARGE:
        return writ_refusal_http(
            request, 502, WRIT_REFUSAL_CODE, WRIT_REASON_RESULT_TOO_LARGE, NULL);
    case WRIT_UPCALL_CROWDED:
        return writ_refusal_http(request, 429, WRIT_REFUSAL_CODE, WRIT_REASON_SHARE_EXCEEDED, NULL);
    case WRIT_UPCALL_PROGRAM:
        return writ_refusal_http(
            request, 503, WRIT_REFUSAL_CODE, WRIT_REASON_UPSTREAM_PROGRAM_CHANGED, NULL);
    case WRIT_UPCALL_NO_TOKEN:
        return writ_refusal_http(
            request, 503, WRIT_REFUSAL_CODE, WRIT_REASON_UPSTREAM_TOKEN_MISSING, NULL);
    case WRIT_UPCALL_BROKEN:
    case WRIT_UPCALL_CANCELLED:
    case WRIT_UPCALL_ANSWERED:
        break;
    }
    return writ_refusal_http(request, 502, WRIT_REFUSAL_CODE,
        answer->sent == WRIT_NOT_SENT ? WRIT_REASON_UPSTREAM_UNAVAILABLE
                                      : WRIT_REASON_UPSTREAM_FAILED,
        NULL);
}

static bool
is_json(const struct writ_upcall_answer *answer)
{
    return writ_header_has_type(answer->content_type, WRIT_LIT("application/json"));
}

enum writ_step
writ_pass_answer(struct writ_request *request, const struct writ_upcall_answer *answer)
{
    struct writ_header headers[2];
    size_t count = 0;
    struct writ_view body = answer->body;
    unsigned status = answer->status;

    if (answer->end != WRIT_UPCALL_ANSWERED) {
        return broken(request, answer);
    }
    if (status == 401 || status == 403) { /* to the gateway, not to its client */
        return writ_refusal_http(
            request, 502, WRIT_REFUSAL_CODE, WRIT_REASON_UPSTREAM_UNAUTHORIZED, NULL);
    }
    if (request->late.lost) {
        return writ_refusal_http(
            request, 502, WRIT_REFUSAL_CODE, WRIT_REASON_UPSTREAM_SESSION_LOST, NULL);
    }
    if (status >= 400 && status < 500 && !is_json(answer)) {
        body.len = 0; /* the status is the answer: clients negotiate by it */
    }
    if (writ_meet_hides(request, status)) {
        status = body.len > 0 ? 200 : request->x->method == WRIT_METHOD_GET ? 405 : 502;
    }
    if ((status >= 300 && status < 400) || status < 200 || (body.len > 0 && !is_json(answer)) ||
        (status >= 500 && body.len == 0) || !writ_inspect_clear(request, &body)) {
        return writ_refusal_http(
            request, 502, WRIT_REFUSAL_CODE, WRIT_REASON_UPSTREAM_MALFORMED, NULL);
    }
    if (answer->is_stream && body.len > 0 && request->endpoint->only != NULL) {
        return writ_client_stream_answer(request, (struct writ_header){0}, body);
    }
    if (body.len > 0) {
        headers[count++] = (struct writ_header)WRIT_HEADER_JSON;
    }
    if (answer->retry_after.len > 0) {
        headers[count++] = (struct writ_header){WRIT_LIT("Retry-After"), answer->retry_after};
    }
    return writ_finish_reply(request, status, headers, count, body);
}

/* ---- what comes back ---- */

static void
on_stream(struct writ_upcall *upcall, const struct writ_upcall_answer *answer)
{
    (void)answer;
    writ_client_stream_begin(upcall->ctx);
}

/* The server has answered but does not end its stream: no later event matters. */
static void
stop_listening(struct writ_timer *timer)
{
    struct writ_request *request = timer->ctx;

    writ_upcall_cancel(&request->forward.upcall, false);
}

/* The response waits for its record. */
static void
take_response(
    struct writ_request *request, const struct writ_sse_event *event, struct writ_view data)
{
    if (!writ_reading_take(request, event, data)) {
        writ_upcall_cancel(&request->forward.upcall, false);
        return;
    }
    request->timer = (struct writ_timer){.fn = stop_listening, .ctx = request};
    writ_loop_timer_set(request->x->loop, &request->timer,
        writ_loop_now_us(request->x->loop) + WRIT_UPCALL_REST_US);
}

/* From its first id on the rest of the stream, with the answer, can be requested by GET; but not an
 * answer that is recorded, also when its id was that of an earlier request. False: it could be. */
static bool
note(struct writ_request *request)
{
    struct writ_pending_responses *answers = request->worker->gateway->answers;
    bool due = writ_reading_is_due(request);
    struct writ_digest key;

    if (request->forward.noted || request->session == NULL || request->message.id == NULL) {
        return true;
    }
    request->forward.noted =
        writ_is_ok(writ_pending_responses_key(request->session,
            writ_upstream_config(request->forward.upstream)->name, request->message.id, &key)) &&
        writ_is_ok(due ? writ_pending_responses_bar(answers, &key)
                       : writ_pending_responses_note(answers, &key, NULL, request->x->loop));
    return request->forward.noted || !due;
}

static void
on_event(struct writ_upcall *upcall, const struct writ_sse_event *event)
{
    struct writ_request *request = upcall->ctx;
    writ_auto_buf data = writ_buf_make(WRIT_CLIENT_EVENT_MAX);

    if (writ_reading_has(request)) {
        return;
    }
    if (event->id.len > 0 && !note(request)) {
        writ_upcall_cancel(&request->forward.upcall, false);
        return;
    }
    switch (writ_inspect_event(request, request->forward.upstream, event, &data)) {
    case WRIT_INSPECTED_FOREIGN:
        return;
    case WRIT_INSPECTED_TASK:
        writ_client_event_task(request, event, writ_buf_view(&data));
        return;
    case WRIT_INSPECTED_RESPONSE:
        if (writ_reading_is_due(request)) {
            take_response(request, event, writ_buf_view(&data));
            return;
        }
        writ_client_stream_event(request, event, writ_buf_view(&data));
        return;
    case WRIT_INSPECTED_OTHER:
    case WRIT_INSPECTED_ANSWER:
        writ_client_stream_event(request, event, writ_buf_view(&data));
        return;
    }
}

static void
on_end(struct writ_upcall *upcall, const struct writ_upcall_answer *answer)
{
    struct writ_request *request = upcall->ctx;

    request->forward.open = false;
    if (writ_reading_has(request)) {
        writ_loop_timer_cancel(&request->timer);
    }
    request->late.lost =
        writ_meet_is_lost(request, request->forward.upstream, &upcall->request, answer);
    request->forward.answer = *answer;
    writ_request_continue(request);
}

static const struct writ_upcall_events pass_events = {
    .stream = on_stream, .event = on_event, .end = on_end};

/* ---- RELAY ---- */

enum writ_step
writ_pass_relay(struct writ_request *request)
{
    const struct writ_upcall_answer *answer = &request->forward.answer;

    if (writ_reading_has(request)) {
        return writ_reading_record(request, request->forward.upstream, answer);
    }
    if (request->stream.open) {
        return writ_client_stream_end(request, answer->end == WRIT_UPCALL_ANSWERED);
    }
    if (writ_inspect_is_another(request, request->forward.upstream, answer)) {
        return writ_refusal_http(
            request, 502, WRIT_REFUSAL_CODE, WRIT_REASON_UPSTREAM_MALFORMED, NULL);
    }
    if (writ_reading_is_due(request) && answer->end == WRIT_UPCALL_ANSWERED &&
        !request->late.lost && answer->body.len > 0) {
        return writ_reading_record(request, request->forward.upstream, answer);
    }
    return writ_pass_answer(request, answer);
}

/* ---- GIVE ---- */

enum writ_step
writ_pass_give(struct writ_request *request)
{
    const struct writ_sse_event *event = writ_reading_event(request);
    enum writ_reason fault = writ_reading_fault(request);

    if (fault != WRIT_REASON_NONE) {
        return writ_refusal_http(request, fault == WRIT_REASON_BOUNDARY_SEALED ? 200 : 503,
            WRIT_REFUSAL_CODE, fault, NULL);
    }
    if (event != NULL) {
        return writ_client_stream_end(
            request, writ_is_ok(writ_sse_put(&request->stream.pending, event, NULL)));
    }
    return writ_pass_answer(request, writ_reading_answer(request));
}

/* ---- PASS ---- */

/* The name in a message: a prompt, or an item of an extension. */
static struct writ_view
name_of(const struct writ_request *request)
{
    if (writ_method_route(request->method) == WRIT_ROUTE_URI) {
        return (struct writ_view){NULL, 0};
    }
    if (request->method == WRIT_MCP_UNKNOWN) {
        return writ_json_string(writ_json_get(request->message.params, WRIT_LIT("name")));
    }
    return request->method == WRIT_MCP_COMPLETE
               ? writ_json_string(writ_json_pointer(request->message.params, WRIT_LIT("/ref/name")))
               : request->message.name;
}

/* The upstream of a message; its own name of the item goes to `ret_name`. */
static struct writ_upstream *
choose_upstream(struct writ_request *request, struct writ_view *ret_name)
{
    struct writ_gateway *gateway = request->worker->gateway;
    struct writ_view name = name_of(request), upstream;

    *ret_name = name;
    if (request->endpoint->only != NULL) {
        return request->endpoint->only;
    }
    if (name.ptr != NULL) {
        return writ_tool_name_split(
                   writ_request_config(request)->separator, name, &upstream, ret_name)
                   ? writ_upstream_find(gateway, upstream)
                   : NULL;
    }
    return writ_resource_owner_find(request);
}

static writ_result
rename_body(
    struct writ_request *request, struct writ_view from, struct writ_view to, struct writ_view *ret)
{
    writ_auto_buf body = writ_buf_make(2 * request->x->body.len + 65536);
    struct writ_view copy;

    WRIT_TRY(writ_rewrite_name(request->message.body, from, to, &body));
    copy = writ_view_copy(writ_buf_view(&body), request->x->arena);
    if (copy.ptr == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    *ret = copy;
    return WRIT_DONE;
}

enum writ_step
writ_pass_send(struct writ_request *request, struct writ_upstream *upstream, struct writ_view name,
    struct writ_view body)
{
    struct writ_header headers[WRIT_UPCALL_HEADERS_MAX];

    if (!writ_is_ok(writ_upcall_request_make(
            request, upstream, name, headers, &request->forward.upcall.request))) {
        return writ_refusal_http(
            request, 503, WRIT_RPC_INTERNAL_ERROR, WRIT_REASON_OVERLOADED, NULL);
    }
    request->forward.upcall.request.body = body;
    request->forward.upcall.events = &pass_events;
    request->forward.upcall.ctx = request;
    request->forward.upstream = upstream;
    request->forward.open = true;
    writ_client_stream_watch(request);
    writ_upcall_start(upstream, request->worker, &request->forward.upcall);
    return writ_request_wait(request, WRIT_STEP_RELAY);
}

enum writ_step
writ_pass_start(struct writ_request *request)
{
    struct writ_view name, wire = name_of(request), body = request->x->body;
    struct writ_upstream *upstream = choose_upstream(request, &name);

    if (wire.ptr == NULL && writ_resource_owner_is_due(request)) {
        return WRIT_STEP_SEEK;
    }

    if (upstream == NULL && request->method == WRIT_MCP_UNKNOWN) {
        return writ_refusal_method(request); /* it may have any effect: no server is guessed */
    }
    if (upstream == NULL && wire.ptr == NULL && writ_resource_owner_uri(request).ptr != NULL) {
        return WRIT_STEP_FANOUT; /* no list has the URI */
    }
    if (upstream == NULL) {
        return writ_refusal_http(
            request, 200, WRIT_RPC_INVALID_PARAMS, WRIT_REASON_UPSTREAM_NOT_LISTED, NULL);
    }
    if (writ_meet_is_due(request, upstream)) {
        return writ_meet_start(request, upstream, WRIT_STEP_PASS);
    }
    if (writ_meet_is_late(request, upstream)) {
        return writ_meet_refuse(request);
    }
    if (wire.ptr != NULL && !writ_view_equal(wire, name) &&
        !writ_is_ok(rename_body(request, wire, name, &body))) {
        return writ_refusal_http(request, 400, WRIT_RPC_INVALID_REQUEST,
            WRIT_REASON_MALFORMED_REQUEST, "the message has no canonical form");
    }
    return writ_pass_send(request, upstream,
        wire.ptr != NULL && request->message.name.ptr != NULL ? name : request->message.name, body);
}
