/* discover_http.c - a tool server over HTTP, asked by one POST for each message. The answer is the
 * body, or the one event of a stream that answers; the rest of a stream is not waited for. */
#include "gateway/discover/discover_http.h"

#include "gateway/http/http_client.h"
#include "gateway/http/sse.h"

#define FIELDS_MAX  8
#define SESSION_MAX 1024
#define DELETE_US   (INT64_C(2) * 1000 * 1000)

struct http_link {
    struct writ_discover_link link;
    const struct writ_header *shown; /* borrowed; or NULL */
    struct writ_http_client *client;
    struct writ_buf session, revision; /* of the session; empty: there is none */
    /* of the message that is under way */
    struct writ_http_call *call;
    struct writ_sse *sse; /* NULL: the answer is not a stream */
    struct writ_buf answer;
    int64_t id;
    unsigned status;
    bool found, failed;
    struct writ_http_end end;
};

/* ---- the answer */

static void
on_head(void *ctx, struct writ_http_call *call, const struct writ_http_head *head)
{
    static const struct writ_sse_limits limits = {
        .line_bytes = WRIT_DISCOVER_ANSWER_MAX, .event_bytes = WRIT_DISCOVER_ANSWER_MAX};
    struct http_link *link = ctx;
    struct writ_view type = {NULL, 0}, session = {NULL, 0};

    link->status = head->status;
    (void)writ_http_response_field(head, "Content-Type", &type);
    if (writ_http_response_field(head, "Mcp-Session-Id", &session) == 1) {
        writ_buf_clear(&link->session);
        writ_buf_put(&link->session, session);
    }
    if (head->status == 200 && writ_header_has_type(type, WRIT_LIT("text/event-stream"))) {
        link->sse = writ_sse_new(&limits);
        if (link->sse == NULL) {
            link->failed = true;
            writ_http_client_cancel(call);
        }
    }
}

static void
take_events(struct http_link *link, struct writ_http_call *call, struct writ_view bytes)
{
    struct writ_sse_event event;

    do {
        if (!writ_is_ok(writ_sse_next(link->sse, &bytes, &event, NULL))) {
            link->failed = true;
            writ_http_client_cancel(call);
            return;
        }
        if (event.kind == WRIT_SSE_EVENT && writ_discover_link_is_answer(event.data, link->id)) {
            writ_buf_put(&link->answer, event.data);
            link->found = true;
            writ_http_client_cancel(call);
            return;
        }
    } while (event.kind != WRIT_SSE_NONE);
}

static void
on_body(void *ctx, struct writ_http_call *call, struct writ_view bytes)
{
    struct http_link *link = ctx;

    if (link->found || link->failed) {
        return;
    }
    if (link->sse != NULL) {
        take_events(link, call, bytes);
    } else {
        writ_buf_put(&link->answer, bytes);
    }
}

static void
on_end(void *ctx, struct writ_http_call *call, const struct writ_http_end *end)
{
    struct http_link *link = ctx;

    (void)call;
    link->call = NULL;
    link->end = *end;
    link->end.detail = NULL; /* borrowed for this call */
    if (end->reason == WRIT_HTTP_OK && link->sse == NULL && !link->failed) {
        link->found = writ_discover_link_is_answer(writ_buf_view(&link->answer), link->id);
    }
    writ_sse_free(WRIT_TAKE(link->sse));
    writ_discover_link_wake(&link->link);
}

static const struct writ_http_handler handler = {on_head, on_body, on_end};

/* ---- sending */

static void
add(struct writ_header *fields, size_t *n, struct writ_view name, struct writ_view value)
{
    if (value.len > 0) {
        fields[(*n)++] = (struct writ_header){name, value};
    }
}

static size_t
make_fields(const struct http_link *link, const struct writ_discover_message *message,
    struct writ_header fields[FIELDS_MAX])
{
    size_t n = 0;

    add(fields, &n, WRIT_LIT("Accept"), WRIT_LIT("application/json, text/event-stream"));
    add(fields, &n, WRIT_LIT("Accept-Encoding"), WRIT_LIT("identity"));
    if (message->body.len > 0) {
        add(fields, &n, WRIT_LIT("Content-Type"), WRIT_LIT("application/json"));
    }
    add(fields, &n, WRIT_LIT("MCP-Protocol-Version"), message->revision);
    if (message->modern) {
        add(fields, &n, WRIT_LIT("Mcp-Method"), message->method);
    } else {
        add(fields, &n, WRIT_LIT("Mcp-Session-Id"), writ_buf_view(&link->session));
    }
    if (link->shown != NULL) {
        fields[n++] = *link->shown;
    }
    return n;
}

static WRIT_RESULT
exchange(struct http_link *link, const char *method, const struct writ_discover_message *message,
    struct writ_err *err)
{
    struct writ_header fields[FIELDS_MAX];
    struct writ_http_request request = {
        .method = writ_view_str(method),
        .target = link->link.server->path,
        .fields = fields,
        .count = make_fields(link, message, fields),
        .body = message->body,
        .body_max = WRIT_DISCOVER_ANSWER_MAX,
    };
    writ_result r;

