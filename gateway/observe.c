/* observe.c - OBSERVE: the state of a call's target, right before its decision.
 *
 * A probe is a read-only question to an upstream, or an HTTP GET, made by the gateway itself: it
 * has no decision, is counted apart, and carries neither the client's credential nor ours. What
 * counts of the answer is chosen by `select`; the digest is H over the object {pointer: value,
 * ...}, or over the whole answer without `select`, so that the tool can compute it again.
 *
 * The answer of a tool is looked at as its structuredContent, else as the JSON in its first text,
 * else as the lines "name: value" of that text: the first of these that has every selected member.
 * A target that does not exist has, where `on_error: absent` says so, the digest of null. */
#include "gateway/http_client.h"
#include "gateway/pass.h"
#include "gateway/request.h"

#include "base/text.h"
#include "evidence/jcs.h"
#include "evidence/write.h"

#define ANSWER_MAX    (1u << 20)
#define CANONICAL_MAX (4u << 20)
#define LINES_MAX     256
#define SHOWN_MAX     65536 /* bytes of a state that voters are shown; a longer one is a digest */

struct probe {
    struct writ_request *request;
    struct writ_probe_request wanted;
    struct writ_upcall upcall;
    struct writ_mcp_message message;
    struct writ_header headers[WRIT_PASS_HEADERS_MAX];
    struct writ_buf body; /* HTTP */
    unsigned status;
};

/* ---- what was observed ---- */

static enum writ_step
observed(struct probe *probe, enum writ_reason fault, const struct writ_digest *digest)
{
    struct writ_call *call = probe->request->call;
    char text[WRIT_DIGEST_TEXT];
    struct writ_view copy = {NULL, 0};

    if (fault == WRIT_REASON_NONE) {
        writ_digest_text(digest, text);
        copy = writ_view_copy(writ_view_str(text), probe->request->x->arena);
    }
    call->observed.fault =
        copy.ptr != NULL ? WRIT_REASON_NONE : WRIT_REASON_TARGET_STATE_UNAVAILABLE;
    call->observed.digest =
        copy.ptr != NULL ? writ_member_text(copy) : (struct writ_member_text){WRIT_NULL, {NULL, 0}};
    return call->observed_to;
}

/* The target could not be read. */
static enum writ_step
missing(struct probe *probe, bool exists_not)
{
    struct writ_digest absent;

    if (exists_not && probe->wanted.probe->on_error == WRIT_PROBE_MISSING_ABSENT &&
        writ_is_ok(writ_digest_bytes(WRIT_LIT("null"), &absent, NULL))) {
        return observed(probe, WRIT_REASON_NONE, &absent);
    }
    return observed(probe, WRIT_REASON_TARGET_STATE_UNAVAILABLE, NULL);
}

static bool
has_all(const struct writ_json *value, const struct writ_views *select)
{
    for (size_t i = 0; i < select->n; i++) {
        if (writ_json_pointer(value, select->items[i]) == NULL) {
            return false;
        }
    }
    return value != NULL;
}

/* Of a value: its digest, and its text for those who have to decide about the call. */
static writ_result
digest_value(struct writ_call *call, struct writ_arena *arena, const struct writ_json *value,
    struct writ_digest *ret)
{
    writ_auto_buf text = writ_buf_make(SHOWN_MAX);

    if (call->verdict.approval != NULL && writ_is_ok(writ_jcs_put(&text, value, NULL))) {
        call->observed.text = writ_view_copy(writ_buf_view(&text), arena);
    }
    return writ_digest_json(value, CANONICAL_MAX, ret, NULL);
}

/* {pointer: value, ...}, made canonical by reading it once more. */
static writ_result
digest_selection(struct writ_call *call, struct writ_arena *arena, const struct writ_json *value,
    const struct writ_views *select, struct writ_digest *ret)
{
    writ_auto_buf text = writ_buf_make(CANONICAL_MAX);
    struct writ_write w = writ_write_to(&text);
    const struct writ_json *selection;

    if (select->n == 0) {
        return digest_value(call, arena, value, ret);
    }
    writ_write_object_begin(&w);
    for (size_t i = 0; i < select->n; i++) {
        writ_write_name(&w, select->items[i]);
        writ_write_value(&w, writ_json_pointer(value, select->items[i]));
    }
    writ_write_object_end(&w);
    WRIT_TRY(writ_write_end(&w, NULL));
    WRIT_TRY(
        writ_json_read(writ_buf_view(&text), &writ_json_limits_default, arena, &selection, NULL));
    return digest_value(call, arena, selection, ret);
}

