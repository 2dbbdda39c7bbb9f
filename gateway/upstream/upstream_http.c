/* upstream_http.c - upcalls over HTTP: sends the request, and reads the single answer or the
 * stream.
 *
 * Invariants:
 * (1) An upcall that was started has its state until its end, and is not touched after it.
 * (2) A response that was kept is the answer, whatever becomes of the rest of its stream. */
#include "gateway/upstream/upstream_http.h"

#include "gateway/auth/tokens.h"
#include "gateway/http/challenge.h"
#include "gateway/http/http_client.h"
#include "gateway/state/gateway.h"
#include "policy/model/scopes.h"

#define DEMANDS_US INT64_C(60000000) /* between two log lines about demanded scopes */
#define SCOPES_MAX 512               /* bytes of them in one */
#define OWN_FIELDS 6                 /* make_fields, and the token */
#define FIELDS_MAX (WRIT_UPCALL_HEADERS_MAX + OWN_FIELDS) /* of one request */

struct writ_upstream_http {
    const struct writ_upstream_config *config;
    struct writ_tokens *tokens; /* borrowed: has its credentials, under its index */
    size_t index;
    struct writ_http_client **clients; /* one per worker */
    size_t clients_n;
    atomic_int_least64_t demand_us; /* when a log line about demanded scopes may come next */
};

/* The state of an upcall. */
struct http_upcall {
    struct writ_upcall *call;
    struct writ_upstream_http *to;
    struct writ_http_call *http;
    struct writ_sse *sse;
    struct writ_tokens_shown *shown; /* or NULL */
    struct writ_buf body;
    struct writ_upcall_answer answer;
    bool broken_stream;
    bool may_be_lines; /* JSON, and the first line is not there yet */
    bool is_lines;
    bool kept;               /* the response of a stream, for a caller that takes none */
    struct writ_timer timer; /* from then on: until the stream is no longer waited for */
};

/* ---- answers ---- */

static void
http_free(struct http_upcall *state)
{
    writ_loop_timer_cancel(&state->timer);
    writ_sse_free(state->sse);
    writ_tokens_drop(state->shown);
    writ_buf_wipe(&state->body);
    writ_free(state);
}

static void
http_end(struct http_upcall *state)
{
    struct writ_upcall *call = state->call;
    struct writ_upcall_answer answer = state->answer;

    answer.body = writ_buf_view(&state->body);
    answer.whole = &state->body;
    call->state = NULL;
    call->ended(call, &answer); /* the answer's views live in `state` */
    http_free(state);
}

static bool
is_encoded(const struct writ_http_head *head)
{
    struct writ_view coding;

    return writ_http_response_field(head, "Content-Encoding", &coding) > 0 &&
           !writ_view_equal_nocase(coding, WRIT_LIT("identity"));
}

static bool
names_all(struct writ_view granted, struct writ_view scopes)
{
    while (scopes.len > 0) {
        struct writ_view scope = writ_scopes_next(&scopes);
        if (scope.len > 0 && !writ_scopes_has(granted, scope)) {
            return false;
        }
    }
    return true;
}

/* A server that demands scopes gets none on its word: a token has those of the configuration. */
static void
tell_demand(struct http_upcall *state, const struct writ_http_head *head)
{
    const struct writ_authorization_config *own = state->to->config->authorization;
    struct writ_worker *worker = state->call->worker;
    int64_t now_us = writ_loop_now_us(worker->loop);
    int64_t due_us = atomic_load(&state->to->demand_us);
    struct writ_view field = {NULL, 0}, scopes;

    (void)writ_http_response_field(head, "WWW-Authenticate", &field);
    if ((head->status != 401 && head->status != 403) || !writ_challenge_scope(field, &scopes) ||
        names_all(own != NULL ? own->scopes : WRIT_LIT(""), scopes) || now_us < due_us ||
        !atomic_compare_exchange_strong(&state->to->demand_us, &due_us, now_us + DEMANDS_US)) {
        return;
    }
    WRIT_LOG(worker->gateway->log, WRIT_EVENT_UPSTREAM_DEMANDS_SCOPE,
        writ_log_text("upstream", state->to->config->name),
        writ_log_int("status", (int64_t)head->status),
        writ_log_text("scopes", writ_view_sub(scopes, 0, SCOPES_MAX)));
}

