#include "gateway/pass.h"

#include "gateway/ours.h"
#include "gateway/place.h"
#include "gateway/refusal.h"
#include "gateway/task_word.h"
#include "gateway/wire.h"

#include "base/text.h"
#include "evidence/jcs.h"
#include "evidence/write.h"

#define CODE_INVALID_REQUEST (-32600)
#define CODE_INTERNAL        (-32603)
#define CODE_SERVER          (-32000)
#define CODE_INVALID_PARAMS  (-32602)
#define HEARTBEAT_MS         15000

#define WORDS_MAX    64 /* notices about tasks that one stream has under way */
#define TASK_NOTICES "notifications/tasks"

#define PENDING_KEPT   65536 /* bytes of memory that a stream keeps between two events */
#define OUTWARD_ID_MAX 4096  /* bytes of the id of a server's request, with its upstream's name */

static const struct writ_view param_prefix = {"Mcp-Param-", sizeof "Mcp-Param-" - 1};

/* Fields of the client that go upstream as they are; all others stay here. */
static const struct writ_view passed[] = {
    WRIT_LIT("traceparent"), WRIT_LIT("tracestate"), WRIT_LIT("baggage")};

/* ---- to the upstream ---- */

/* Fields that Connection names are for this hop alone (RFC 9110 7.6.1). */
static bool
is_for_this_hop(const struct writ_request *request, struct writ_view name)
{
    size_t n = 0;
    const struct writ_header *all = writ_exchange_headers(request->x, &n);

    for (size_t i = 0; i < n; i++) {
        struct writ_view rest = all[i].value;
        while (writ_view_equal_nocase(all[i].name, WRIT_LIT("Connection")) && rest.len > 0) {
            size_t comma = writ_view_find(rest, ',');
            if (writ_view_equal_nocase(writ_view_trim(writ_view_sub(rest, 0, comma)), name)) {
                return true;
            }
            rest = writ_view_sub(rest, comma + 1, SIZE_MAX);
        }
    }
    return false;
}

static bool
is_passed(struct writ_view name)
{
    for (size_t i = 0; i < sizeof passed / sizeof *passed; i++) {
        if (writ_view_equal_nocase(name, passed[i])) {
            return true;
        }
    }
    return name.len > param_prefix.len &&
           writ_view_equal_nocase(writ_view_sub(name, 0, param_prefix.len), param_prefix);
}

static struct writ_view
encoded_name(struct writ_request *request, struct writ_view name)
{
    writ_auto_buf text = writ_buf_make(2 * name.len + 64);

    writ_mcp_header_encode(&text, name);
    return writ_is_ok(writ_buf_check(&text, NULL))
               ? writ_view_copy(writ_buf_view(&text), request->x->arena)
               : (struct writ_view){NULL, 0};
}

/* What the stateless revision says again in the head. */
static writ_result
add_names(
    struct writ_request *request, struct writ_view name, struct writ_header *headers, size_t *count)
{
    struct writ_view value;

