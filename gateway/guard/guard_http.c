/* guard_http.c - one exchange of a guard.
 *
 * Invariants:
 * (1) Only `pass_on` sends a tools/call, and only `asked` reaches it, with an ask that is ok.
 * (2) Each exchange is answered once: by a refusal before anything was sent, or from the end of its
 *     call upstream.
 * (3) Every message gets new framing in both directions; fields of one hop stay at that hop. */
#include "gateway/guard/guard_http.h"

#include "base/text.h"
#include "gateway/guard/guard_ask.h"
#include "gateway/guard/guard_http_look.h"
#include "gateway/guard/guard_message.h"
#include "gateway/http/http_client.h"
#include "gateway/listener/listener.h"
#include "gateway/request/refusal.h"

#define FIELDS_MAX  128
#define ARENA_MAX   ((size_t)256 << 20)
#define REFUSAL_MAX 16384
#define DRAIN_US    5000000
#define PROBE_MS    1000
#define CONNECTIONS 1024
#define BODIES_MAX  (16 * WRIT_GUARD_BODY_MAX) /* of all that are not answered */

struct http {
    struct writ_guard *guard;
    struct writ_listener *listener;
    struct writ_http_client *client;
    struct writ_route route;
};

/* One exchange; in its arena. */
struct proxied {
    struct http *http;
    struct writ_exchange *x;
    struct writ_guard_message message;
    struct writ_guard_http_look *look; /* while the server is asked */
    struct writ_http_call *call;
    const struct writ_http_head *head; /* of the answer, until its end */
    struct writ_header fields[FIELDS_MAX];
    size_t fields_n;
    struct writ_buf held; /* bytes that the client does not take now */
    bool streaming;
};

/* ---- fields */

/* RFC 9110 7.6.1, and the fields that each side writes itself. */
static bool
is_of_one_hop(struct writ_view name, struct writ_view connection)
{
    static const char *const hop[] = {"Connection", "Keep-Alive", "Proxy-Connection", "TE",
        "Trailer", "Transfer-Encoding", "Upgrade", "Expect", "Host", "Content-Length",
        "Proxy-Authenticate", "Proxy-Authorization", "Proxy-Authentication-Info"};

    for (size_t i = 0; i < sizeof hop / sizeof hop[0]; i++) {
        if (writ_view_equal_nocase(name, writ_view_str(hop[i]))) {
            return true;
        }
    }
    while (connection.len > 0) {
        struct writ_view word = writ_view_sub(connection, 0, writ_view_find(connection, ','));

        if (writ_view_equal_nocase(name, writ_view_trim(word))) {
            return true;
        }
        connection = writ_view_sub(connection, word.len + 1, connection.len);
    }
    return false;
}

/* Copies the forwarded fields. False: too many. */
static bool
copy_fields(struct proxied *p, const struct writ_header *fields, size_t n, struct writ_view hops)
{
    p->fields_n = 0;
    for (size_t i = 0; i < n; i++) {
        if (is_of_one_hop(fields[i].name, hops)) {
            continue;
        }
        if (p->fields_n == FIELDS_MAX) {
            return false;
        }
        p->fields[p->fields_n++] = fields[i];
    }
    return true;
}

/* ---- refusals */

static unsigned
status_of(enum writ_reason reason)
{
    return reason == WRIT_REASON_MISSING_CREDENTIAL                                   ? 401
           : reason == WRIT_REASON_OVERLOADED || reason == WRIT_REASON_INTERNAL_ERROR ? 503
                                                                                      : 403;
}

static void
reply_json(struct writ_exchange *x, unsigned status, const struct writ_buf *body)
{
    const struct writ_header headers[] = {
        WRIT_HEADER_JSON, {WRIT_LIT("Cache-Control"), WRIT_LIT("no-store")}};

    if (!writ_is_ok(writ_buf_check(body, NULL))) {
        writ_exchange_reply(x, 500, NULL, 0, writ_view(NULL, 0));
        return;
    }
    writ_exchange_reply(x, status, headers, 2, writ_buf_view(body));
}

static void
reply_fault(struct proxied *p)
{
    writ_auto_buf body = writ_buf_make(REFUSAL_MAX);

    writ_guard_message_put_fault(&body, &p->message);
    reply_json(p->x, (unsigned)p->message.fault.status, &body);
}