static void
on_head(void *ctx, struct writ_http_call *http, const struct writ_http_head *head)
{
    struct http_upcall *state = ctx;
    const struct writ_sse_limits limits = {.line_bytes = state->call->request.event_max,
        .event_bytes = state->call->request.event_max};

    state->answer.status = head->status;
    state->call->begun = true;
    if (head->status == 401 && state->shown != NULL) {
        writ_tokens_refused(state->to->tokens, state->to->index, state->shown);
    }
    tell_demand(state, head);
    if (!is_encoded(head)) { /* else the body is unreadable */
        (void)writ_http_response_field(head, "Content-Type", &state->answer.content_type);
    }
    (void)writ_http_response_field(head, "Mcp-Session-Id", &state->answer.session);
    (void)writ_http_response_field(head, "Retry-After", &state->answer.retry_after);
    state->may_be_lines =
        state->call->request.lines && head->status == 200 &&
        writ_header_has_type(state->answer.content_type, WRIT_LIT("application/json"));
    if (head->status != 200 ||
        !writ_header_has_type(state->answer.content_type, WRIT_LIT("text/event-stream"))) {
        return;
    }
    state->call->begun = false; /* the answer is one of its events */
    state->answer.is_stream = true;
    state->sse = writ_sse_new(&limits);
    if (state->sse == NULL) {
        writ_http_client_cancel(http);
        return;
    }
    if (state->call->events->stream != NULL) {
        state->call->events->stream(state->call, &state->answer);
    }
}

/* Not by its text: the request, and the strings of an answer, may have any names. By its id, since
 * another response would end the wait for this one. */
static bool
is_response(const struct writ_mcp_message *to, struct writ_view data)
{
    writ_auto_arena arena = writ_arena_new(64 * data.len + 65536);
    const struct writ_json *message;

    return arena != NULL && writ_is_ok(writ_mcp_parse(data, arena, &message)) &&
           writ_json_get(message, WRIT_LIT("method")) == NULL &&
           (writ_json_get(message, WRIT_LIT("result")) != NULL ||
               writ_json_get(message, WRIT_LIT("error")) != NULL) &&
           (to == NULL || to->id == NULL ||
               writ_json_equal(writ_json_get(message, WRIT_LIT("id")), to->id));
}

/* The server has answered but does not end its stream: no later event matters. */
static void
stop_listening(struct writ_timer *timer)
{
    struct http_upcall *state = timer->ctx;

    writ_http_client_cancel(state->http);
}

/* For a caller that takes no stream: keeps the response as the body. */
static void
keep_response(struct http_upcall *state, const struct writ_sse_event *event)
{
    struct writ_loop *loop = state->call->worker->loop;

    if (event->kind != WRIT_SSE_EVENT || !is_response(state->call->request.message, event->data)) {
        return;
    }
    state->call->begun = true;
    writ_buf_put(&state->body, event->data);
    state->answer.content_type = WRIT_LIT("application/json");
    state->kept = true;
    state->timer = (struct writ_timer){.fn = stop_listening, .ctx = state};
    writ_loop_timer_set(loop, &state->timer, writ_loop_now_us(loop) + WRIT_UPCALL_REST_US);
}

/* ---- reading ahead, while an answer arrives */

static struct writ_view
arrived(const struct http_upcall *state)
{
    return state->sse != NULL ? writ_sse_arrived(state->sse) : writ_buf_view(&state->body);
}

/* What came is read and digested at once: it is still in the processor's cache, and other calls of
 * the loop wait for a piece of a long answer, never for the whole. */
static void
read_ahead(struct http_upcall *state)
{
    struct writ_ahead *ahead = state->call->request.ahead;

    if (ahead != NULL && !state->may_be_lines && !state->is_lines) {
        writ_ahead_feed(ahead, arrived(state));
    }
}

/* Another text follows. */
static void
begin_ahead(struct http_upcall *state)
{
    struct writ_ahead *ahead = state->call->request.ahead;

    if (ahead != NULL && ahead->looked) {
        writ_ahead_begin(ahead, ahead->member, ahead->least);
    }
}

