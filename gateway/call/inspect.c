/* inspect.c - parses each event and answer once, strictly, and classifies it. Messages for the
 * client are written again without Writ's own names. */
#include "gateway/call/inspect.h"

#include "base/alloc.h"
#include "gateway/mcp/abilities.h"
#include "gateway/mcp/meta_namespace.h"
#include "gateway/mcp/rewrite.h"
#include "gateway/mcp/server_id.h"
#include "gateway/call/task_notification.h"

#include "evidence/json/write.h"

#define PROGRESS_MAX (1u << 20) /* bytes of a notice of progress */
#define TASK_NOTICES "notifications/tasks"
#define REFUSAL_MAX  65536

/* ---- in place of a client ---- */

struct stead {
    struct writ_upcall upcall;
    struct writ_mcp_message message;
    struct writ_agent agent;
    struct writ_session *session;
    struct writ_buf body;
};

static void
stead_free(struct stead *stead)
{
    writ_session_drop(stead->session);
    writ_buf_wipe(&stead->body);
    writ_free(stead);
}

/* Any result is ignored: the server waits only for its own timeout. */
static void
stead_end(struct writ_upcall *upcall, const struct writ_upcall_answer *answer)
{
    (void)answer;
    stead_free(upcall->ctx);
}

static const struct writ_upcall_events stead_events = {.end = stead_end};

static writ_result
put_refusal(const struct writ_json *message, int code, struct writ_buf *ret)
{
    struct writ_write w = writ_write_to(ret);

    writ_mcp_open(&w, writ_json_get(message, WRIT_LIT("id")));
    writ_write_name(&w, WRIT_LIT("error"));
    writ_mcp_put_error(&w, code, "the client declared no capability for this request");
    writ_write_object_end(&w);
    return writ_write_end(&w, NULL);
}

/* Answers, in place of the client, a request of a server for which the client declared no
 * capability: with an error of that code. The answer outlives the request on whose stream the
 * server asked. Without memory the server waits for its own timeout. */
static void
refuse_undeclared(const struct writ_request *request, struct writ_upstream *upstream,
    const struct writ_json *message, int code)
{
    const struct writ_upstream_config *to = writ_upstream_config(upstream);
    struct writ_session *session = request->session;
    struct stead *stead = writ_alloc(sizeof *stead);

    if (stead == NULL) {
        return;
    }
    (void)atomic_fetch_add(&session->holders, 1);
    stead->session = session;
    stead->body = writ_buf_make(REFUSAL_MAX);
    if (!writ_is_ok(put_refusal(message, code, &stead->body))) {
        stead_free(stead);
        return;
    }
    stead->message.kind = WRIT_MCP_RESPONSE;
    stead->agent = (struct writ_agent){.id = session->agent_id, .tenant = session->tenant};
    stead->upcall = (struct writ_upcall){.events = &stead_events,
        .ctx = stead,
        .request = {.method = WRIT_METHOD_POST,
            .message = &stead->message,
            .body = writ_buf_view(&stead->body),
            .session = writ_session_upstream(session, to->name),
            .version = session->version,
            .body_max = REFUSAL_MAX,
            .event_max = REFUSAL_MAX,
            .timeout_us = to->list_timeout_us,
            .total_us = to->list_timeout_us,
            .scope = session->id,
            .agent = &stead->agent,
            .client = session->client}};
    writ_upcall_start(upstream, request->worker, &stead->upcall);
}

/* ---- what came ---- */

/* A string or an integer: an id that a client may answer (reply.c). */
static bool
is_request_id(const struct writ_json *id)
{
    int64_t number;

    return writ_json_type(id) == WRIT_JSON_STRING ||
           (writ_json_type(id) == WRIT_JSON_NUMBER &&
               writ_is_ok(writ_json_integer(id, INT64_MIN, INT64_MAX, &number)));
}

/* Notices of the client's own revision, where it has them: in the stateless one on a
 * subscription. */