static enum writ_step
select_state(struct probe *probe, const struct writ_json *value)
{
    struct writ_digest digest;
    const struct writ_views *select = &probe->wanted.probe->select;

    if (!has_all(value, select) || !writ_is_ok(digest_selection(probe->request->call,
                                       probe->request->x->arena, value, select, &digest))) {
        return missing(probe, false);
    }
    return observed(probe, WRIT_REASON_NONE, &digest);
}

/* "size: 3\nmodified: ..." as an object of strings; NULL when a line is not like that. */
static const struct writ_json *
lines_as_object(struct writ_arena *arena, struct writ_view text)
{
    writ_auto_buf json = writ_buf_make(2 * text.len + 4096);
    struct writ_view copy;
    const struct writ_json *value = NULL;
    size_t lines = 0;

    writ_buf_byte(&json, '{');
    while (text.len > 0 && lines++ < LINES_MAX) {
        struct writ_view line = writ_view_sub(text, 0, writ_view_find(text, '\n'));
        size_t colon = writ_view_find(line, ':');
        if (colon == line.len) {
            return NULL;
        }
        writ_buf_str(&json, json.len > 1 ? "," : "");
        writ_text_json(&json, writ_view_trim(writ_view_sub(line, 0, colon)));
        writ_buf_byte(&json, ':');
        writ_text_json(&json, writ_view_trim(writ_view_sub(line, colon + 1, SIZE_MAX)));
        text = writ_view_sub(text, line.len + 1, SIZE_MAX);
    }
    writ_buf_byte(&json, '}');
    copy = writ_view_copy(writ_buf_view(&json), arena);
    if (copy.ptr != NULL) {
        WRIT_IGNORE(writ_json_read(copy, &writ_json_limits_default, arena, &value, NULL));
    }
    return value;
}

static enum writ_step
tool_state(struct probe *probe, const struct writ_json *result)
{
    struct writ_arena *arena = probe->request->x->arena;
    const struct writ_views *select = &probe->wanted.probe->select;
    const struct writ_json *structured = writ_json_get(result, WRIT_LIT("structuredContent"));
    struct writ_view text =
        writ_json_string(writ_json_pointer(result, WRIT_LIT("/content/0/text")));
    const struct writ_json *parsed = NULL;

    if (writ_json_type(writ_json_get(result, WRIT_LIT("isError"))) == WRIT_JSON_TRUE) {
        return missing(probe, true);
    }
    if (has_all(structured, select)) {
        return select_state(probe, structured);
    }
    if (select->n == 0 || text.ptr == NULL) {
        return select_state(probe, result);
    }
    WRIT_IGNORE(writ_json_read(text, &writ_json_limits_default, arena, &parsed, NULL));
    if (!has_all(parsed, select)) {
        parsed = lines_as_object(arena, text);
    }
    return select_state(probe, has_all(parsed, select) ? parsed : result);
}

/* ---- by an MCP upstream ---- */

static enum writ_step
upstream_state(struct probe *probe, const struct writ_upcall_answer *answer)
{
    const struct writ_json *message = NULL;
    struct writ_arena *arena = probe->request->x->arena;
    struct writ_view body = writ_view_copy(answer->body, arena);

    if (answer->end != WRIT_UPCALL_ANSWERED || answer->status >= 300 ||
        !writ_is_ok(writ_json_read(body, &writ_json_limits_default, arena, &message, NULL))) {
        return missing(probe, false);
    }
    if (writ_json_get(message, WRIT_LIT("error")) != NULL) {
        return missing(probe, probe->wanted.probe->kind == WRIT_PROBE_RESOURCE);
    }
    return probe->wanted.probe->kind == WRIT_PROBE_TOOL
               ? tool_state(probe, writ_json_get(message, WRIT_LIT("result")))
               : select_state(probe, writ_json_get(writ_json_get(message, WRIT_LIT("result")),
                                         WRIT_LIT("contents")));
}

static void
upcall_end(struct writ_upcall *upcall, const struct writ_upcall_answer *answer)
{
    struct probe *probe = upcall->ctx;

    writ_request_go(probe->request, upstream_state(probe, answer));
}