    if (request->message.era != WRIT_MCP_ERA_MODERN || request->message.method.len == 0) {
        return WRIT_DONE;
    }
    headers[(*count)++] = (struct writ_header){WRIT_LIT("Mcp-Method"), request->message.method};
    if (name.ptr == NULL) {
        return WRIT_DONE;
    }
    value = encoded_name(request, name);
    if (value.ptr == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    headers[(*count)++] = (struct writ_header){WRIT_LIT("Mcp-Name"), value};
    return WRIT_DONE;
}

static writ_result
collect_headers(struct writ_request *request, struct writ_view name, struct writ_header *headers,
    size_t *ret_count)
{
    size_t n = 0, count = 0;
    const struct writ_header *all = writ_exchange_headers(request->x, &n);

    for (size_t i = 0; i < n; i++) {
        if (!is_passed(all[i].name) || is_for_this_hop(request, all[i].name)) {
            continue;
        }
        if (count == WRIT_PASS_HEADERS_MAX - 4) { /* room for those that we add */
            return (writ_result){WRIT_E_LIMIT};
        }
        headers[count++] = all[i];
    }
    *ret_count = count;
    return add_names(request, name, headers, ret_count);
}

/* What the client takes is for the server to judge; none given is anything (RFC 9110 12.5.1). */
static struct writ_view
accepted(const struct writ_request *request)
{
    struct writ_view accept = writ_exchange_header(request->x, WRIT_LIT("Accept"));

    return accept.ptr != NULL ? accept : WRIT_LIT("*/*");
}

static void
fill(struct writ_request *request, struct writ_upstream *upstream,
    const struct writ_header *headers, size_t count, struct writ_upcall_request *ret)
{
    const struct writ_upstream_config *to = writ_upstream_config(upstream);

    *ret = (struct writ_upcall_request){
        .method = request->x->method,
        .message = &request->message,
        .body = request->x->body,
        .session = writ_session_upstream(request->session, to->name),
        .version = request->endpoint->hook != WRIT_HOOK_NONE
                       ? WRIT_LIT(WRIT_MCP_MODERN) /* a probe: nobody else has a part in it */
                       : writ_exchange_header(request->x, WRIT_LIT("MCP-Protocol-Version")),
        .accept = request->x->method == WRIT_METHOD_POST ? accepted(request)
                                                         : (struct writ_view){NULL, 0},
        .headers = headers,
        .headers_n = count,
        .body_max = (size_t)writ_request_config(request)->limits.response_bytes,
        .event_max = (size_t)writ_request_config(request)->limits.event_bytes,
        .timeout_us = to->timeout_us,
        .scope = request->session != NULL ? request->session->id : NULL,
        .agent = &request->agent,
        .client = request->session != NULL ? request->session->client : (struct writ_view){NULL, 0},
    };
}

writ_result
writ_pass_prepare(struct writ_request *request, struct writ_upstream *upstream,
    struct writ_view name, struct writ_header *headers, struct writ_upcall_request *ret)
{
    size_t count = 0;

    WRIT_TRY(collect_headers(request, name, headers, &count));
    fill(request, upstream, headers, count, ret);
    return WRIT_DONE;
}

writ_result
writ_pass_prepare_own(struct writ_request *request, struct writ_upstream *upstream,
    struct writ_view name, struct writ_header *headers, struct writ_upcall_request *ret)
{
    size_t count = 0;

    WRIT_TRY(add_names(request, name, headers, &count));
    fill(request, upstream, headers, count, ret);
    ret->accept = (struct writ_view){NULL, 0};
    return WRIT_DONE;
}

writ_result
writ_pass_prepare_message(struct writ_request *request, struct writ_upstream *upstream,
    struct writ_view body, struct writ_mcp_message *message, struct writ_header *headers,
    struct writ_upcall_request *ret)
{
    const struct writ_mcp_message asked = request->message;
    writ_result r;