static enum writ_inspected
kind_of_notice(const struct writ_request *request, const struct writ_json *message)
{
    bool modern = request->message.era == WRIT_MCP_ERA_MODERN;
    const struct writ_json *method = writ_json_get(message, WRIT_LIT("method"));

    if (writ_json_get(message, WRIT_LIT("id")) == NULL &&
        (modern ? request->method == WRIT_MCP_LISTEN && writ_json_is(method, WRIT_LIT(TASK_NOTICES))
                : writ_json_is(method, WRIT_LIT(TASK_NOTICES "/status")))) {
        return WRIT_INSPECTED_TASK;
    }
    writ_task_notification_drop(request);
    return WRIT_INSPECTED_FOREIGN;
}

static enum writ_inspected
kind_of(const struct writ_request *request, const struct writ_json *message)
{
    const struct writ_json *id = writ_json_get(message, WRIT_LIT("id"));
    bool asks = writ_json_get(message, WRIT_LIT("method")) != NULL;
    bool answers = writ_json_get(message, WRIT_LIT("result")) != NULL ||
                   writ_json_get(message, WRIT_LIT("error")) != NULL;

    if (asks == answers || !writ_mcp_is_unambiguous(message)) {
        return WRIT_INSPECTED_FOREIGN;
    }
    if (asks && writ_view_has_prefix(writ_json_string(writ_json_get(message, WRIT_LIT("method"))),
                    WRIT_LIT(TASK_NOTICES))) {
        return kind_of_notice(request, message);
    }
    if (asks && request->message.era == WRIT_MCP_ERA_MODERN) {
        return id != NULL ? WRIT_INSPECTED_FOREIGN
                          : WRIT_INSPECTED_OTHER; /* a server sends no requests */
    }
    if (asks) {
        return id != NULL && !is_request_id(id) ? WRIT_INSPECTED_FOREIGN : WRIT_INSPECTED_OTHER;
    }
    if (request->message.id != NULL) {
        return writ_json_equal(id, request->message.id) ? WRIT_INSPECTED_RESPONSE
                                                        : WRIT_INSPECTED_FOREIGN;
    }
    return writ_exchange_header(request->x, WRIT_LIT("Last-Event-ID")).ptr != NULL
               ? WRIT_INSPECTED_ANSWER
               : WRIT_INSPECTED_FOREIGN;
}

/* The offset of the numbers in a notice of progress. On a GET it belongs to an earlier call, whose
 * stream was lost. */
static double
moved_by(const struct writ_request *request, const struct writ_upstream *from,
    const struct writ_json *message)
{
    const struct writ_json *token = writ_json_pointer(message, WRIT_LIT("/params/progressToken"));
    struct writ_digest key;

    if (!writ_json_is(
            writ_json_get(message, WRIT_LIT("method")), WRIT_LIT("notifications/progress"))) {
        return 0;
    }
    if (request->hold.progress > 0 &&
        writ_json_equal(token, writ_json_get(request->message.meta, WRIT_LIT("progressToken")))) {
        return request->hold.progress;
    }
    if (request->x->method != WRIT_METHOD_GET || token == NULL ||
        !writ_is_ok(writ_pending_responses_progress_key(
            request->session, writ_upstream_config(from)->name, token, &key))) {
        return 0;
    }
    return writ_pending_responses_find(request->worker->gateway->answers, &key).moved;
}

/* The tool's own progress continues from the value that the client got during the hold. */
static writ_result
put_progress(double moved, const struct writ_json *message, struct writ_buf *ret)
{
    static const struct writ_view path[] = {WRIT_LIT("params")};
    const struct writ_json *params = writ_json_get(message, WRIT_LIT("params"));
    writ_auto_buf text = writ_buf_make(PROGRESS_MAX);
    struct writ_write w = writ_write_to(&text);

    writ_write_object_begin(&w);
    WRIT_JSON_EACH(name, params)
    {
        const struct writ_json *value = writ_json_value(name);
        struct writ_view key = writ_json_string(name);
        bool counts = writ_view_is(key, "progress") || writ_view_is(key, "total");

        writ_write_name(&w, key);
        if (counts && writ_json_type(value) == WRIT_JSON_NUMBER) {
            writ_write_double(&w, moved + value->number);
        } else {
            writ_write_verbatim(&w, value);
        }
    }
    writ_write_object_end(&w);
    WRIT_TRY(writ_write_end(&w, NULL));
    return writ_rewrite_at(message, path, 1, writ_buf_view(&text), ret);
}