static void
reply_no(struct proxied *p)
{
    writ_auto_buf body = writ_buf_make(REFUSAL_MAX);

    writ_guard_message_put_no(&body, &p->message);
    reply_json(p->x, status_of(p->message.ask.reason), &body);
}

static void
reply_broken(struct proxied *p, enum writ_reason reason)
{
    writ_auto_buf body = writ_buf_make(REFUSAL_MAX);

    writ_refusal_put_error(&body, p->message.id, reason);
    reply_json(p->x, reason == WRIT_REASON_OVERLOADED ? 503 : 502, &body);
}

/* ---- the answer of the server */

static void
begin_stream(struct proxied *p)
{
    p->streaming = true;
    writ_exchange_stream(p->x, p->head->status, p->fields, p->fields_n);
}

static void
on_head(void *ctx, struct writ_http_call *call, const struct writ_http_head *head)
{
    struct proxied *p = ctx;
    struct writ_view connection = {NULL, 0}, type = {NULL, 0};

    (void)writ_http_response_field(head, "Connection", &connection);
    (void)writ_http_response_field(head, "Content-Type", &type);
    p->head = head;
    if (!copy_fields(p, head->fields, head->count, connection)) {
        p->head = NULL;
        writ_http_client_cancel(call);
        return;
    }
    if (writ_header_has_type(type, WRIT_LIT("text/event-stream"))) {
        begin_stream(p); /* its head is awaited, whenever the first event comes */
    }
}

static void
on_room(struct writ_exchange *x, void *ctx)
{
    struct proxied *p = ctx;

    if (p->held.len == 0 || !writ_is_ok(writ_exchange_write(x, writ_buf_view(&p->held)))) {
        return;
    }
    writ_buf_clear(&p->held);
    if (p->call != NULL) {
        writ_http_client_resume(p->call);
    }
}

/* Bytes that the client does not take wait here, and the server is paused. */
static void
on_body(void *ctx, struct writ_http_call *call, struct writ_view bytes)
{
    struct proxied *p = ctx;

    if (p->head == NULL) {
        return;
    }
    if (!p->streaming) {
        begin_stream(p);
    }
    if (!writ_is_ok(writ_exchange_write(p->x, bytes))) {
        writ_buf_put(&p->held, bytes);
        writ_http_client_pause(call);
    }
}

static void
on_end(void *ctx, struct writ_http_call *call, const struct writ_http_end *end)
{
    struct proxied *p = ctx;
    bool whole = end->reason == WRIT_HTTP_OK && writ_is_ok(writ_buf_check(&p->held, NULL));

    (void)call;
    p->call = NULL;
    writ_exchange_on_gone(p->x, NULL, NULL);
    if (!whole && !p->streaming) {
        reply_broken(p, end->sent == WRIT_HTTP_NOT_SENT ? WRIT_REASON_UPSTREAM_UNAVAILABLE
                                                        : WRIT_REASON_UPSTREAM_FAILED);
    } else if (!whole) {
        writ_exchange_abort(p->x);
    } else if (!p->streaming) {
        writ_exchange_reply(p->x, p->head->status, p->fields, p->fields_n, writ_view(NULL, 0));
    } else {
        writ_exchange_end(p->x);
    }
}

static const struct writ_http_handler handler = {on_head, on_body, on_end};

static void
on_gone(struct writ_exchange *x, void *ctx)
{
    struct proxied *p = ctx;

    (void)x;
    if (p->call != NULL) {
        writ_http_client_cancel(p->call);
    }
}

/* ---- the request */

static struct writ_view
target_of(const struct writ_exchange *x)
{
    struct writ_buf target = writ_buf_in(x->arena, x->path.len + x->query.len + 1);

    writ_buf_put(&target, x->path);
    if (x->query.len > 0) {
        writ_buf_byte(&target, '?');
        writ_buf_put(&target, x->query);
    }
    return writ_is_ok(writ_buf_check(&target, NULL)) ? writ_buf_view(&target) : writ_view(NULL, 0);
}

