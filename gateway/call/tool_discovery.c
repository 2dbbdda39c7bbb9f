/* tool_discovery.c - DISCOVER: the tool's definition, before its call is judged further. */
#include "gateway/call/tool_discovery.h"

#include "gateway/call/overrule.h"
#include "gateway/mcp/odd.h"
#include "gateway/probe/probe.h"
#include "gateway/request/refusal.h"
#include "gateway/request/upcall_request.h"
#include "gateway/review/meet.h"

#include "evidence/json/write.h"
#include "policy/decide/approval.h"
#include "policy/schema/jsonschema.h"

#define HEADS_MAX      16384              /* bytes of one head Mcp-Param-* */
#define LIST_BYTES_MAX ((size_t)16 << 20) /* of one page of tools/list */
#define LIST_VALUES    (1u << 20)
#define PAGES_MAX      256
#define BODY_MAX       65536
#define TIMEOUT_US     5000000  /* for one page */
#define AGAIN_US       30000000 /* at least, before the next request to a server */
#define FRESH_US       5000000  /* how old the definition of a pinned tool may be at its call */

/* One request for a list; in the arena of its exchange. */
struct learner {
    struct writ_request *request;
    struct writ_catalog *catalog;
    struct writ_upcall upcall;
    struct writ_mcp_message message;
    struct writ_header headers[WRIT_UPCALL_HEADERS_MAX];
    size_t pages;
    struct writ_view cursor; /* of the last page that was asked for; ptr NULL: the first */
    uint64_t doubts;         /* when it began */
    int64_t asked_us;
    int64_t stale_us; /* of the page that is too old first */
};

/* ---- what a definition means for a call */

enum writ_reason
writ_tool_discovery_judge(const struct writ_request *request, const struct writ_tool_rule *rule,
    struct writ_view upstream, struct writ_view tool, const struct writ_digest *digest,
    unsigned odd)
{
    writ_auto_buf name = writ_buf_make(upstream.len + tool.len + 1);
    const struct writ_definition *accepted;
    bool same;

    if (rule == NULL || (!rule->pin && odd == 0)) {
        return WRIT_REASON_NONE;
    }
    writ_buf_put(&name, upstream);
    writ_buf_byte(&name, '/');
    writ_buf_put(&name, tool);
    if (digest == NULL || !writ_is_ok(writ_buf_check(&name, NULL))) {
        return WRIT_REASON_DEFINITION_UNKNOWN;
    }
    accepted = writ_definitions_find(request->generation->accepted, writ_buf_view(&name));
    same = accepted != NULL && writ_digest_equal(&accepted->digest, digest);
    if (rule->pin && !same) {
        return accepted != NULL ? WRIT_REASON_DEFINITION_CHANGED
                                : WRIT_REASON_DEFINITION_NOT_ACCEPTED;
    }
    return odd == 0 ||
                   (same && writ_odd_refused(&request->generation->config->definitions, odd) == 0)
               ? WRIT_REASON_NONE
               : WRIT_REASON_DEFINITION_ODD;
}

static const struct writ_catalog *
catalog_of(const struct writ_request *request, struct writ_upstream *upstream)
{
    struct writ_catalog_snapshot_view *view =
        &request->worker->shelves[writ_upstream_index(upstream)];

    return writ_catalog_snapshot_look(writ_upstream_snapshot(upstream), view);
}

/* Beside the tools of the first `n` upstreams. */
static unsigned
odd_name(const struct writ_request *request, size_t n, struct writ_view tool,
    const struct writ_digest *digest)
{
    const struct writ_gateway *gateway = request->worker->gateway;
    writ_auto_buf skeleton = writ_buf_make(WRIT_ODDITY_SKELETON_MAX);
    unsigned odd = 0;

    if (n > 0) {
        writ_oddity_skeleton(&skeleton, tool);
    }
    for (size_t i = 0; i < n; i++) {
        odd |= writ_catalog_odd_name(
            catalog_of(request, gateway->upstreams[i]), tool, digest, writ_buf_view(&skeleton));
    }
    return odd;
}