static const struct writ_upcall_events probe_events = {.end = upcall_end};

static struct writ_view
method_of(const struct probe *probe)
{
    return probe->wanted.probe->kind == WRIT_PROBE_TOOL ? WRIT_LIT("tools/call")
                                                        : WRIT_LIT("resources/read");
}

static writ_result
probe_body(struct probe *probe, struct writ_view *ret)
{
    const struct writ_request *request = probe->request;
    writ_auto_buf body = writ_buf_make(CANONICAL_MAX);
    struct writ_write w = writ_write_to(&body);

    writ_write_object_begin(&w);
    writ_write_name(&w, WRIT_LIT("jsonrpc"));
    writ_write_string(&w, WRIT_LIT("2.0"));
    writ_write_name(&w, WRIT_LIT("id"));
    writ_write_string(&w, WRIT_LIT("writ-probe"));
    writ_write_name(&w, WRIT_LIT("method"));
    writ_write_string(&w, method_of(probe));
    writ_write_name(&w, WRIT_LIT("params"));
    writ_write_object_begin(&w);
    writ_pass_put_own_meta(&w, request);
    if (probe->wanted.probe->kind == WRIT_PROBE_TOOL) {
        writ_write_name(&w, WRIT_LIT("name"));
        writ_write_string(&w, probe->wanted.probe->tool);
        writ_write_name(&w, WRIT_LIT("arguments"));
        writ_write_value(&w, probe->wanted.arguments);
    } else {
        writ_write_name(&w, WRIT_LIT("uri"));
        writ_write_string(&w, probe->wanted.uri);
    }
    writ_write_object_end(&w);
    writ_write_object_end(&w);
    WRIT_TRY(writ_write_end(&w, NULL));
    *ret = writ_view_copy(writ_buf_view(&body), request->x->arena);
    return ret->ptr != NULL ? WRIT_DONE : (writ_result){WRIT_E_NOMEM};
}

/* The probe's own message, as if a client had sent it: its id is nobody else's in that session. */
static writ_result
prepare_upcall(struct probe *probe, struct writ_upstream *upstream)
{
    struct writ_view body;

    WRIT_TRY(probe_body(probe, &body));
    return writ_pass_prepare_message(
        probe->request, upstream, body, &probe->message, probe->headers, &probe->upcall.request);
}

static enum writ_step
ask_upstream(struct probe *probe)
{
    struct writ_request *request = probe->request;
    struct writ_upstream *upstream =
        writ_gateway_upstream(request->worker->gateway, probe->wanted.probe->upstream);

    if (upstream == NULL || !writ_is_ok(prepare_upcall(probe, upstream))) {
        return missing(probe, false);
    }
    probe->upcall.request.body_max = probe->upcall.request.event_max = ANSWER_MAX;
    probe->upcall.request.timeout_us = probe->wanted.probe->timeout_us;
    probe->upcall.request.total_us = probe->wanted.probe->timeout_us;
    probe->upcall.events = &probe_events;
    probe->upcall.ctx = probe;
    writ_upcall_start(upstream, request->worker, &probe->upcall);
    return WRIT_STEP_WAIT;
}

/* ---- by an HTTP GET ---- */

static void
http_head(void *ctx, struct writ_http_call *call, const struct writ_http_head *head)
{
    struct probe *probe = ctx;

    (void)call;
    probe->status = head->status;
}

static void
http_body(void *ctx, struct writ_http_call *call, struct writ_view bytes)
{
    struct probe *probe = ctx;

    (void)call;
    writ_buf_put(&probe->body, bytes);
}

static enum writ_step
http_state(struct probe *probe, const struct writ_http_end *end)
{
    struct writ_arena *arena = probe->request->x->arena;
    const struct writ_json *value = NULL;
    struct writ_view body;

    if (end->reason != WRIT_HTTP_OK || !writ_is_ok(writ_buf_check(&probe->body, NULL)) ||
        (probe->status != 404 && (probe->status < 200 || probe->status > 299))) {
        return missing(probe, false);
    }
    if (probe->status == 404) {
        return missing(probe, true);
    }
    body = writ_view_copy(writ_buf_view(&probe->body), arena);
    return writ_is_ok(writ_json_read(body, &writ_json_limits_default, arena, &value, NULL))
               ? select_state(probe, value)
               : missing(probe, false);
}

