/* bridge_call.c - one request to the gateway: how it is sent, and what is read of its answer. keeps
 * (1) */
#include "gateway/bridge/bridge_call.h"

#include "gateway/bridge/bridge_output.h"

#include "evidence/json/jcs.h"
#include "gateway/request/refusal.h"
#include "gateway/upstream/client_env.h"

#define ARENA_MAX    ((size_t)512 << 20)
#define BODY_MAX     ((size_t)256 << 20) /* the most that a gateway can be configured to answer */
#define FIELDS_MAX   11
#define STATUS_GOOD  200
#define LEAVE_US     2000000
#define FRESH_US     1 /* connecting costs little; an old connection may be closing */
#define SESSION_MAX  1024
#define EVENT_ID_MAX 4096

#define STREAM_TYPE "text/event-stream"

/* ---- life ---- */

struct writ_bridge_call *
writ_bridge_call_new(struct writ_bridge *bridge, enum writ_bridge_kind kind, struct writ_view line)
{
    struct writ_arena *arena = writ_arena_new(ARENA_MAX);
    struct writ_bridge_call *call = arena != NULL ? writ_arena_get(arena, sizeof *call) : NULL;
    struct writ_view copy = call != NULL ? writ_view_copy(line, arena) : writ_view(NULL, 0);

    if (copy.ptr == NULL) {
        writ_arena_free(arena);
        return NULL;
    }
    *call = (struct writ_bridge_call){.bridge = bridge,
        .kind = kind,
        .arena = arena,
        .line = copy,
        .retry_ms = WRIT_SSE_NO_RETRY,
        .body = writ_buf_make(BODY_MAX),
        .session = writ_buf_make(SESSION_MAX),
        .last_id = writ_buf_make(EVENT_ID_MAX)};
    if (kind == WRIT_BRIDGE_LINE &&
        !writ_is_ok(writ_bridge_message_read(copy, arena, &call->message))) {
        writ_arena_free(arena);
        return NULL;
    }
    TAILQ_INSERT_TAIL(&bridge->calls, call, link);
    return call;
}

void
writ_bridge_call_free(struct writ_bridge_call *call)
{
    struct writ_bridge *bridge = call->bridge;

    if (bridge->stream == call) {
        bridge->stream = NULL;
    }
    TAILQ_REMOVE(&bridge->calls, call, link);
    writ_sse_free(call->sse);
    writ_buf_wipe(&call->body);
    writ_buf_wipe(&call->session);
    writ_buf_wipe(&call->last_id);
    writ_arena_free(call->arena); /* it lies in there itself */
}

/* ---- answers ---- */

static void
put_buf(struct writ_bridge *bridge, const struct writ_buf *text)
{
    if (writ_is_ok(writ_buf_check(text, NULL))) {
        writ_bridge_output_put(bridge, writ_buf_view(text));
    }
}

/* Whether the request has no answer yet; from now on it has one. keeps (1) */
static bool
owe(struct writ_bridge_call *call, size_t i)
{
    const struct writ_json *id = call->message.ids[i];

    call->message.ids[i] = NULL;
    call->answered += id != NULL ? 1 : 0;
    return id != NULL;
}

void
writ_bridge_call_refuse(
    struct writ_bridge_call *call, enum writ_reason reason, struct writ_view text)
{
    for (size_t i = 0; i < call->message.ids_n; i++) {
        writ_auto_buf error = writ_buf_make(WRIT_BRIDGE_ERROR_MAX);
        const struct writ_json *id = call->message.ids[i];

        if (owe(call, i)) {
            writ_bridge_message_put_error(&error, id, WRIT_RPC_INTERNAL_ERROR, reason, text);
            put_buf(call->bridge, &error);
        }
    }
    writ_bridge_call_free(call);
}

void
writ_bridge_call_lose(struct writ_bridge_call *call)
{
    for (size_t i = 0; i < call->message.ids_n; i++) {
        writ_auto_buf error = writ_buf_make(WRIT_BRIDGE_ERROR_MAX);
        const struct writ_json *id = call->message.ids[i];

        if (owe(call, i)) {
            writ_bridge_message_put_lost(&error, id);
            put_buf(call->bridge, &error);
        }
    }
    writ_bridge_call_free(call);
}

bool
writ_bridge_call_is_answered(const struct writ_bridge_call *call)
{
    return call->answered >= call->message.ids_n;
}

/* Finds the request that a message answers, in whatever stream the message came. */
static void
note_answer(struct writ_bridge *bridge, const struct writ_json *message)
{
    struct writ_bridge_call *call;

    TAILQ_FOREACH(call, &bridge->calls, link)
    {
        for (size_t i = 0; i < call->message.ids_n; i++) {
            if (writ_bridge_message_answers(message, call->message.ids[i])) {
                (void)owe(call, i);
                return;
            }
        }
    }
}