unsigned
writ_tool_discovery_withheld(const struct writ_request *request,
    const struct writ_upstream *upstream, struct writ_view tool, const struct writ_digest *digest,
    unsigned odd)
{
    const struct writ_config *config = request->generation->config;
    const struct writ_odd_config *then = &config->definitions;

    if (then->repeats != WRIT_ODD_TELL || then->imitates != WRIT_ODD_TELL) {
        odd |= odd_name(request, writ_upstream_index(upstream), tool, digest);
    }
    return odd == 0 ? 0
                    : writ_odd_withheld(then, odd,
                          writ_rule_is_named(
                              config->policy, writ_upstream_config(upstream)->name, tool));
}

int64_t
writ_tool_discovery_stale_us(
    struct writ_loop *loop, struct writ_upstream *upstream, const struct writ_json *result)
{
    int64_t age_us = writ_upstream_config(upstream)->refresh_us, ttl_ms;
    int64_t least_us = age_us < AGAIN_US ? age_us : AGAIN_US;

    if (writ_is_ok(writ_json_integer(
            writ_json_get(result, WRIT_LIT("ttlMs")), 0, INT64_MAX / 1000, &ttl_ms)) &&
        ttl_ms * 1000 < age_us) {
        age_us = ttl_ms * 1000 > least_us ? ttl_ms * 1000 : least_us;
    }
    return writ_loop_now_us(loop) + age_us;
}

writ_result
writ_tool_discovery_notice(struct writ_request *request, struct writ_upstream *upstream,
    const struct writ_json *item, struct writ_digest *ret, unsigned *ret_odd)
{
    const struct writ_catalog_tool *known = writ_catalog_find(
        catalog_of(request, upstream), writ_json_string(writ_json_get(item, WRIT_LIT("name"))));
    struct writ_digest digest;

    WRIT_TRY(writ_digest_json_lossless(item, WRIT_CATALOG_TOOL_MAX, &digest, NULL));
    if (known == NULL || !writ_digest_equal(&known->digest, &digest)) {
        writ_catalog_snapshot_doubt(writ_upstream_snapshot(upstream));
    }
    *ret_odd = known != NULL && writ_digest_equal(&known->digest, &digest) ? known->odd
                                                                           : writ_odd_of(item);
    *ret = digest;
    return WRIT_DONE;
}

/* NULL, or the contradiction between the head of the call and its arguments. A header that is
 * present must agree in every era: policies elsewhere may read only that. */
static const char *
head_fault(const struct writ_request *request, const struct writ_params *params)
{
    bool modern = request->message.era == WRIT_MCP_ERA_MODERN;

    for (size_t i = 0; i < params->n; i++) {
        struct writ_view value = writ_exchange_header(request->x, params->items[i].header);
        switch (writ_param_check(&params->items[i], request->call->callee.arguments, value)) {
        case WRIT_PARAM_AGREES:
            break;
        case WRIT_PARAM_MISSING:
            if (modern && !request->x->peer->same_user) {
                return "a header Mcp-Param-* that the tool's definition wants is missing";
            }
            break;
        case WRIT_PARAM_DIFFERS:
            return "a header Mcp-Param-* does not say what the arguments say";
        }
    }
    return NULL;
}

/* A client over stdio has no head: what its `writ wrap` cannot know is written here, for a server
 * over HTTP. Over a Unix socket no party between the two reads only the head. */