static struct writ_view
method_name(enum writ_method method)
{
    switch (method) {
    case WRIT_METHOD_GET:
        return WRIT_LIT("GET");
    case WRIT_METHOD_POST:
        return WRIT_LIT("POST");
    case WRIT_METHOD_DELETE:
        return WRIT_LIT("DELETE");
    case WRIT_METHOD_OPTIONS:
        return WRIT_LIT("OPTIONS");
    case WRIT_METHOD_NONE:
        break;
    }
    return writ_view(NULL, 0);
}

static void
pass_on(struct proxied *p)
{
    size_t n;
    const struct writ_header *fields = writ_exchange_headers(p->x, &n);
    struct writ_http_request request = {
        .method = method_name(p->x->method),
        .target = target_of(p->x),
        .fields = p->fields,
        .body = p->x->body,
        .body_max = WRIT_HTTP_UNLIMITED,
        .fresh_us = WRIT_HTTP_FRESH_US, /* a credential is valid for one call */
        .endless = p->x->method == WRIT_METHOD_GET,
    };

    p->held = writ_buf_in(p->x->arena, 2 * WRIT_HTTP_CHUNK_BYTES);
    if (!copy_fields(p, fields, n, writ_exchange_list(p->x, WRIT_LIT("Connection")))) {
        reply_broken(p, WRIT_REASON_HEAD_TOO_LARGE);
        return;
    }
    request.count = p->fields_n;
    if (!writ_is_ok(
            writ_http_client_send(p->http->client, &request, &handler, p, &p->call, NULL))) {
        reply_broken(p, WRIT_REASON_OVERLOADED);
        return;
    }
    writ_exchange_on_room(p->x, on_room, p);
    writ_exchange_on_gone(p->x, on_gone, p);
    writ_exchange_probe(p->x, PROBE_MS);
}

/* Copies from the memory of the exchange, which its answer frees. */
static struct writ_verify_answer
take_answer(struct writ_guard_ask *ask)
{
    struct writ_verify_answer answer = ask->answer;

    ask->answer = (struct writ_verify_answer){0};
    return answer;
}

static void
asked(struct writ_guard_ask *ask)
{
    struct proxied *p = ask->ctx;
    struct writ_verify_answer answer = take_answer(ask);

    p->look = NULL;
    writ_exchange_on_gone(p->x, NULL, NULL);
    if (ask->ok) {
        pass_on(p); /* keeps (1) */
    } else {
        reply_no(p);
    }
    writ_verify_wipe(&answer);
}

/* The only credential of the head. False: several. */
static bool
head_token(const struct proxied *p, struct writ_view *ret)
{
    struct writ_view name = p->http->guard->options->header;
    size_t n, found = 0;
    const struct writ_header *fields = writ_exchange_headers(p->x, &n);

    *ret = writ_view(NULL, 0);
    for (size_t i = 0; i < n; i++) {
        if (writ_view_equal_nocase(fields[i].name, name)) {
            *ret = fields[i].value;
            found++;
        }
    }
    return found <= 1;
}

static void
gone_while_asking(struct writ_exchange *x, void *ctx)
{
    struct proxied *p = ctx;

    if (p->look != NULL) {
        writ_guard_http_look_cancel(p->look); /* its end refuses the call */
    } else if (writ_guard_ask_forget(p->http->guard, &p->message.ask)) {
        writ_exchange_reply(x, 503, NULL, 0, writ_view(NULL, 0)); /* the client has left */
    }
}

/* The probe takes the way of the call. */
static WRIT_RESULT
look(struct writ_guard_ask *ask, struct writ_view question)
{
    struct proxied *p = ask->ctx;

    return writ_guard_http_look_start(
        p->http->client, p->x, target_of(p->x), ask, question, &p->look);
}

static void
ask(struct proxied *p)
{
    p->message.ask.done = asked;
    p->message.ask.ctx = p;
    writ_exchange_on_gone(p->x, gone_while_asking, p);
    writ_exchange_probe(p->x, PROBE_MS);
    writ_guard_ask(p->http->guard, &p->message.ask);
}