static void
feed_events(struct http_upcall *state, struct writ_http_call *http, struct writ_view bytes)
{
    struct writ_sse_event event;

    while (!state->broken_stream && !state->kept) { /* keeps (2) */
        if (!writ_is_ok(writ_sse_next(state->sse, &bytes, &event, NULL))) {
            state->broken_stream = true;
            writ_http_client_cancel(http);
            return;
        }
        if (event.kind == WRIT_SSE_NONE) {
            read_ahead(state);
            return;
        }
        if (state->call->events->event != NULL) {
            state->call->events->event(state->call, &event);
        } else {
            keep_response(state, &event);
        }
        begin_ahead(state);
    }
}

/* A server may stream messages as lines of JSON under application/json, which the conformance suite
 * takes on subscriptions/listen: such a body has no end to wait for. A first line that is a whole
 * message, and not the response, tells it from a body. */
static bool
begins_lines(const struct http_upcall *state, struct writ_view line)
{
    writ_auto_arena arena = writ_arena_new(64 * line.len + 65536);
    struct writ_json_limits limits = writ_json_limits_default;
    const struct writ_json *message;

    limits.bytes = limits.string_bytes = state->call->request.event_max;
    return line.len > 0 && line.ptr[0] == '{' && line.ptr[line.len - 1] == '}' && arena != NULL &&
           writ_is_ok(writ_json_read(line, &limits, arena, &message, NULL)) &&
           writ_json_get(message, WRIT_LIT("method")) != NULL;
}

static void
tell_line(struct http_upcall *state, struct writ_view line)
{
    const struct writ_sse_event event = {.kind = WRIT_SSE_EVENT,
        .event = WRIT_LIT("message"),
        .data = line,
        .retry_ms = WRIT_SSE_NO_RETRY};

    if (line.len > 0 && state->call->events->event != NULL) {
        state->call->events->event(state->call, &event);
    }
}

static void
feed_lines(struct http_upcall *state)
{
    struct writ_view rest = writ_buf_view(&state->body);
    size_t end = writ_view_find(rest, '\n');

    if (state->may_be_lines && end < rest.len) {
        state->may_be_lines = false;
        state->is_lines = begins_lines(state, writ_view_trim(writ_view_sub(rest, 0, end)));
        state->answer.is_stream = state->is_lines;
        if (state->is_lines && state->call->events->stream != NULL) {
            state->call->events->stream(state->call, &state->answer);
        }
    }
    while (state->is_lines && end < rest.len) {
        tell_line(state, writ_view_trim(writ_view_sub(rest, 0, end)));
        rest = writ_view_sub(rest, end + 1, rest.len);
        end = writ_view_find(rest, '\n');
    }
    if (state->is_lines) {
        writ_buf_consume(&state->body, state->body.len - rest.len);
    }
}

static void
on_body(void *ctx, struct writ_http_call *http, struct writ_view bytes)
{
    struct http_upcall *state = ctx;

    if (state->sse != NULL) {
        feed_events(state, http, bytes);
        return;
    }
    writ_buf_put(&state->body, bytes);
    if (!writ_is_ok(writ_buf_check(&state->body, NULL))) {
        writ_http_client_cancel(http); /* too long: end_of says so */
        return;
    }
    if (state->may_be_lines || state->is_lines) {
        feed_lines(state);
    }
    read_ahead(state);
}