static WRIT_RESULT
write_heads(struct writ_request *request, const struct writ_params *params)
{
    struct writ_arena *arena = request->x->arena;
    struct writ_learned *learned = &request->call->learned;
    struct writ_header *heads = writ_arena_get(arena, (params->n + 1) * sizeof *heads);

    if (heads == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    learned->heads = heads;
    learned->heads_n = 0;
    for (size_t i = 0; i < params->n; i++) {
        struct writ_view value = writ_exchange_header(request->x, params->items[i].header);
        struct writ_buf text = writ_buf_in(arena, HEADS_MAX);
        struct writ_view name;

        if (writ_param_check(&params->items[i], request->call->callee.arguments, value) ==
            WRIT_PARAM_MISSING) {
            writ_param_put(&params->items[i], request->call->callee.arguments, &text);
            WRIT_TRY(writ_buf_check(&text, NULL));
            name = writ_view_copy(params->items[i].header, arena); /* the catalog may be freed */
            if (name.ptr == NULL) {
                return (writ_result){WRIT_E_NOMEM};
            }
            heads[learned->heads_n++] = (struct writ_header){name, writ_buf_view(&text)};
        }
    }
    return WRIT_DONE;
}

/* Removes an approval that is required only for annotated tools, when this tool is not annotated
 * so. */
static void
ask_nobody_unless_annotated(struct writ_call *call, const struct writ_catalog_tool *tool)
{
    const struct writ_tool_rule *rule = call->verdict.rule;

    if (rule == NULL || rule->approval == NULL ||
        writ_approval_annotated(rule->approval, &tool->hints)) {
        return;
    }
    call->verdict.approval = NULL;
    if (call->shadowed == WRIT_REASON_APPROVAL_REQUIRED) {
        call->shadowed = WRIT_REASON_NONE;
    }
}

/* `schema: accepted`: the arguments are valid under the inputSchema, whatever else the rule says.
 */
static void
check_arguments(struct writ_request *request, const struct writ_catalog_tool *tool)
{
    struct writ_call *call = request->call;
    const struct writ_jsonschema *schema = NULL;
    struct writ_jsonschema_fault fault = {{NULL, 0}, {NULL, 0}};
    enum writ_reason reason = WRIT_REASON_SCHEMA_NOT_USABLE;

    if (writ_is_ok(writ_catalog_schema(tool, WRIT_CATALOG_INPUT, &schema))) {
        switch (writ_jsonschema_check(schema, call->callee.arguments, request->x->arena, &fault)) {
        case WRIT_JSONSCHEMA_YES:
            return;
        case WRIT_JSONSCHEMA_NO:
            reason = WRIT_REASON_ARGUMENTS_NOT_VALID;
            break;
        case WRIT_JSONSCHEMA_LIMIT:
            break;
        }
    }
    writ_overrule_verdict(call, reason);
    call->verdict.argument = fault.place;
    call->verdict.constraint = fault.keyword;
}

enum writ_reason
writ_tool_discovery_result(struct writ_request *request, const struct writ_json *result)
{
    const struct writ_call *call = request->call;
    const struct writ_json *value = writ_json_get(result, WRIT_LIT("structuredContent"));
    const struct writ_jsonschema *schema = NULL;
    const struct writ_catalog_tool *tool;
    writ_result r;

    if (call->verdict.rule == NULL || !call->verdict.rule->schema ||
        call->callee.upstream == NULL || writ_json_is_true(result, WRIT_LIT("isError"))) {
        return WRIT_REASON_NONE;
    }
    tool = writ_catalog_find(catalog_of(request, call->callee.upstream), call->callee.tool);
    if (tool == NULL || !writ_digest_equal(&tool->digest, &call->learned.digest)) {
        return WRIT_REASON_RESULT_NOT_VALID; /* the server has changed the tool meanwhile */
    }
    r = writ_catalog_schema(tool, WRIT_CATALOG_OUTPUT, &schema);
    if (r.code == WRIT_E_ABSENT) {
        return WRIT_REASON_NONE;
    }
    return writ_is_ok(r) && value != NULL &&
                   writ_jsonschema_check(schema, value, request->x->arena, NULL) ==
                       WRIT_JSONSCHEMA_YES
               ? WRIT_REASON_NONE
               : WRIT_REASON_RESULT_NOT_VALID;
}

/* Says for which oddity, in the place of a constraint. */
static void
refuse_odd(struct writ_call *call, unsigned odd)
{
    writ_overrule_verdict(call, WRIT_REASON_DEFINITION_ODD);
    call->verdict.constraint = writ_view_str(writ_oddity_name(writ_odd_first(odd)));
}

/* The definition goes into the record; a pinned one that is not accepted is a deny. */
static enum writ_step
use_definition(struct writ_request *request)
{
    struct writ_call *call = request->call;
    const struct writ_catalog_tool *tool =
        call->callee.upstream != NULL
            ? writ_catalog_find(catalog_of(request, call->callee.upstream), call->callee.tool)
            : NULL;
    unsigned odd;

    if (tool != NULL) {
        const char *fault = head_fault(request, &tool->params);
        if (fault != NULL) {
            return writ_refusal_http(
                request, 400, WRIT_RPC_HEADER_MISMATCH, WRIT_REASON_HEADER_MISMATCH, fault);
        }
        if (request->message.era == WRIT_MCP_ERA_MODERN &&
            !writ_is_ok(write_heads(request, &tool->params))) {
            return writ_refusal_http(
                request, 503, WRIT_RPC_INTERNAL_ERROR, WRIT_REASON_OVERLOADED, NULL);
        }
        call->learned.digest = tool->digest;
        call->learned.hints = tool->hints;
        call->learned.known = true;
        ask_nobody_unless_annotated(call, tool);
    }
    if (!writ_request_may_pass(request)) {
        return WRIT_STEP_FOLLOW;
    }
    odd = tool != NULL ? writ_tool_discovery_withheld(request, call->callee.upstream,
                             call->callee.tool, &tool->digest, tool->odd)
                       : 0;
    call->observed.fault = writ_tool_discovery_judge(request, call->verdict.rule, call->callee.name,
        call->callee.tool, tool != NULL ? &tool->digest : NULL, odd);
    if (call->callee.upstream != NULL &&
        writ_catalog_is_doubled(catalog_of(request, call->callee.upstream), call->callee.tool)) {
        call->observed.fault = WRIT_REASON_DEFINITION_AMBIGUOUS;
    }
    if (call->observed.fault == WRIT_REASON_DEFINITION_ODD) {
        call->observed.fault = WRIT_REASON_NONE;
        refuse_odd(call, odd);
    }
    if (tool != NULL && call->observed.fault == WRIT_REASON_NONE && call->verdict.rule->schema &&
        writ_request_may_pass(request)) {
        check_arguments(request, tool);
    }
    if (!writ_request_may_pass(request)) {
        return WRIT_STEP_FOLLOW;
    }
    call->learned.repeats = tool != NULL && call->observed.fault == WRIT_REASON_NONE &&
                            call->verdict.rule->repeats_reads &&
                            (tool->hints & WRIT_HINT_READ_ONLY) != 0;
    return call->observed.fault == WRIT_REASON_NONE && call->verdict.rule->state != NULL
               ? WRIT_STEP_OBSERVE
               : WRIT_STEP_FOLLOW;
}

/* ---- asking */

static void
go_on(struct writ_request *request, bool known)
{
    struct writ_worker *worker = request->worker;
    size_t index = writ_upstream_index(request->call->callee.upstream);
    struct writ_request *waiting = worker->learners[index];

    if (!known) {
        worker->learn_after_us[index] = writ_loop_now_us(worker->loop) + AGAIN_US;
    }
    worker->learners[index] = NULL;
    while (waiting != NULL) { /* the requester is the last of them */
        struct writ_request *next = waiting->learn_next;
        waiting->call->learned.asked = true;
        writ_request_continue(waiting);
        waiting = next;
    }
}

static writ_result
list_body(const struct writ_request *request, struct writ_view cursor, struct writ_view *ret)
{
    struct writ_buf body = writ_buf_in(request->x->arena, BODY_MAX + 6 * cursor.len);
    struct writ_write w = writ_write_to(&body);
    char id[WRIT_PROBE_ID_MAX];

    WRIT_TRY(writ_probe_make_id("writ-definitions-", id)); /* another loop may request the list
                                                              too */
    writ_mcp_open_own(&w, writ_view_str(id), WRIT_LIT("tools/list"), &request->message);
    if (cursor.ptr != NULL) {
        writ_write_text(&w, "cursor", cursor);
    }
    writ_write_object_end(&w);
    writ_write_object_end(&w);
    WRIT_TRY(writ_write_end(&w, NULL));
    *ret = writ_buf_view(&body);
    return WRIT_DONE;
}

static void list_end(struct writ_upcall *upcall, const struct writ_upcall_answer *answer);

static const struct writ_upcall_events list_events = {.end = list_end};

static writ_result
ask(struct learner *learner, struct writ_view cursor)
{
    struct writ_request *request = learner->request;
    struct writ_upcall_request *wanted = &learner->upcall.request;
    struct writ_view body;

    WRIT_TRY(list_body(request, cursor, &body));
    WRIT_TRY(writ_upcall_request_own(request, request->call->callee.upstream, body,
        &learner->message, learner->headers, wanted));
    wanted->body_max = wanted->event_max = LIST_BYTES_MAX;
    wanted->timeout_us = wanted->total_us = TIMEOUT_US;
    learner->upcall.events = &list_events;
    learner->upcall.ctx = learner;
    writ_upcall_start(request->call->callee.upstream, request->worker, &learner->upcall);
    return WRIT_DONE;
}

/* Takes one page; gives the cursor of the next one in the request's arena, or ptr NULL. */
static writ_result
take_page(struct learner *learner, struct writ_view text, struct writ_arena *scratch,
    struct writ_view *ret_cursor, struct writ_err *err)
{
    struct writ_json_limits limits = writ_json_limits_default;
    const struct writ_json *message, *result, *tools;
    struct writ_view cursor;
    int64_t stale_us;

    limits.bytes = limits.string_bytes = LIST_BYTES_MAX;
    limits.values = LIST_VALUES;
    WRIT_TRY(writ_json_read(text, &limits, scratch, &message, err));
    result = writ_json_get_typed(message, WRIT_LIT("result"), WRIT_JSON_OBJECT);
    tools = writ_json_get_typed(result, WRIT_LIT("tools"), WRIT_JSON_ARRAY);
    if (tools == NULL) {
        WRIT_FAIL(err, WRIT_E_INVALID, "the answer has no list of tools");
    }
    WRIT_JSON_EACH(item, tools)
    {
        writ_result r = writ_catalog_add(learner->catalog, item);
        if (!writ_is_ok(r) && r.code != WRIT_E_INVALID) {
            WRIT_FAIL(err, r.code, "a definition is longer than is kept, or there are too many");
        }
    }
    stale_us = writ_tool_discovery_stale_us(
        learner->request->x->loop, learner->request->call->callee.upstream, result);
    learner->stale_us = stale_us < learner->stale_us ? stale_us : learner->stale_us;
    cursor = writ_json_string(writ_json_get(result, WRIT_LIT("nextCursor")));
    if (cursor.ptr == NULL) {
        return WRIT_DONE;
    }
    *ret_cursor = writ_view_copy(cursor, learner->request->x->arena);
    if (ret_cursor->ptr == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory to ask for the rest of the list");
    }
    return WRIT_DONE;
}

static writ_result
take_answer(struct learner *learner, const struct writ_upcall_answer *answer,
    struct writ_view *ret_cursor, struct writ_err *err)
{
    struct writ_arena *scratch;
    writ_result r;

    if (answer->end != WRIT_UPCALL_ANSWERED || answer->status >= 300) {
        WRIT_FAIL(err, WRIT_E_INVALID, "the server did not answer with a list: %s",
            answer->detail != NULL ? answer->detail : "another status than 200");
    }
    scratch = writ_arena_new(64 * answer->body.len + 65536);
    if (scratch == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory to read the list");
    }
    r = take_page(learner, answer->body, scratch, ret_cursor, err);
    writ_arena_free(scratch);
    return r;
}

static writ_result
ask_more(struct learner *learner, struct writ_view cursor, struct writ_err *err)
{
    if (learner->cursor.ptr != NULL && writ_view_equal(learner->cursor, cursor)) {
        WRIT_FAIL(err, WRIT_E_INVALID, "the list repeats its nextCursor");
    }
    learner->cursor = cursor;
    if (++learner->pages >= PAGES_MAX) {
        WRIT_FAIL(err, WRIT_E_LIMIT, "the list has more than %d pages", PAGES_MAX);
    }
    if (!writ_is_ok(ask(learner, cursor))) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory to ask for the rest of the list");
    }
    return WRIT_DONE;
}