static void
handle_post(struct proxied *p)
{
    const struct writ_mcp_headers headers = {
        .version = writ_exchange_header(p->x, WRIT_LIT("MCP-Protocol-Version")),
        .method = writ_exchange_header(p->x, WRIT_LIT("Mcp-Method")),
        .name = writ_exchange_header(p->x, WRIT_LIT("Mcp-Name")),
    };
    struct writ_view token;

    if (!head_token(p, &token)) {
        p->message.fault = (struct writ_mcp_fault){
            403, WRIT_REFUSAL_CODE, WRIT_REASON_MALFORMED, "the head has several credentials"};
        reply_fault(p);
        return;
    }
    switch (writ_guard_message_read(
        p->http->guard, p->x->body, &headers, token, p->x->arena, &p->message)) {
    case WRIT_GUARD_REFUSE:
        reply_fault(p);
        return;
    case WRIT_GUARD_DROP:
        writ_exchange_reply(p->x, 202, NULL, 0, writ_view(NULL, 0));
        return;
    case WRIT_GUARD_PASS:
        pass_on(p);
        return;
    case WRIT_GUARD_CALL:
        ask(p);
        return;
    }
}

static struct proxied *
proxied_of(struct writ_exchange *x, void *ctx)
{
    struct proxied *p = writ_arena_get(x->arena, sizeof *p);

    if (p == NULL) {
        writ_refusal_overloaded(x);
        return NULL;
    }
    *p = (struct proxied){.http = ctx, .x = x};
    return p;
}

static void
handle(struct writ_exchange *x, void *ctx)
{
    struct proxied *p = proxied_of(x, ctx);

    if (p == NULL) {
        return;
    }
    if (x->method == WRIT_METHOD_POST) {
        handle_post(p);
    } else {
        pass_on(p); /* calls no tool */
    }
}

/* ---- the question of another proxy */

static void
add(struct proxied *p, const char *name, struct writ_view value)
{
    if (value.len > 0 && writ_text_is_field(value)) {
        p->fields[p->fields_n++] = (struct writ_header){writ_view_str(name), value};
    }
}

static void
answered(struct writ_guard_ask *ask)
{
    struct proxied *p = ask->ctx;
    struct writ_verify_answer answer = take_answer(ask);

    writ_exchange_on_gone(p->x, NULL, NULL);
    p->fields_n = 0;
    add(p, "Cache-Control", WRIT_LIT("no-store"));
    if (ask->ok) {
        add(p, WRIT_GUARD_FIELD_AGENT, answer.agent_id);
        add(p, WRIT_GUARD_FIELD_TENANT, answer.tenant);
        add(p, WRIT_GUARD_FIELD_DECISION, answer.jti);
        add(p, WRIT_GUARD_FIELD_PARAMS_HASH, answer.params_hash);
        add(p, WRIT_GUARD_FIELD_STATE, answer.target_state_digest);
    } else {
        add(p, WRIT_GUARD_FIELD_REASON, writ_reason_name(ask->reason));
    }
    writ_exchange_reply(
        p->x, ask->ok ? 204 : status_of(ask->reason), p->fields, p->fields_n, writ_view(NULL, 0));
    writ_verify_wipe(&answer);
}

static void
reply_reason(struct proxied *p, unsigned status, enum writ_reason reason)
{
    p->fields_n = 0;
    add(p, WRIT_GUARD_FIELD_REASON, writ_reason_name(reason));
    writ_exchange_reply(p->x, status, p->fields, p->fields_n, writ_view(NULL, 0));
}