static void
http_end(void *ctx, struct writ_http_call *call, const struct writ_http_end *end)
{
    struct probe *probe = ctx;
    enum writ_step next = http_state(probe, end);

    (void)call;
    writ_buf_wipe(&probe->body);
    writ_request_go(probe->request, next);
}

static const struct writ_http_handler http_handler = {http_head, http_body, http_end};

/* "https://host:port" of a URL, and what follows it. */
static bool
split_url(struct writ_view url, struct writ_view *ret_origin, struct writ_view *ret_target)
{
    size_t scheme = writ_view_search(url, WRIT_LIT("://"));
    struct writ_view rest = writ_view_sub(url, scheme + 3, SIZE_MAX);
    size_t authority = writ_view_find(rest, '/');

    if (scheme == url.len || authority == 0) {
        return false;
    }
    *ret_origin = writ_view_sub(url, 0, scheme + 3 + authority);
    *ret_target = authority < rest.len ? writ_view_sub(rest, authority, SIZE_MAX) : WRIT_LIT("/");
    return true;
}

static struct writ_http_client *
client_of(struct writ_worker *worker, struct writ_view origin)
{
    const struct writ_http_options options = {.url = origin};
    struct writ_probe_origin *slot;

    for (size_t i = 0; i < worker->origins_n; i++) {
        if (writ_view_equal(writ_buf_view(&worker->origins[i].origin), origin)) {
            return worker->origins[i].client;
        }
    }
    if (worker->origins_n == WRIT_PROBE_ORIGINS_MAX) {
        return NULL;
    }
    slot = &worker->origins[worker->origins_n];
    slot->origin = writ_buf_make(origin.len + 1);
    writ_buf_put(&slot->origin, origin);
    if (!writ_is_ok(writ_buf_check(&slot->origin, NULL)) ||
        !writ_is_ok(writ_http_client_open(
            worker->loop, worker->gateway->resolver, &options, &slot->client, NULL))) {
        writ_buf_wipe(&slot->origin);
        return NULL;
    }
    worker->origins_n++;
    return slot->client;
}

static enum writ_step
ask_http(struct probe *probe)
{
    static const struct writ_header accept = {
        {"Accept", sizeof "Accept" - 1}, {"application/json", sizeof "application/json" - 1}};
    struct writ_view origin, target;
    struct writ_http_client *client = NULL;
    struct writ_http_call *call;
    struct writ_http_request request = {
        .method = WRIT_LIT("GET"),
        .fields = &accept,
        .count = 1,
        .body_max = ANSWER_MAX,
        .total_us = probe->wanted.probe->timeout_us,
    };

    if (split_url(probe->wanted.uri, &origin, &target)) {
        client = client_of(probe->request->worker, origin);
    }
    request.target = client != NULL ? target : WRIT_LIT("/");
    probe->body = writ_buf_make(ANSWER_MAX);
    if (client == NULL ||
        !writ_is_ok(writ_http_client_send(client, &request, &http_handler, probe, &call, NULL))) {
        return missing(probe, false);
    }
    return WRIT_STEP_WAIT;
}

/* ---- OBSERVE ---- */

enum writ_step
writ_observe_start(struct writ_request *request)
{
    struct writ_call *call = request->call;
    struct probe *probe = writ_arena_get(request->x->arena, sizeof *probe);

    if (probe == NULL) {
        call->observed.fault = WRIT_REASON_TARGET_STATE_UNAVAILABLE;
        return call->observed_to;
    }
    *probe = (struct probe){.request = request};
    writ_metrics_count(request->x->metrics, WRIT_COUNTER_PROBES, 1);
    if (!writ_is_ok(writ_policy_probe(
            call->verdict.rule, call->arguments, request->x->arena, &probe->wanted, NULL))) {
        call->observed.fault = WRIT_REASON_TARGET_STATE_UNAVAILABLE;
        return call->observed_to;
    }
    switch (probe->wanted.probe->kind) {
    case WRIT_PROBE_TOOL:
    case WRIT_PROBE_RESOURCE:
        return ask_upstream(probe);
    case WRIT_PROBE_HTTP:
        return ask_http(probe);
    case WRIT_PROBE_NONE:
        break;
    }
    call->observed.fault = WRIT_REASON_TARGET_STATE_UNAVAILABLE;
    return call->observed_to;
}