/* At most once in AGAIN_US for each loop. */
static void
tell(const struct learner *learner, const struct writ_err *err)
{
    const struct writ_request *request = learner->request;

    WRIT_LOG(request->worker->gateway->log, WRIT_EVENT_DEFINITIONS_NOT_LEARNED,
        writ_log_text("upstream", request->call->callee.name), writ_log_str("why", err->text));
}

static void
list_end(struct writ_upcall *upcall, const struct writ_upcall_answer *answer)
{
    struct learner *learner = upcall->ctx;
    struct writ_view cursor = {NULL, 0};
    struct writ_err err = {{0}, 0, 0};
    bool good = writ_is_ok(take_answer(learner, answer, &cursor, &err));

    (void)writ_meet_is_lost(learner->request, upcall->upstream, &upcall->request, answer);
    if (good && cursor.ptr != NULL) {
        good = writ_is_ok(ask_more(learner, cursor, &err));
        if (good) {
            return;
        }
    }
    if (good) {
        struct writ_catalog_snapshot *snapshot =
            writ_upstream_snapshot(learner->request->call->callee.upstream);
        writ_catalog_seal(learner->catalog);
        writ_catalog_snapshot_put(snapshot, WRIT_TAKE(learner->catalog));
        writ_catalog_snapshot_settle(
            snapshot, learner->doubts, learner->asked_us, learner->stale_us);
    } else {
        tell(learner, &err);
    }
    writ_catalog_drop(WRIT_TAKE(learner->catalog));
    go_on(learner->request, good);
}