    writ_buf_clear(&link->answer);
    link->id = message->id;
    link->status = 0;
    link->found = link->failed = false;
    r = writ_http_client_send(link->client, &request, &handler, link, &link->call, err);
    while (writ_is_ok(r) && link->call != NULL) {
        r = writ_discover_link_run(&link->link, message->within_us, err);
        if (link->link.late && link->call != NULL) {
            writ_http_client_cancel(link->call);
            r = writ_discover_link_run(&link->link, 0, err); /* the end comes in this turn */
            link->link.late = true;
        }
    }
    return r;
}

/* ---- what an answer means */

static WRIT_RESULT
fail_exchange(
    const struct http_link *link, const struct writ_discover_message *message, struct writ_err *err)
{
    const char *label = link->link.label;

    if (link->link.late) {
        WRIT_FAIL(err, message->within_us > 0 ? WRIT_E_ABSENT : WRIT_E_IO,
            "%s: it did not answer " WRIT_VIEW_FMT " in time", label,
            WRIT_VIEW_ARG(message->method));
    }
    if (link->failed || !writ_is_ok(writ_buf_check(&link->answer, NULL)) ||
        link->end.reason == WRIT_HTTP_BODY_TOO_LARGE) {
        WRIT_FAIL(err, WRIT_E_LIMIT, "%s: its answer to " WRIT_VIEW_FMT " is longer than %zu bytes",
            label, WRIT_VIEW_ARG(message->method), WRIT_DISCOVER_ANSWER_MAX);
    }
    WRIT_FAIL(err, WRIT_E_IO, "%s: %s. Start the server, or correct the URL.", label,
        writ_http_response_sentence(link->end.reason));
}

static WRIT_RESULT
fail_status(
    const struct http_link *link, const struct writ_discover_message *message, struct writ_err *err)
{
    const char *label = link->link.label;

    if (link->status == 401 || link->status == 403) {
        WRIT_FAIL(err, WRIT_E_IO,
            "%s: it refuses with status %u. It needs a secret: --token-file of `writ init`, or "
            "`authorization` of the upstream.",
            label, link->status);
    }
    WRIT_FAIL(err, WRIT_E_ABSENT,
        "%s: it answers " WRIT_VIEW_FMT
        " with status %u and no message of MCP. Give the URL of its MCP endpoint, often /mcp.",
        label, WRIT_VIEW_ARG(message->method), link->status);
}

static WRIT_RESULT
ask(struct writ_discover_link *base, const struct writ_discover_message *message,
    struct writ_view *ret_answer, struct writ_err *err)
{
    struct http_link *link = (struct http_link *)base;

    if (!message->modern && link->revision.len == 0) {
        writ_buf_put(&link->revision, message->revision);
    }
    WRIT_TRY(exchange(link, "POST", message, err));
    if (link->link.late || (link->end.reason != WRIT_HTTP_OK && !link->found)) {
        return fail_exchange(link, message, err);
    }
    WRIT_TRY(writ_buf_check(&link->answer, err));
    if (message->id == 0 && link->status >= 200 && link->status <= 299) {
        *ret_answer = writ_view(NULL, 0);
        return WRIT_DONE;
    }
    if (!link->found || link->status == 401 || link->status == 403) {
        return fail_status(link, message, err);
    }
    *ret_answer = writ_buf_view(&link->answer);
    return WRIT_DONE;
}

/* ---- life */

/* A server that keeps sessions need not keep this one. */
static void
end_session(struct http_link *link)
{
    const struct writ_discover_message message = {
        .revision = writ_buf_view(&link->revision), .within_us = DELETE_US};

    if (link->session.len > 0) {
        WRIT_IGNORE(
            exchange(link, "DELETE", &message, NULL)); /* it forgets sessions by itself too */
    }
}

static void
close_link(struct writ_discover_link *base)
{
    struct http_link *link = (struct http_link *)base;

    if (link->client != NULL) {
        end_session(link);
        writ_http_client_close(link->client);
    }
    writ_buf_wipe(&link->session);
    writ_buf_wipe(&link->revision);
    writ_buf_wipe(&link->answer);
    writ_free(link);
}

writ_result
writ_discover_http_open(const struct writ_upstream_config *server, struct writ_loop *loop,
    struct writ_resolver *resolver, const struct writ_header *shown, int64_t ends_us,
    struct writ_discover_link **ret, struct writ_err *err)
{
    static const struct writ_discover_link_ops ops = {ask, close_link};
    const struct writ_http_options options = {.url = server->http,
        .ca_file = server->ca.len > 0 ? server->ca.ptr : NULL,
        .connections_max = 1,
        .connect_us = server->connect_timeout_us};
    struct http_link *link = writ_alloc(sizeof *link);
    writ_result r;

    if (link == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for a tool server");
    }
    writ_discover_link_init(&link->link, &ops, server, loop, ends_us);
    link->shown = shown;
    link->session = writ_buf_make(SESSION_MAX);
    link->revision = writ_buf_make(SESSION_MAX);
    link->answer = writ_buf_make(WRIT_DISCOVER_ANSWER_MAX);
    r = writ_http_client_open(loop, resolver, &options, &link->client, err);
    if (!writ_is_ok(r)) {
        close_link(&link->link);
        return r;
    }
    *ret = &link->link;
    return WRIT_DONE;
}