/* The other proxy names the call; without a tool no credential is valid. */
static void
check(struct writ_exchange *x, void *ctx)
{
    struct proxied *p = proxied_of(x, ctx);
    struct writ_guard_ask *ask;

    if (p == NULL) {
        return;
    }
    ask = &p->message.ask;
    ask->tool = writ_exchange_header(x, WRIT_LIT(WRIT_GUARD_FIELD_TOOL));
    ask->params_hash = writ_exchange_header(x, WRIT_LIT(WRIT_GUARD_FIELD_PARAMS_HASH));
    ask->target_state = writ_exchange_header(x, WRIT_LIT(WRIT_GUARD_FIELD_STATE));
    ask->state_is_known = ask->target_state.ptr != NULL;
    ask->any_arguments = ask->params_hash.ptr == NULL;
    if (!head_token(p, &ask->token)) {
        reply_reason(p, 403, WRIT_REASON_MALFORMED);
    } else if (ask->token.len == 0) {
        reply_reason(p, 401, WRIT_REASON_MISSING_CREDENTIAL);
    } else if (ask->tool.len == 0) {
        reply_reason(p, 403, WRIT_REASON_SCOPE_MISMATCH);
    } else if (ask->params_hash.ptr != NULL && !writ_digest_is(ask->params_hash)) {
        reply_reason(p, 403, WRIT_REASON_ARGS_MISMATCH);
    } else if (ask->target_state.len > 0 && !writ_digest_is(ask->target_state)) {
        reply_reason(p, 403, WRIT_REASON_STATE_DRIFT);
    } else {
        ask->done = answered;
        ask->ctx = p;
        writ_exchange_on_gone(x, gone_while_asking, p);
        writ_guard_ask(p->http->guard, ask);
    }
}

/* ---- life */

static WRIT_RESULT
open_client(struct http *http, struct writ_err *err)
{
    const struct writ_guard_options *options = http->guard->options;
    const struct writ_http_options client = {
        .url = options->upstream, .connections_max = CONNECTIONS};
    size_t scheme = writ_view_search(options->upstream, WRIT_LIT("://"));
    struct writ_view authority = writ_view_sub(options->upstream, scheme + 3, SIZE_MAX);

    if (writ_view_find(authority, '/') != authority.len) {
        WRIT_FAIL(err, WRIT_E_INVALID,
            "the server is named without a path: the path of a request is passed on");
    }
    http->guard->look = look;
    return writ_http_client_open(
        http->guard->loop, http->guard->resolver, &client, &http->client, err);
}

WRIT_RESULT
writ_guard_http_open(struct writ_guard *guard, void **ret, struct writ_err *err)
{
    const struct writ_guard_options *options = guard->options;
    struct http *http = writ_alloc(sizeof *http);
    bool proxy = options->form == WRIT_GUARD_HTTP;
    struct writ_listener_options listener;

    if (http == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for a guard");
    }
    *ret = http;
    http->guard = guard;
    if (proxy) {
        WRIT_TRY(open_client(http, err));
    }
    http->route = (struct writ_route){
        .path = proxy ? WRIT_LIT("/") : WRIT_LIT("/check"),
        .prefix = proxy,
        .methods = proxy ? WRIT_ROUTE_GET | WRIT_ROUTE_POST | WRIT_ROUTE_DELETE | WRIT_ROUTE_OPTIONS
                         : WRIT_ROUTE_GET,
        .json = proxy,
        .max_body_bytes = proxy ? WRIT_GUARD_BODY_MAX : 0,
        .handler = proxy ? handle : check,
        .ctx = http,
    };
    listener = (struct writ_listener_options){
        .address = options->listen,
        .routes = &http->route,
        .route_count = 1,
        .hosts = &options->host,
        .host_count = options->host.len > 0 ? 1 : 0,
        .clock = options->clock,
        .max_head_bytes = WRIT_HTTP_REQUEST_HEAD_MAX,
        .max_arena_bytes = ARENA_MAX,
        .max_bodies_bytes = BODIES_MAX,
    };
    WRIT_TRY(writ_listener_open(&listener, &guard->loop, 1, &http->listener, err));
    WRIT_LOG(options->log, WRIT_EVENT_LISTENING, writ_log_text("address", options->listen),
        writ_log_int("port", writ_listener_port(http->listener)));
    return WRIT_DONE;
}

bool
writ_guard_http_is_over(void *form)
{
    (void)form;
    return false;
}

static bool
is_drained(void *form)
{
    struct http *http = form;

    return writ_listener_is_settled(http->listener) &&
           writ_listener_open_exchanges(http->listener) == 0;
}

void
writ_guard_http_drain(void *form)
{
    struct http *http = form;

    writ_listener_drain(http->listener);
    writ_clock_wait(http->guard->options->clock, DRAIN_US, is_drained, http);
}

void
writ_guard_http_close(void *form)
{
    struct http *http = form;

    if (http == NULL) {
        return;
    }
    writ_http_client_close(http->client);
    writ_listener_free(http->listener);
    writ_free(http);
}