static enum writ_upcall_end
end_of(const struct http_upcall *state, enum writ_http_reason reason)
{
    if (state->kept && writ_is_ok(writ_buf_check(&state->body, NULL))) {
        return WRIT_UPCALL_ANSWERED; /* keeps (2) */
    }
    switch (reason) {
    case WRIT_HTTP_OK:
        return writ_is_ok(writ_buf_check(&state->body, NULL)) && !state->broken_stream
                   ? WRIT_UPCALL_ANSWERED
                   : WRIT_UPCALL_TOO_LARGE;
    case WRIT_HTTP_CANCELLED:
        return state->broken_stream || !writ_is_ok(writ_buf_check(&state->body, NULL))
                   ? WRIT_UPCALL_TOO_LARGE
                   : WRIT_UPCALL_CANCELLED;
    case WRIT_HTTP_CONNECT_TIMEOUT:
    case WRIT_HTTP_HEAD_TIMEOUT:
    case WRIT_HTTP_IDLE_TIMEOUT:
    case WRIT_HTTP_TOTAL_TIMEOUT:
        return WRIT_UPCALL_TIMEOUT;
    case WRIT_HTTP_BODY_TOO_LARGE:
        return WRIT_UPCALL_TOO_LARGE;
    case WRIT_HTTP_UNSET:
    case WRIT_HTTP_RESOLVE_FAILED:
    case WRIT_HTTP_CONNECT_FAILED:
    case WRIT_HTTP_TLS_FAILED:
    case WRIT_HTTP_NO_RESOURCES:
    case WRIT_HTTP_WITHHELD:
    case WRIT_HTTP_CLOSED_EARLY:
    case WRIT_HTTP_WRITE_FAILED:
    case WRIT_HTTP_PROTOCOL_ERROR:
    case WRIT_HTTP_HEAD_TOO_LARGE:
        break;
    }
    return WRIT_UPCALL_BROKEN;
}

static void
on_end(void *ctx, struct writ_http_call *http, const struct writ_http_end *end)
{
    struct http_upcall *state = ctx;

    (void)http;
    if (state->is_lines && end->reason == WRIT_HTTP_OK) {
        tell_line(state, writ_view_trim(writ_buf_view(&state->body))); /* the last needs no end */
    }
    state->answer.end = end_of(state, end->reason);
    state->answer.sent = end->sent == WRIT_HTTP_NOT_SENT ? WRIT_NOT_SENT : WRIT_SENT;
    state->answer.detail = writ_http_response_reason(end->reason);
    http_end(state);
}

static const struct writ_http_handler http_handler = {on_head, on_body, on_end};

/* ---- requests ---- */

static const char *
method_name(enum writ_method method)
{
    switch (method) {
    case WRIT_METHOD_GET:
        return "GET";
    case WRIT_METHOD_DELETE:
        return "DELETE";
    case WRIT_METHOD_POST:
    case WRIT_METHOD_OPTIONS:
    case WRIT_METHOD_NONE:
        break;
    }
    return "POST";
}

static void
add_field(struct writ_header *fields, size_t *count, struct writ_view name, struct writ_view value)
{
    if (value.ptr != NULL) {
        fields[(*count)++] = (struct writ_header){name, value};
    }
}

static struct writ_view
accept_of(const struct writ_upcall_request *request)
{
    if (request->method == WRIT_METHOD_GET) {
        return WRIT_LIT("text/event-stream");
    }
    return request->accept.ptr != NULL ? request->accept
                                       : WRIT_LIT("application/json, text/event-stream");
}

static size_t
make_fields(const struct writ_upcall_request *request, struct writ_header fields[FIELDS_MAX])
{
    size_t count = 0;

    if (request->method == WRIT_METHOD_POST) {
        add_field(fields, &count, WRIT_LIT("Content-Type"), WRIT_LIT("application/json"));
    }
    add_field(fields, &count, WRIT_LIT("Accept"), accept_of(request));
    add_field(fields, &count, WRIT_LIT("Accept-Encoding"), WRIT_LIT("identity"));
    add_field(fields, &count, WRIT_LIT("MCP-Protocol-Version"), request->version);
    add_field(fields, &count, WRIT_LIT("Mcp-Session-Id"),
        request->session.len > 0 ? request->session : (struct writ_view){NULL, 0});
    for (size_t i = 0; i < request->headers_n && count < FIELDS_MAX; i++) {
        add_field(fields, &count, request->headers[i].name, request->headers[i].value);
    }
    return count;
}

/* What the gateway itself shows, if the upstream wants something. WRIT_E_ABSENT: there is none. */
static writ_result
add_shown(struct http_upcall *state, struct writ_header *fields, size_t *count)
{
    const struct writ_upstream_http *to = state->to;

    if (!writ_tokens_wants(to->tokens, to->index)) {
        return WRIT_DONE;
    }
    state->shown = writ_tokens_hold(to->tokens, to->index);
    if (state->shown == NULL || *count == FIELDS_MAX) {
        return (writ_result){state->shown == NULL ? WRIT_E_ABSENT : WRIT_E_LIMIT};
    }
    fields[(*count)++] = writ_tokens_header(state->shown);
    return WRIT_DONE;
}