/* The acknowledgement of a subscription that the bridge itself has asked for again. */
static bool
is_second_acknowledgement(struct writ_bridge_call *call, const struct writ_json *message)
{
    bool before = call->acknowledged;

    if (!writ_json_is(writ_json_get(message, WRIT_LIT("method")),
            WRIT_LIT("notifications/subscriptions/acknowledged"))) {
        return false;
    }
    call->acknowledged = true;
    return before;
}

static bool
opens(const struct writ_bridge_call *call)
{
    return call->kind == WRIT_BRIDGE_REOPEN || call->message.method == WRIT_MCP_INITIALIZE;
}

/* The answer that opens a session, or that gets a note, is read as a whole, also from a stream. */
static bool
is_read(const struct writ_bridge_call *call, const struct writ_json *message)
{
    return (opens(call) || call->message.method == WRIT_MCP_DISCOVER) &&
           writ_json_type(message) == WRIT_JSON_OBJECT &&
           writ_json_get(message, WRIT_LIT("method")) == NULL;
}

static void
take_event(struct writ_bridge_call *call, const struct writ_sse_event *event)
{
    struct writ_bridge *bridge = call->bridge;
    writ_auto_arena arena = writ_arena_new(ARENA_MAX);
    const struct writ_json *message = NULL;

    if (event->id.ptr != NULL) {
        writ_buf_clear(&call->last_id);
        writ_buf_put(&call->last_id, event->id);
    }
    if (event->retry_ms != WRIT_SSE_NO_RETRY) {
        call->retry_ms = event->retry_ms;
    }
    if (event->data.len == 0 || arena == NULL ||
        !writ_is_ok(writ_mcp_parse(event->data, arena, &message))) {
        return;
    }
    if (is_second_acknowledgement(call, message)) {
        return;
    }
    if (is_read(call, message)) {
        writ_buf_clear(&call->body);
        writ_buf_put(&call->body, event->data);
        return;
    }
    if (writ_json_type(message) == WRIT_JSON_ARRAY) {
        WRIT_JSON_EACH(each, message)
        {
            note_answer(bridge, each);
        }
    } else {
        note_answer(bridge, message);
    }
    writ_bridge_output_put(bridge, event->data);
}

/* ---- what HTTP says ---- */

static void
on_head(void *ctx, struct writ_http_call *http, const struct writ_http_head *head)
{
    struct writ_bridge_call *call = ctx;
    static const struct writ_sse_limits limits = {BODY_MAX, BODY_MAX};
    struct writ_view type = WRIT_LIT(""), session = WRIT_LIT(""), refused = WRIT_LIT("");

    call->status = head->status;
    writ_bridge_output_hold(call);
    (void)writ_http_response_field(head, "Content-Type", &type);
    (void)writ_http_response_field(head, "Mcp-Session-Id", &session);
    (void)writ_http_response_field(head, WRIT_REFUSAL_FIELD, &refused);
    call->refused = writ_reason_find(refused);
    writ_buf_put(&call->session, session);
    call->is_stream =
        head->status == STATUS_GOOD && writ_header_has_type(type, WRIT_LIT(STREAM_TYPE));
    if (call->kind == WRIT_BRIDGE_STREAM && call->is_stream) {
        call->bridge->pause_us = 0;
    }
    if (call->is_stream) {
        call->sse = writ_sse_new(&limits);
        if (call->sse == NULL) {
            writ_http_client_cancel(http);
        }
    }
}

static void
on_body(void *ctx, struct writ_http_call *http, struct writ_view bytes)
{
    struct writ_bridge_call *call = ctx;
    struct writ_sse_event event;

    if (!call->is_stream) {
        writ_buf_put(&call->body, bytes);
        return;
    }
    do {
        if (!writ_is_ok(writ_sse_next(call->sse, &bytes, &event, NULL))) {
            writ_http_client_cancel(http);
            return;
        }
        if (event.kind == WRIT_SSE_EVENT) {
            take_event(call, &event);
        }
    } while (event.kind != WRIT_SSE_NONE);
}

/* ---- the end, which bridge_end.c understands ---- */

void
writ_bridge_call_again(struct writ_bridge_call *call)
{
    call->status = 0;
    call->refused = WRIT_REASON_NONE;
    call->is_stream = false;
    writ_sse_free(call->sse);
    call->sse = NULL;
    writ_buf_clear(&call->body);
    writ_buf_clear(&call->session);
    call->tries++;
}

static void
on_end(void *ctx, struct writ_http_call *http, const struct writ_http_end *end)
{
    struct writ_bridge_call *call = ctx;

    (void)http;
    call->http = NULL;
    call->bridge->take(call, end);
}

static const struct writ_http_handler handler = {
    .on_head = on_head, .on_body = on_body, .on_end = on_end};

/* ---- sending ---- */

struct fields {
    struct writ_header items[FIELDS_MAX];
    size_t n;
};

static void
add(struct fields *fields, const char *name, struct writ_view value)
{
    if (value.len > 0) {
        fields->items[fields->n++] = (struct writ_header){writ_view_str(name), value};
    }
}