    *message = (struct writ_mcp_message){.kind = WRIT_MCP_REQUEST, .era = asked.era};
    WRIT_TRY(
        writ_json_read(body, &writ_json_limits_default, request->x->arena, &message->body, NULL));
    message->id = writ_json_get(message->body, WRIT_LIT("id"));
    message->params = writ_json_get(message->body, WRIT_LIT("params"));
    message->meta = writ_json_get(message->params, WRIT_LIT("_meta"));
    message->method = writ_json_string(writ_json_get(message->body, WRIT_LIT("method")));
    message->name = writ_mcp_mirrored_name(message->method, message->params);
    request->message = *message; /* the fields of the head are made from the message */
    r = writ_pass_prepare_own(request, upstream, message->name, headers, ret);
    request->message = asked;
    ret->method = WRIT_METHOD_POST;
    ret->message = message;
    ret->body = body;
    return r;
}

/* ---- back to the client ---- */

/* What waits goes to the client's queue, as far as it takes it. False: there is more. */
static bool
flush(struct writ_request *request)
{
    writ_result r;

    if (request->words > 0) {
        return false;
    }
    if (request->pending.len == 0) {
        return true;
    }
    r = writ_exchange_write(request->x, writ_buf_view(&request->pending));
    if (r.code == WRIT_E_NOMEM) { /* nobody calls when there is room again */
        request->cut = true;
    }
    if (!writ_is_ok(r) && !request->cut) {
        return false;
    }
    if (request->pending.cap > PENDING_KEPT) {
        writ_buf_wipe(&request->pending);
        request->pending = writ_buf_make(WRIT_PASS_EVENT_MAX);
    }
    writ_buf_clear(&request->pending);
    return true;
}

static void
close_stream(struct writ_request *request)
{
    struct writ_exchange *x = request->x;
    bool cut = request->cut;

    writ_request_finish(request);
    if (cut) {
        writ_exchange_abort(x);
    } else {
        writ_exchange_end(x);
    }
}

static void
room_again(struct writ_exchange *x, void *ctx)
{
    struct writ_request *request = ctx;

    (void)x;
    if (!flush(request)) {
        return;
    }
    if (request->closing) {
        close_stream(request);
    } else if (request->room != NULL) {
        request->room(request);
    } else if (request->upcall_open) {
        writ_upcall_resume(&request->upcall);
    }
}

void
writ_pass_close(struct writ_request *request, bool whole)
{
    request->closing = true;
    request->cut = request->cut || !whole;
    if (request->words == 0 && (request->cut || flush(request))) {
        close_stream(request);
    }
}

/* Nobody reads any more: what is written is thrown away, so there is room for all of it. */
static void
reader_left(struct writ_exchange *x, void *ctx)
{
    struct writ_request *request = ctx;
    bool modern = request->message.era == WRIT_MCP_ERA_MODERN;

    if (request->call != NULL && !modern) {
        writ_resume_leave(request);
    } else if (request->upcall_open) {
        writ_upcall_cancel(&request->upcall, modern);
    }
    if (request->streaming) {
        room_again(x, request);
    }
}

void
writ_pass_left(struct writ_request *request)
{
    room_again(request->x, request);
}

void
writ_pass_watch_client(struct writ_request *request)
{
    writ_exchange_on_gone(request->x, reader_left, request);
    if (request->message.era == WRIT_MCP_ERA_MODERN) {
        writ_exchange_probe(request->x, WRIT_PASS_PROBE_MS);
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

    request->pending = writ_buf_make(WRIT_PASS_EVENT_MAX);
    request->streaming = true;
    writ_exchange_stream(request->x, 200, headers, more.name.len > 0 ? count : count - 1);
    writ_exchange_heartbeat(request->x, HEARTBEAT_MS);
    writ_exchange_probe(request->x, WRIT_PASS_PROBE_MS);
    writ_exchange_on_room(request->x, room_again, request);
}

void
writ_pass_begin(struct writ_request *request)
{
    begin(request, (struct writ_header){0});
}

void
writ_pass_answer_event(
    struct writ_request *request, struct writ_header more, struct writ_view message)
{
    const struct writ_sse_event event = {.kind = WRIT_SSE_EVENT,
        .event = WRIT_LIT("message"),
        .data = message,
        .retry_ms = WRIT_SSE_NO_RETRY};
    writ_auto_buf text = writ_buf_make(WRIT_PASS_EVENT_MAX);
    writ_result r = writ_sse_put(&text, &event, NULL);

    begin(request, more);
    writ_pass_watch_client(request);
    if (writ_is_ok(r)) {
        r = writ_pass_write(request, writ_buf_view(&text));
    }
    writ_pass_close(request, writ_is_ok(r) || r.code == WRIT_E_BUSY);
}

/* "fs/n/7" for the number 7 of upstream fs, "fs/s/abc" for the string. */
static void
outward_id(struct writ_buf *buf, struct writ_view upstream, const struct writ_json *id)
{
    writ_auto_buf text = writ_buf_make(OUTWARD_ID_MAX);

    writ_buf_put(&text, upstream);
    writ_buf_str(&text, writ_json_type(id) == WRIT_JSON_NUMBER ? "/n/" : "/s/");
    writ_buf_put(&text, writ_json_text(id));
    writ_text_json(buf, writ_buf_view(&text));
}

writ_result
writ_pass_rewrite_id(
    const struct writ_json *message, struct writ_view id_json, struct writ_buf *ret)
{
    struct writ_write w = writ_write_to(ret);

    writ_write_object_begin(&w);
    WRIT_JSON_EACH(name, message)
    {
        writ_write_name(&w, writ_json_string(name));
        if (writ_view_is(writ_json_string(name), "id")) {
            writ_write_raw(&w, id_json);
        } else {
            writ_write_verbatim(&w, writ_json_value(name));
        }
    }
    writ_write_object_end(&w);
    return writ_write_end(&w, NULL);
}

static void
put_at(struct writ_write *w, const struct writ_json *object, const struct writ_view *path, size_t n,
    struct writ_view raw)
{
    writ_write_object_begin(w);
    WRIT_JSON_EACH(name, object)
    {
        const struct writ_json *value = writ_json_value(name);
        bool on_path = writ_view_equal(writ_json_string(name), *path);
        writ_write_name(w, writ_json_string(name));
        if (on_path && n == 1) {
            writ_write_raw(w, raw);
        } else if (on_path && writ_json_type(value) == WRIT_JSON_OBJECT) {
            put_at(w, value, path + 1, n - 1, raw);
        } else {
            writ_write_verbatim(w, value);
        }
    }
    writ_write_object_end(w);
}

writ_result
writ_pass_rewrite_at(const struct writ_json *message, const struct writ_view *path, size_t n,
    struct writ_view raw, struct writ_buf *ret)
{
    struct writ_write w = writ_write_to(ret);

    put_at(&w, message, path, n, raw);
    return writ_write_end(&w, NULL);
}

/* Of a string or an integer: what a client may answer (inward_id). */
static bool
is_request_id(const struct writ_json *id)
{
    int64_t number;

    return writ_json_type(id) == WRIT_JSON_STRING ||
           (writ_json_type(id) == WRIT_JSON_NUMBER &&
               writ_is_ok(writ_json_integer(id, INT64_MIN, INT64_MAX, &number)));
}

/* Those of the client's own revision, where it has them: in the stateless one on a subscription. */
static enum writ_pass_kind
kind_of_notice(const struct writ_request *request, const struct writ_json *message)
{
    bool modern = request->message.era == WRIT_MCP_ERA_MODERN;
    const struct writ_json *method = writ_json_get(message, WRIT_LIT("method"));

    if (writ_json_get(message, WRIT_LIT("id")) == NULL &&
        (modern ? request->method == WRIT_MCP_LISTEN && writ_json_is(method, WRIT_LIT(TASK_NOTICES))
                : writ_json_is(method, WRIT_LIT(TASK_NOTICES "/status")))) {
        return WRIT_PASS_TASK;
    }
    writ_task_word_drop(request);
    return WRIT_PASS_FOREIGN;
}

static enum writ_pass_kind
kind_of(const struct writ_request *request, const struct writ_json *message)
{
    const struct writ_json *id = writ_json_get(message, WRIT_LIT("id"));
    bool asks = writ_json_get(message, WRIT_LIT("method")) != NULL;
    bool answers = writ_json_get(message, WRIT_LIT("result")) != NULL ||
                   writ_json_get(message, WRIT_LIT("error")) != NULL;

    if (asks == answers || !writ_mcp_is_unambiguous(message)) {
        return WRIT_PASS_FOREIGN;
    }
    if (asks && writ_view_has_prefix(writ_json_string(writ_json_get(message, WRIT_LIT("method"))),
                    WRIT_LIT(TASK_NOTICES))) {
        return kind_of_notice(request, message);
    }
    if (asks && request->message.era == WRIT_MCP_ERA_MODERN) {
        return id != NULL ? WRIT_PASS_FOREIGN : WRIT_PASS_OTHER; /* a server sends no requests */
    }
    if (asks) {
        return id != NULL && !is_request_id(id) ? WRIT_PASS_FOREIGN : WRIT_PASS_OTHER;
    }
    if (request->message.id != NULL) {
        return writ_json_equal(id, request->message.id) ? WRIT_PASS_RESPONSE : WRIT_PASS_FOREIGN;
    }
    return writ_exchange_header(request->x, WRIT_LIT("Last-Event-ID")).ptr != NULL
               ? WRIT_PASS_ANSWER
               : WRIT_PASS_FOREIGN;
}

/* The data of an event that goes on. */
static writ_result
put_data(const struct writ_upstream *from, const struct writ_json *message, struct writ_buf *ret)
{
    const struct writ_json *id = writ_json_get(message, WRIT_LIT("id"));
    writ_auto_buf outward = writ_buf_make(6 * OUTWARD_ID_MAX);
    struct writ_write w;

    if (id != NULL && writ_json_get(message, WRIT_LIT("method")) != NULL) {
        outward_id(&outward, writ_upstream_config(from)->name, id);
        WRIT_TRY(writ_buf_check(&outward, NULL));
        return writ_pass_rewrite_id(message, writ_buf_view(&outward), ret);
    }
    w = writ_write_to(ret);
    writ_write_verbatim(&w, message);
    return writ_write_end(&w, NULL);
}

/* The server says that its tools are others now. */
static void
notice_change(struct writ_upstream *from, const struct writ_json *message)
{
    if (writ_json_is(writ_json_get(message, WRIT_LIT("method")),
            WRIT_LIT("notifications/tools/list_changed"))) {
        writ_shelf_doubt(writ_upstream_shelf(from));
    }
}

static struct writ_json_limits
limits_of(struct writ_view text)
{
    struct writ_json_limits limits = writ_json_limits_default;

    limits.bytes = limits.string_bytes = text.len;
    limits.values = WRIT_PASS_EVENT_VALUES_MAX;
    return limits;
}

/* One strict parse. What it gives lies in the loop's scratch memory, which the caller empties. */
static enum writ_pass_kind
read_message(const struct writ_request *request, struct writ_upstream *from, struct writ_view text,
    const struct writ_json **ret)
{
    struct writ_json_limits limits = limits_of(text);

    if (!writ_is_ok(writ_json_read(text, &limits, request->worker->scratch, ret, NULL)) ||
        writ_json_type(*ret) != WRIT_JSON_OBJECT) {
        return WRIT_PASS_FOREIGN;
    }
    notice_change(from, *ret);
    return kind_of(request, *ret);
}

enum writ_pass_kind
writ_pass_inspect(const struct writ_request *request, struct writ_upstream *from,
    const struct writ_sse_event *event, struct writ_buf *ret)
{
    const struct writ_json *message = NULL;
    struct writ_json_limits limits = limits_of(event->data);
    struct writ_view text = event->data;
    enum writ_pass_kind kind;

    if (event->kind != WRIT_SSE_EVENT || event->data.len == 0) {
        return WRIT_PASS_OTHER; /* an empty one tells the client where to go on from */
    }
    kind = read_message(request, from, event->data, &message);
    if (kind != WRIT_PASS_FOREIGN &&
        (!writ_is_ok(writ_ours_clear(&limits, request->worker->scratch, &text, &message)) ||
            !writ_is_ok(put_data(from, message, ret)))) {
        kind = WRIT_PASS_FOREIGN;
    }
    writ_arena_reset(request->worker->scratch);
    return kind;
}

/* What came cannot be passed on. */
static void
give_up(struct writ_request *request)
{
    if (request->call != NULL) {
        request->call->malformed = true;
    }
    writ_upcall_cancel(&request->upcall, false);
}

struct writ_view
writ_pass_event_id(
    const struct writ_request *request, struct writ_view id, struct writ_buf *scratch)
{
    if (id.len == 0 || !writ_request_is_merged(request)) {
        return id;
    }
    writ_buf_clear(scratch);
    writ_place_put(scratch, writ_upstream_config(request->upstream)->name, id);
    return writ_is_ok(writ_buf_check(scratch, NULL)) ? writ_buf_view(scratch)
                                                     : (struct writ_view){NULL, 0};
}

writ_result
writ_pass_write(struct writ_request *request, struct writ_view events)
{
    writ_buf_put(&request->pending, events);
    WRIT_TRY(writ_buf_check(&request->pending, NULL));
    return flush(request) ? WRIT_DONE : (writ_result){WRIT_E_BUSY};
}

void
writ_pass_event(
    struct writ_request *request, const struct writ_sse_event *event, struct writ_view data)
{
    writ_auto_buf id = writ_buf_make(WRIT_PASS_EVENT_ID_MAX);
    writ_auto_buf text = writ_buf_make(WRIT_PASS_EVENT_MAX);
    struct writ_sse_event changed = *event;
    writ_result r;

    if (event->kind == WRIT_SSE_EVENT) {
        changed.data = data.len > 0 ? data : event->data; /* an empty one is not an absent one */
        changed.id = writ_pass_event_id(request, event->id, &id);
    }
    r = writ_sse_put(&text, &changed, NULL);
    if (writ_is_ok(r)) {
        r = writ_pass_write(request, writ_buf_view(&text));
    }
    if (r.code == WRIT_E_BUSY) {
        writ_upcall_pause(&request->upcall);
    } else if (!writ_is_ok(r)) {
        give_up(request);
    }
}

static void
word_told(void *ctx, const struct writ_sse_event *event)
{
    struct writ_request *request = ctx;

    request->words--;
    if (event != NULL && !writ_is_ok(writ_sse_put(&request->ahead, event, NULL))) {
        request->cut = true;
    }
    if (request->words > 0) {
        return;
    }
    writ_buf_put(&request->ahead, writ_buf_view(&request->pending));
    request->cut = request->cut || !writ_is_ok(writ_buf_check(&request->ahead, NULL));
    writ_buf_wipe(&request->pending);
    request->pending = request->ahead;
    request->ahead = (struct writ_buf){0};
    if (request->cut && !request->closing && request->upcall_open) {
        give_up(request);
    }
    room_again(request->x, request);
}

void
writ_pass_task(
    struct writ_request *request, const struct writ_sse_event *event, struct writ_view data)
{
    writ_auto_buf id = writ_buf_make(WRIT_PASS_EVENT_ID_MAX);
    struct writ_sse_event told = *event;
    const struct writ_task_word word = {.request = request,
        .from = request->upstream,
        .form = writ_task_word_form(request),
        .event = &told,
        .told = word_told,
        .ctx = request};

    told.data = data;
    told.id = writ_pass_event_id(request, event->id, &id);
    if (request->words == WORDS_MAX) {
        writ_task_word_drop(request);
    } else if (writ_is_ok(writ_task_word_take(&word))) {
        request->ahead = request->words++ > 0 ? request->ahead : writ_buf_make(WRIT_PASS_EVENT_MAX);
        writ_upcall_pause(&request->upcall);
    }
}

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

/* Takes Writ's names out of a whole answer. False: there may be some, and it cannot be read. */
static bool
clear_answer(struct writ_request *request, struct writ_view *body)
{
    struct writ_json_limits limits = limits_of(*body);
    const struct writ_json *message;

    if (!writ_ours_may_be_in(*body)) {
        return true;
    }
    return writ_is_ok(writ_json_read(*body, &limits, request->x->arena, &message, NULL)) &&
           writ_is_ok(writ_ours_clear(&limits, request->x->arena, body, &message));
}

enum writ_step
writ_pass_answer(struct writ_request *request, const struct writ_upcall_answer *answer)
{
    struct writ_exchange *x = request->x;
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
    if (status >= 400 && status < 500 && !is_json(answer)) {
        body.len = 0; /* the status is the answer: clients negotiate by it */
    }
    if ((status >= 300 && status < 400) || status < 200 || (body.len > 0 && !is_json(answer)) ||
        (status >= 500 && body.len == 0) || !clear_answer(request, &body)) {
        return writ_refusal_http(
            request, 502, WRIT_REFUSAL_CODE, WRIT_REASON_UPSTREAM_MALFORMED, NULL);
    }
    if (answer->is_stream && body.len > 0 && request->endpoint->only != NULL) {
        writ_pass_answer_event(request, (struct writ_header){0}, body);
        return WRIT_STEP_DONE;
    }
    if (body.len > 0) {
        headers[count++] = (struct writ_header)WRIT_HEADER_JSON;
    }
    if (answer->retry_after.len > 0) {
        headers[count++] = (struct writ_header){WRIT_LIT("Retry-After"), answer->retry_after};
    }
    writ_request_finish(request);
    writ_exchange_reply(x, status, headers, count, body);
    return WRIT_STEP_DONE;
}

/* ---- PASS ---- */

static void
on_stream(struct writ_upcall *upcall, const struct writ_upcall_answer *answer)
{
    (void)answer;
    writ_pass_begin(upcall->ctx);
}

/* From its first id on the rest of the stream can be asked for by GET, the answer with it. */
static void
note(struct writ_request *request)
{
    struct writ_digest key;

    if (!request->noted && request->session != NULL && request->message.id != NULL &&
        writ_is_ok(writ_answers_key(request->session, writ_upstream_config(request->upstream)->name,
            request->message.id, &key)) &&
        writ_is_ok(
            writ_answers_note(request->worker->gateway->answers, &key, NULL, request->x->loop))) {
        request->noted = true;
    }
}

static void
on_event(struct writ_upcall *upcall, const struct writ_sse_event *event)
{
    struct writ_request *request = upcall->ctx;
    writ_auto_buf data = writ_buf_make(WRIT_PASS_EVENT_MAX);

    if (event->id.len > 0) {
        note(request);
    }
    switch (writ_pass_inspect(request, request->upstream, event, &data)) {
    case WRIT_PASS_FOREIGN:
        return;
    case WRIT_PASS_TASK:
        writ_pass_task(request, event, writ_buf_view(&data));
        return;
    case WRIT_PASS_RESPONSE:
    case WRIT_PASS_OTHER:
    case WRIT_PASS_ANSWER:
        writ_pass_event(request, event, writ_buf_view(&data));
        return;
    }
}

bool
writ_pass_is_another(const struct writ_request *request, struct writ_upstream *from,
    const struct writ_upcall_answer *answer)
{
    const struct writ_json *message = NULL;
    enum writ_pass_kind kind;

    if (answer->end != WRIT_UPCALL_ANSWERED || answer->status >= 300 ||
        request->message.kind != WRIT_MCP_REQUEST) {
        return false;
    }
    kind = read_message(request, from, answer->body, &message);
    writ_arena_reset(request->worker->scratch);
    return kind != WRIT_PASS_RESPONSE;
}

static void
on_end(struct writ_upcall *upcall, const struct writ_upcall_answer *answer)
{
    struct writ_request *request = upcall->ctx;

    request->upcall_open = false;
    if (request->streaming) {
        writ_pass_close(request, answer->end == WRIT_UPCALL_ANSWERED);
    } else if (writ_pass_is_another(request, request->upstream, answer)) {
        (void)writ_refusal_http(
            request, 502, WRIT_REFUSAL_CODE, WRIT_REASON_UPSTREAM_MALFORMED, NULL);
    } else {
        (void)writ_pass_answer(request, answer);
    }
}

static const struct writ_upcall_events pass_events = {
    .stream = on_stream, .event = on_event, .end = on_end};

/* What a message names by a URI: a resource, or the template that is to be completed. */
static struct writ_view
uri_of(const struct writ_request *request)
{
    return writ_json_string(writ_json_pointer(request->message.params,
        request->method == WRIT_MCP_COMPLETE ? WRIT_LIT("/ref/uri") : WRIT_LIT("/uri")));
}

/* What it names by a name: a prompt, or a tool. */
static struct writ_view
name_of(const struct writ_request *request)
{
    if (writ_method_route(request->method) == WRIT_ROUTE_URI) {
        return (struct writ_view){NULL, 0};
    }
    return request->method == WRIT_MCP_COMPLETE
               ? writ_json_string(writ_json_pointer(request->message.params, WRIT_LIT("/ref/name")))
               : request->message.name;
}

/* Which upstream a message is for; its own name of what is named goes to `ret_name`. */
static struct writ_upstream *
choose_upstream(struct writ_request *request, struct writ_view *ret_name)
{
    struct writ_gateway *gateway = request->worker->gateway;
    struct writ_view name = name_of(request), uri = uri_of(request), upstream;
    size_t owner;

    *ret_name = name;
    if (request->endpoint->only != NULL) {
        return request->endpoint->only;
    }
    if (name.ptr != NULL) {
        return writ_wire_split(writ_request_config(request)->separator, name, &upstream, ret_name)
                   ? writ_gateway_upstream(gateway, upstream)
                   : NULL;
    }
    owner = uri.ptr != NULL ? writ_owners_find(gateway->owners, uri) : WRIT_OWNERS_NONE;
    return owner < gateway->upstreams_n ? gateway->upstreams[owner] : NULL;
}

/* Writes `value` anew with every string that equals `from` under the name "name" replaced. */
static void
put_renamed(struct writ_write *w, const struct writ_json *object, struct writ_view from,
    struct writ_view to)
{
    writ_write_object_begin(w);
    WRIT_JSON_EACH(name, object)
    {
        const struct writ_json *value = writ_json_value(name);
        struct writ_view key = writ_json_string(name);
        writ_write_name(w, key);
        if (writ_view_is(key, "name") && writ_json_is(value, from)) {
            writ_write_string(w, to);
        } else if ((writ_view_is(key, "params") || writ_view_is(key, "ref")) &&
                   writ_json_type(value) == WRIT_JSON_OBJECT) {
            put_renamed(w, value, from, to);
        } else {
            writ_write_value(w, value);
        }
    }
    writ_write_object_end(w);
}

static writ_result
rename_body(
    struct writ_request *request, struct writ_view from, struct writ_view to, struct writ_view *ret)
{
    writ_auto_buf body = writ_buf_make(2 * request->x->body.len + 65536);
    struct writ_write w = writ_write_to(&body);
    struct writ_view copy;

    put_renamed(&w, request->message.body, from, to);
    WRIT_TRY(writ_write_end(&w, NULL));
    copy = writ_view_copy(writ_buf_view(&body), request->x->arena);
    if (copy.ptr == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    *ret = copy;
    return WRIT_DONE;
}

static enum writ_step
start(struct writ_request *request, struct writ_upstream *upstream, struct writ_view name,
    struct writ_view body)
{
    struct writ_header headers[WRIT_PASS_HEADERS_MAX];

    if (!writ_is_ok(
            writ_pass_prepare(request, upstream, name, headers, &request->upcall.request))) {
        return writ_refusal_http(request, 503, CODE_INTERNAL, WRIT_REASON_OVERLOADED, NULL);
    }
    request->upcall.request.body = body;
    request->upcall.events = &pass_events;
    request->upcall.ctx = request;
    request->upstream = upstream;
    request->upcall_open = true;
    writ_pass_watch_client(request);
    writ_upcall_start(upstream, request->worker, &request->upcall);
    return WRIT_STEP_WAIT;
}

enum writ_step
writ_pass_start(struct writ_request *request)
{
    struct writ_view name, wire = name_of(request), body = request->x->body;
    struct writ_upstream *upstream = choose_upstream(request, &name);

    if (upstream == NULL && wire.ptr == NULL && uri_of(request).ptr != NULL) {
        return WRIT_STEP_SPREAD; /* nobody has said whose it is */
    }
    if (upstream == NULL) {
        return writ_refusal_http(
            request, 200, CODE_INVALID_PARAMS, WRIT_REASON_UPSTREAM_NOT_LISTED, NULL);
    }
    if (wire.ptr != NULL && !writ_view_equal(wire, name) &&
        !writ_is_ok(rename_body(request, wire, name, &body))) {
        return writ_refusal_http(request, 400, CODE_INVALID_REQUEST, WRIT_REASON_MALFORMED_REQUEST,
            "the message has no canonical form");
    }
    return start(request, upstream,
        wire.ptr != NULL && request->message.name.ptr != NULL ? name : request->message.name, body);
}

/* ---- REPLY: a client's answer to a server's request ---- */

/* Takes "fs/n/7" apart. */
static struct writ_upstream *
inward_id(struct writ_request *request, struct writ_buf *ret_id_json)
{
    struct writ_view text = writ_json_string(request->message.id);
    size_t slash = writ_view_find(text, '/');
    struct writ_upstream *upstream =
        writ_gateway_upstream(request->worker->gateway, writ_view_sub(text, 0, slash));
    struct writ_view kind = writ_view_sub(text, slash, 3);
    struct writ_view id = writ_view_sub(text, slash + 3, SIZE_MAX);

    if (upstream == NULL ||
        (request->endpoint->only != NULL && request->endpoint->only != upstream)) {
        return NULL;
    }
    if (writ_view_is(kind, "/s/")) {
        writ_text_json(ret_id_json, id);
        return upstream;
    }
    if (writ_view_is(kind, "/n/") && id.len > 0) {
        for (size_t i = 0; i < id.len; i++) {
            if ((id.ptr[i] < '0' || id.ptr[i] > '9') && !(i == 0 && id.ptr[i] == '-')) {
                return NULL;
            }
        }
        writ_buf_put(ret_id_json, id);
        return upstream;
    }
    return NULL;
}

static enum writ_step
swallow(struct writ_request *request)
{
    struct writ_exchange *x = request->x;

    writ_request_finish(request);
    writ_exchange_reply(x, 202, NULL, 0, (struct writ_view){NULL, 0});
    return WRIT_STEP_DONE;
}

enum writ_step
writ_pass_reply(struct writ_request *request)
{
    writ_auto_buf id = writ_buf_make(8192);
    writ_auto_buf body = writ_buf_make(2 * request->x->body.len + 65536);
    struct writ_upstream *upstream = inward_id(request, &id);
    struct writ_view copy;

    if (request->session == NULL) {
        return writ_refusal_http(request, 400, CODE_SERVER, WRIT_REASON_MALFORMED_REQUEST,
            "an answer belongs to a session");
    }
    if (upstream == NULL ||
        !writ_is_ok(writ_pass_rewrite_id(request->message.body, writ_buf_view(&id), &body))) {
        return swallow(request); /* to nothing that was asked; a server takes it as well */
    }
    copy = writ_view_copy(writ_buf_view(&body), request->x->arena);
    if (copy.ptr == NULL) {
        return writ_refusal_http(request, 503, CODE_INTERNAL, WRIT_REASON_OVERLOADED, NULL);
    }
    return start(request, upstream, (struct writ_view){NULL, 0}, copy);
}