/* A message that was read, its text without Writ's own names. */
struct inspected {
    const struct writ_json *message;
    struct writ_view text;
};

static bool
is_one_line(struct writ_view text)
{
    return writ_view_find(text, '\n') == text.len;
}

/* Writes the data of an event for the client. The client gets the response as the server spelled
 * it, as it does without an event stream. */
static writ_result
put_data(const struct writ_request *request, const struct writ_upstream *from,
    enum writ_inspected kind, const struct inspected *found, struct writ_buf *ret)
{
    const struct writ_json *message = found->message;
    const struct writ_json *id = writ_json_get(message, WRIT_LIT("id"));
    writ_auto_buf outward = writ_buf_make(WRIT_SERVER_ID_JSON_MAX);
    writ_auto_buf asker = writ_buf_make(WRIT_UPSTREAM_ASKER_MAX);
    double moved = moved_by(request, from, message);
    struct writ_write w;

    if (kind == WRIT_INSPECTED_RESPONSE && is_one_line(found->text)) {
        writ_buf_put(ret, found->text);
        return writ_buf_check(ret, NULL);
    }
    if (id != NULL && writ_json_get(message, WRIT_LIT("method")) != NULL) {
        WRIT_TRY(writ_upstream_asker_put(from, request->worker->gateway, &asker));
        WRIT_TRY(writ_server_id_put(writ_buf_view(&asker), id, &outward));
        return writ_rewrite_id(message, writ_buf_view(&outward), ret);
    }
    if (moved > 0) {
        return put_progress(moved, message, ret);
    }
    w = writ_write_to(ret);
    writ_write_verbatim(&w, message);
    return writ_write_end(&w, NULL);
}

/* The server says that its tools have changed. */
static void
notice_change(struct writ_upstream *from, const struct writ_json *message)
{
    if (writ_json_is(writ_json_get(message, WRIT_LIT("method")),
            WRIT_LIT("notifications/tools/list_changed"))) {
        writ_catalog_snapshot_doubt(writ_upstream_snapshot(from));
    }
}

/* One strict parse. `ahead`: what was read of the text while it arrived, or NULL. */
static enum writ_inspected
read_message(const struct writ_request *request, struct writ_upstream *from, struct writ_view text,
    struct writ_ahead *ahead, struct writ_arena *arena, const struct writ_json **ret)
{
    struct writ_json_limits limits = writ_mcp_limits(text);

    limits.late_bytes = WRIT_JSON_LATE_BYTES;
    if (!writ_is_ok(writ_ahead_read(text, &limits, ahead, arena, ret, NULL)) ||
        writ_json_type(*ret) != WRIT_JSON_OBJECT) {
        return WRIT_INSPECTED_FOREIGN;
    }
    notice_change(from, *ret);
    return kind_of(request, *ret);
}

/* A client that did not declare at initialize that it takes such a request does not get it, and
 * neither does one without a session, which could not answer: the gateway answers the server in its
 * place. */
static bool
is_undeclared(
    const struct writ_request *request, struct writ_upstream *from, const struct writ_json *message)
{
    unsigned abilities = request->session != NULL ? request->session->abilities : 0;
    int code;

    if (writ_json_get(message, WRIT_LIT("id")) == NULL ||
        writ_json_get(message, WRIT_LIT("method")) == NULL) {
        return false;
    }
    code = writ_abilities_refuse(abilities, message);
    if (code != 0 && request->session != NULL) {
        refuse_undeclared(request, from, message, code);
    }
    return code != 0;
}

/* Classifies an event; its values are in the arena. */
static enum writ_inspected
classify(const struct writ_request *request, struct writ_upstream *from,
    const struct writ_sse_event *event, struct writ_ahead *ahead, struct writ_arena *arena,
    struct inspected *ret)
{
    struct writ_json_limits limits = writ_mcp_limits(event->data);
    enum writ_inspected kind =
        read_message(request, from, event->data, ahead, arena, &ret->message);