static enum writ_step
start(struct writ_request *request)
{
    struct writ_worker *worker = request->worker;
    size_t index = writ_upstream_index(request->call->callee.upstream);
    struct learner *learner = writ_arena_get(request->x->arena, sizeof *learner);
    bool asked = worker->learners[index] != NULL;

    request->learn_next = worker->learners[index];
    if (asked) {
        worker->learners[index] = request;
        return writ_request_wait(request, WRIT_STEP_DISCOVER);
    }
    if (learner == NULL) {
        return use_definition(request);
    }
    *learner = (struct learner){.request = request,
        .asked_us = writ_loop_now_us(request->x->loop),
        .stale_us = INT64_MAX,
        .doubts =
            writ_catalog_snapshot_doubts(writ_upstream_snapshot(request->call->callee.upstream))};
    if (!writ_is_ok(writ_catalog_new(&learner->catalog)) ||
        !writ_is_ok(ask(learner, (struct writ_view){NULL, 0}))) {
        writ_catalog_drop(WRIT_TAKE(learner->catalog));
        return use_definition(request);
    }
    worker->learners[index] = request;
    return writ_request_wait(request, WRIT_STEP_DISCOVER);
}

/* ---- DISCOVER */

/* Whether the list must be requested. A call that is refused anyway causes no request. A server may
 * change a definition without notice: that of a pinned tool is at most a few seconds old. A server
 * that does not answer is asked again later, unless it said that its list changed. */
static bool
has_to_ask(const struct writ_request *request)
{
    const struct writ_call *call = request->call;
    int64_t now_us = writ_loop_now_us(request->x->loop);
    struct writ_catalog_snapshot *snapshot;
    bool may_ask;

    if (call->callee.upstream == NULL || call->learned.asked || !writ_request_may_pass(request) ||
        writ_meet_is_late(request, call->callee.upstream)) {
        return false;
    }
    snapshot = writ_upstream_snapshot(call->callee.upstream);
    may_ask = now_us >= request->worker->learn_after_us[writ_upstream_index(call->callee.upstream)];
    if (writ_catalog_snapshot_is_doubtful(snapshot, now_us)) {
        return call->verdict.rule->pin || may_ask;
    }
    return call->verdict.rule->pin && may_ask &&
           now_us - writ_catalog_snapshot_asked_us(snapshot) >= FRESH_US;
}

enum writ_step
writ_tool_discovery_tool(struct writ_request *request)
{
    return has_to_ask(request) ? start(request) : use_definition(request);
}