static writ_result
http_send(struct writ_worker *worker, struct http_upcall *state)
{
    const struct writ_upcall *call = state->call;
    struct writ_header fields[FIELDS_MAX];
    struct writ_http_request request = {
        .method = writ_view_str(method_name(call->request.method)),
        .target = state->to->config->path,
        .fields = fields,
        .count = make_fields(&call->request, fields),
        .body = call->request.body,
        .body_max = WRIT_HTTP_UNLIMITED, /* a stream has no end; `body` and `sse` have limits */
        .head_us = call->request.timeout_us,
        .idle_us = call->request.timeout_us,
        .total_us = call->request.total_us,
        .fresh_us = call->request.once ? WRIT_HTTP_FRESH_US : 0,
        .may_begin = call->request.may_begin,
        .begin_ctx = call->request.begin_ctx,
        .endless = call->request.timeout_us == 0,
    };

    WRIT_TRY(add_shown(state, fields, &request.count));
    return writ_http_client_send(
        state->to->clients[worker->index], &request, &http_handler, state, &state->http, NULL);
}

writ_result
writ_upstream_http_start(
    struct writ_upstream_http *http, struct writ_worker *worker, struct writ_upcall *call)
{
    struct http_upcall *state = writ_alloc(sizeof *state);
    writ_result r;

    if (state == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    state->call = call;
    state->to = http;
    state->body = writ_buf_make(call->request.body_max);
    begin_ahead(state);
    call->state = state;
    r = http_send(worker, state);
    if (!writ_is_ok(r)) {
        call->state = NULL;
        http_free(state);
    }
    return r;
}

void
writ_upstream_http_cancel(struct writ_upcall *call)
{
    struct http_upcall *state = call->state;

    writ_http_client_cancel(state->http);
}

void
writ_upstream_http_pause(struct writ_upcall *call)
{
    struct http_upcall *state = call->state;

    writ_http_client_pause(state->http);
}

void
writ_upstream_http_resume(struct writ_upcall *call)
{
    struct http_upcall *state = call->state;

    writ_http_client_resume(state->http);
}

/* Adds the gateway's own credential, if the upstream needs one. WRIT_E_ABSENT: there is none. */

static writ_result
open_clients(struct writ_upstream_http *http, struct writ_gateway *gateway, struct writ_err *err)
{
    const struct writ_upstream_config *config = http->config;
    const struct writ_http_options options = {
        .url = config->http,
        .ca_file = config->ca.len > 0 ? config->ca.ptr : NULL,
        .connections_max = (size_t)config->connections,
        .connect_us = config->connect_timeout_us,
    };

    http->clients = writ_alloc(gateway->workers_n * sizeof *http->clients);
    if (http->clients == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for the upstream's connections");
    }
    http->clients_n = gateway->workers_n;
    for (size_t i = 0; i < gateway->workers_n; i++) {
        WRIT_TRY(writ_http_client_open(
            gateway->workers[i].loop, gateway->resolver, &options, &http->clients[i], err));
    }
    return WRIT_DONE;
}

static void
http_freep(struct writ_upstream_http **http)
{
    writ_upstream_http_close(*http);
}

writ_result
writ_upstream_http_open(struct writ_gateway *gateway, const struct writ_upstream_config *config,
    size_t index, struct writ_upstream_http **ret, struct writ_err *err)
{
    WRIT_AUTO(struct writ_upstream_http *, http_freep) http = writ_alloc(sizeof *http);

    if (http == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for an upstream");
    }
    http->config = config;
    http->tokens = gateway->tokens;
    http->index = index;
    WRIT_TRY(open_clients(http, gateway, err));
    *ret = WRIT_TAKE(http);
    return WRIT_DONE;
}

void
writ_upstream_http_expire(struct writ_upstream_http *http, const struct writ_worker *worker)
{
    writ_http_client_expire(http->clients[worker->index]);
}

void
writ_upstream_http_close(struct writ_upstream_http *http)
{
    if (http == NULL) {
        return;
    }
    for (size_t i = 0; i < http->clients_n; i++) {
        writ_http_client_close(http->clients[i]);
    }
    writ_free(http->clients);
    writ_free(http);
}