    ret->text = event->data;
    if (kind == WRIT_INSPECTED_OTHER && is_undeclared(request, from, ret->message)) {
        return WRIT_INSPECTED_FOREIGN;
    }
    if (kind != WRIT_INSPECTED_FOREIGN &&
        !writ_is_ok(writ_meta_namespace_clear(&limits, arena, &ret->text, &ret->message))) {
        return WRIT_INSPECTED_FOREIGN;
    }
    return kind;
}

static bool
has_data(const struct writ_sse_event *event)
{
    return event->kind == WRIT_SSE_EVENT && event->data.len > 0;
}

enum writ_inspected
writ_inspect_event(const struct writ_request *request, struct writ_upstream *from,
    const struct writ_sse_event *event, struct writ_buf *ret)
{
    struct inspected found = {NULL, {NULL, 0}};
    enum writ_inspected kind;

    if (!has_data(event)) {
        return WRIT_INSPECTED_OTHER; /* an empty event tells the client where to resume */
    }
    kind = classify(request, from, event, NULL, request->worker->scratch, &found);
    if (kind != WRIT_INSPECTED_FOREIGN && !writ_is_ok(put_data(request, from, kind, &found, ret))) {
        kind = WRIT_INSPECTED_FOREIGN;
    }
    writ_arena_reset(request->worker->scratch);
    return kind;
}

/* Its text and its values move to the memory of the request. */
static bool
keep_response(struct writ_request *request, const struct writ_sse_event *event,
    struct writ_arena **arena, const struct inspected *found)
{
    if (found->text.ptr != event->data.ptr || !is_one_line(event->data) ||
        writ_buf_give(event->memory, request->x->arena).ptr == NULL ||
        !writ_arena_merge(request->x->arena, *arena)) {
        return false;
    }
    *arena = NULL;
    request->call->reply.response = found->message;
    request->call->reply.ahead = request->forward.upcall.request.ahead;
    request->forward.upcall.request.ahead = NULL;
    return true;
}

enum writ_inspected
writ_inspect_answer(struct writ_request *request, struct writ_upstream *from,
    const struct writ_sse_event *event, struct writ_buf *ret)
{
    writ_auto_arena arena =
        has_data(event) && event->memory != NULL ? writ_arena_new(64 * event->data.len) : NULL;
    struct inspected found = {NULL, {NULL, 0}};
    enum writ_inspected kind;

    if (arena == NULL) {
        return writ_inspect_event(request, from, event, ret);
    }
    kind = classify(request, from, event, request->forward.upcall.request.ahead, arena, &found);
    if (kind == WRIT_INSPECTED_FOREIGN ||
        (kind == WRIT_INSPECTED_RESPONSE && keep_response(request, event, &arena, &found)) ||
        writ_is_ok(put_data(request, from, kind, &found, ret))) {
        return kind;
    }
    return WRIT_INSPECTED_FOREIGN;
}

bool
writ_inspect_is_another(const struct writ_request *request, struct writ_upstream *from,
    const struct writ_upcall_answer *answer)
{
    const struct writ_json *message = NULL;
    enum writ_inspected kind;

    if (answer->end != WRIT_UPCALL_ANSWERED || answer->status >= 300 ||
        request->message.kind != WRIT_MCP_REQUEST) {
        return false;
    }
    kind = read_message(request, from, answer->body, NULL, request->worker->scratch, &message);
    writ_arena_reset(request->worker->scratch);
    return kind != WRIT_INSPECTED_RESPONSE;
}

bool
writ_inspect_clear(struct writ_request *request, struct writ_view *body)
{
    struct writ_json_limits limits = writ_mcp_limits(*body);
    const struct writ_json *message;

    if (!writ_meta_namespace_may_be_in(*body)) {
        return true;
    }
    return writ_is_ok(writ_json_read(*body, &limits, request->x->arena, &message, NULL)) &&
           writ_is_ok(writ_meta_namespace_clear(&limits, request->x->arena, body, &message));
}