/* What the message says of itself, as 2026-07-28 wants it said again. */
static void
add_modern(struct fields *fields, struct writ_bridge_call *call)
{
    const struct writ_bridge_message *message = &call->message;
    struct writ_buf name = writ_buf_in(call->arena, WRIT_HTTP_REQUEST_HEAD_MAX);

    add(fields, "MCP-Protocol-Version", message->version);
    if (message->kind == WRIT_MCP_REQUEST) {
        add(fields, "Mcp-Method", message->method_name);
        if (message->name.ptr != NULL) {
            writ_mcp_header_encode(&name, message->name);
            add(fields, "Mcp-Name", writ_buf_view(&name));
        }
    }
}

static struct fields
fields_of(struct writ_bridge_call *call)
{
    const struct writ_bridge *bridge = call->bridge;
    struct fields fields = {.n = 0};
    bool streams = call->kind == WRIT_BRIDGE_STREAM || call->kind == WRIT_BRIDGE_RESUMED;

    if (streams || call->kind == WRIT_BRIDGE_LEAVE) {
        add(&fields, "Accept", WRIT_LIT(STREAM_TYPE));
    } else {
        add(&fields, "Content-Type", WRIT_LIT("application/json"));
        add(&fields, "Accept", WRIT_LIT("application/json, " STREAM_TYPE));
    }
    add(&fields, "Authorization", bridge->options->authorization);
    add(&fields, WRIT_CLIENT_ENV_FIELD, bridge->options->environment);
    if (call->message.modern) {
        add_modern(&fields, call);
    } else if (!opens(call)) {
        add(&fields, "Mcp-Session-Id", writ_buf_view(&bridge->session));
        add(&fields, "MCP-Protocol-Version", writ_buf_view(&bridge->version));
    }
    if (streams) {
        add(&fields, "Last-Event-ID",
            writ_buf_view(call->kind == WRIT_BRIDGE_STREAM ? &bridge->stream_id : &call->last_id));
    }
    return fields;
}

static struct writ_view
method_of(enum writ_bridge_kind kind)
{
    switch (kind) {
    case WRIT_BRIDGE_STREAM:
    case WRIT_BRIDGE_RESUMED:
        return WRIT_LIT("GET");
    case WRIT_BRIDGE_LEAVE:
        return WRIT_LIT("DELETE");
    case WRIT_BRIDGE_LINE:
    case WRIT_BRIDGE_REOPEN:
    case WRIT_BRIDGE_REOPENED:
        break;
    }
    return WRIT_LIT("POST");
}

static bool
may_send(const struct writ_bridge_call *call)
{
    const struct writ_bridge *bridge = call->bridge;
    bool own = call->kind == WRIT_BRIDGE_REOPEN || call->kind == WRIT_BRIDGE_REOPENED ||
               call->kind == WRIT_BRIDGE_LEAVE;

    return bridge->linked && (own || bridge->state != WRIT_BRIDGE_REOPENING);
}

void
writ_bridge_call_send(struct writ_bridge_call *call)
{
    struct writ_bridge *bridge = call->bridge;
    struct fields fields;
    struct writ_http_request request;
    writ_result result;

    if (!may_send(call)) {
        return;
    }
    fields = fields_of(call);
    request = (struct writ_http_request){
        .method = method_of(call->kind),
        .target = bridge->options->target,
        .fields = fields.items,
        .count = fields.n,
        .body = writ_view_is(method_of(call->kind), "POST") ? call->line : writ_view(NULL, 0),
        .body_max = WRIT_HTTP_UNLIMITED,
        .total_us = call->kind == WRIT_BRIDGE_LEAVE ? LEAVE_US : 0,
        .fresh_us = FRESH_US,
        .endless = call->kind == WRIT_BRIDGE_STREAM || call->message.method == WRIT_MCP_LISTEN,
    };
    call->opened = bridge->opened;
    call->sent_us = writ_loop_now_us(bridge->loop);
    result = writ_http_client_send(bridge->client, &request, &handler, call, &call->http, NULL);
    if (!writ_is_ok(result)) {
        call->http = NULL;
        if (call->kind == WRIT_BRIDGE_LINE) {
            writ_bridge_call_refuse(call,
                result.code == WRIT_E_INVALID ? WRIT_REASON_MALFORMED_REQUEST
                                              : WRIT_REASON_OVERLOADED,
                WRIT_LIT(""));
        } else {
            bridge->take(call, &(struct writ_http_end){
                                   .reason = WRIT_HTTP_NO_RESOURCES, .sent = WRIT_HTTP_NOT_SENT});
        }
    }
}

void
writ_bridge_call_send_all(struct writ_bridge *bridge)
{
    struct writ_bridge_call *call = TAILQ_FIRST(&bridge->calls), *next;

    for (; call != NULL; call = next) {
        next = TAILQ_NEXT(call, link);
        if (call->http == NULL) {
            writ_bridge_call_send(call);
        }
    }
}

void
writ_bridge_call_unlink(struct writ_bridge *bridge)
{
    if (bridge->linked) {
        bridge->linked = false;
        atomic_store(&bridge->wanted, true);
        (void)pthread_kill(bridge->waiter, SIGUSR1);
    }
}
