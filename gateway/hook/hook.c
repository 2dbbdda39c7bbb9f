/* hook.c - /v1/before: reads the call, and answers with the verdict once the decision is durable.
 * A caller that asks again for an unbound call gets the same authorization. An authorization whose
 * record failed is never returned. */
#include "gateway/hook/hook.h"

#include "gateway/listener/api_answer.h"
#include "gateway/call/conclude.h"
#include "gateway/call/forward.h"
#include "gateway/call/judge.h"
#include "gateway/request/caller_claims.h"
#include "gateway/request/finish.h"
#include "gateway/review/candidates.h"
#include "gateway/review/denial.h"

#include "base/text.h"
#include "evidence/json/write.h"
#include "evidence/record/extension.h"

#define ANSWER_MAX   ((size_t)4 << 20) /* a record, a credential and their description */
#define TOOL_MAX     (WRIT_CALLER_CLAIMS_MAX_BYTES + 33) /* "framework/tool" */
#define TOKENS_ARE   "/mcp"                              /* the endpoint that tokens are for */
#define META_VERSION "io.modelcontextprotocol/protocolVersion"

static const struct writ_json no_arguments = {.type = WRIT_JSON_OBJECT, .span = 1};

/* ---- answers ---- */

enum writ_step
writ_hook_refuse(
    struct writ_request *request, unsigned status, enum writ_reason reason, const char *text)
{
    return writ_refusal_http(request, status, 0, reason, text);
}

void
writ_hook_put_verdict(struct writ_write *w, struct writ_view verdict, struct writ_view message)
{
    writ_write_object_begin(w);
    writ_write_text_if(w, "verdict", verdict);
    writ_write_text_if(w, "message", message);
}

enum writ_step
writ_hook_reply(struct writ_request *request, struct writ_write *w, const struct writ_buf *body)
{
    struct writ_exchange *x = request->x;

    writ_write_object_end(w);
    WRIT_IGNORE(writ_write_end(w, NULL)); /* the buffer remembers */
    writ_metrics_observe(
        x->metrics, WRIT_HISTOGRAM_CALL_SECONDS, writ_loop_now_us(x->loop) - x->arrived_us);
    writ_finish_request(request);
    writ_api_answer_json(x, 200, body);
    return WRIT_STEP_DONE;
}

/* ---- what all of them share ---- */

struct writ_hook *
writ_hook_of(const struct writ_request *request)
{
    return request->part;
}

enum writ_step
writ_hook_find(struct writ_request *request, struct writ_view decision_id, enum writ_step next)
{
    request->entry =
        (struct writ_entry){.kind = WRIT_ENTRY_CALL, .call = {.decision_id = decision_id}};
    return writ_request_submit(request, next);
}

bool
writ_hook_is_of_tenant(const struct writ_request *request, const struct writ_decision *decision)
{
    struct writ_extension extension;

    return writ_is_ok(
               writ_extension_read(&decision->extensions, request->x->arena, &extension, NULL)) &&
           writ_view_equal(writ_member_view(&extension.tenant), request->identity.agent.tenant);
}

/* The _meta of a probe to an upstream of the gateway, in place of that of an MCP client. */
static const struct writ_json *
own_meta(const struct writ_request *request)
{
    static const struct writ_view text = WRIT_LIT(
        "{\"" META_VERSION "\":\"" WRIT_MCP_MODERN "\","
        "\"io.modelcontextprotocol/clientInfo\":{\"name\":\"writ\",\"version\":\"" WRIT_VERSION
        "\"},\"" WRIT_META_CAPABILITIES "\":{}}");
    const struct writ_json *meta = NULL;

    WRIT_IGNORE(writ_json_read(text, &writ_json_limits_default, request->x->arena, &meta, NULL));
    return meta;
}

/* "framework/tool", as in the configuration. */
static bool
read_tool(const struct writ_request *request, struct writ_call *call)
{
    struct writ_view name =
        writ_json_string(writ_json_get(writ_hook_of(request)->body, WRIT_LIT("tool")));
    size_t slash = writ_view_find(name, '/');

    if (name.len == 0 || name.len > TOOL_MAX || slash == 0 || slash + 1 >= name.len) {
        return false;
    }
    call->callee.name = writ_view_sub(name, 0, slash);
    call->callee.tool = writ_view_sub(name, slash + 1, name.len);
    call->callee.framework = writ_config_framework(writ_request_config(request), call->callee.name);
    return true;
}

bool
writ_hook_call(struct writ_request *request, enum writ_step *ret_step)
{
    struct writ_hook *hook = writ_hook_of(request);
    struct writ_call *call = writ_arena_get(request->x->arena, sizeof *call);
    const struct writ_json *arguments = writ_json_get(hook->body, WRIT_LIT("arguments"));

    if (call == NULL) {
        *ret_step = writ_hook_refuse(request, 503, WRIT_REASON_OVERLOADED, NULL);
        return false;
    }
    *call = (struct writ_call){.observed = {.digest = {WRIT_NULL, {NULL, 0}}},
        .callee = {.arguments = arguments != NULL ? arguments : &no_arguments}};
    if (!read_tool(request, call)) {
        *ret_step = writ_hook_refuse(request, 422, WRIT_REASON_MALFORMED_REQUEST,
            "tool wants a framework and its tool, as framework/tool, of at most 545 bytes");
        return false;
    }
    if (!writ_caller_claims_name(
            hook->body, WRIT_LIT("target_state_digest"), &call->caller_claims.state)) {
        *ret_step = writ_hook_refuse(request, 422, WRIT_REASON_MALFORMED_REQUEST,
            "target_state_digest is a digest; it is left out where there is none");
        return false;
    }
    request->call = call;
    return true;
}

/* ---- before ---- */

/* The members of a candidate, with `between` them: for the check, and for its message. */
/* clang-format off */
#define CANDIDATE(X, between)                                                                      \
    X("tool") between                                                                              \
    X("arguments") between                                                                         \
    X("candidates") between                                                                        \
    X("agent_id") between                                                                          \
    X("boundary_id") between                                                                       \
    X("idempotency_key") between                                                                   \
    X("continuation_id") between                                                                   \
    X("target_state_digest") between                                                               \
    X("task") between                                                                              \
    X("request_id")
/* clang-format on */
#define MEMBER(name) name,
#define NAME(name)   name

/* Judges the call, or the first of several that the body proposes. */
static enum writ_step
propose(struct writ_request *request)
{
    const struct writ_json *body = writ_hook_of(request)->body;
    const struct writ_json *list = writ_json_get(body, WRIT_LIT("candidates"));
    writ_result r = WRIT_DONE;

    if (list != NULL && (writ_json_get(body, WRIT_LIT("arguments")) != NULL ||
                            request->call->caller_claims.state.ptr != NULL)) {
        return writ_hook_refuse(request, 422, WRIT_REASON_MALFORMED_REQUEST,
            "candidates stand in place of arguments, and without a target_state_digest");
    }
    if (list != NULL) {
        r = writ_candidates_read(request, NULL, list, request->call);
    }
    if (r.code == WRIT_E_PARSE) {
        return writ_hook_refuse(request, 422, WRIT_REASON_MALFORMED_REQUEST,
            "candidates is a list of 2 to 8 objects, each the arguments of one call");
    }
    if (!writ_is_ok(r)) {
        return writ_hook_refuse(request, 503, WRIT_REASON_OVERLOADED, NULL);
    }
    writ_judge_decide(request, request->call);
    return WRIT_STEP_DISCOVER;
}

enum writ_step
writ_hook_before(struct writ_request *request)
{
    static const char *const known[] = {CANDIDATE(MEMBER, ) NULL};
    const struct writ_json *body = writ_hook_of(request)->body;
    struct writ_view agent_id = {NULL, 0}, request_id = {NULL, 0};
    enum writ_step step;
    struct writ_call *call;

    if (!writ_json_has_only(body, known)) {
        return writ_hook_refuse(request, 422, WRIT_REASON_MALFORMED_REQUEST,
            "a candidate has no other members than " CANDIDATE(NAME, ", "));
    }
    if (!writ_hook_call(request, &step)) {
        return step;
    }
    call = request->call;
    if (!writ_caller_claims_key(
            request->x, body, WRIT_LIT("idempotency_key"), &call->caller_claims.key)) {
        return writ_hook_refuse(request, 422, WRIT_REASON_IDEMPOTENCY_KEY_INVALID, NULL);
    }
    if (!writ_caller_claims_name(body, WRIT_LIT("boundary_id"), &call->caller_claims.boundary) ||
        writ_caller_claims_is_reserved(call->caller_claims.boundary) ||
        !writ_caller_claims_name(
            body, WRIT_LIT("continuation_id"), &call->caller_claims.continuation) ||
        !writ_caller_claims_name(body, WRIT_LIT("request_id"), &request_id) ||
        !writ_caller_claims_name(body, WRIT_LIT("agent_id"), &agent_id)) {
        return writ_hook_refuse(request, 422, WRIT_REASON_MALFORMED_REQUEST,
            "agent_id, boundary_id, continuation_id and request_id are strings of 1 to 512 bytes, "
            "and no boundary begins with writ:, session: or agent:");
    }
    if (agent_id.ptr != NULL && !writ_view_equal(agent_id, request->identity.agent.id)) {
        return writ_hook_refuse(request, 403, WRIT_REASON_AGENT_ID_MISMATCH, NULL);
    }
    call->caller_claims.task = writ_json_get(body, WRIT_LIT("task"));
    request->message.id = writ_json_get(body, WRIT_LIT("request_id"));
    request->message.meta = own_meta(request);
    return propose(request);
}

/* ---- HAND ---- */

enum writ_step
writ_hook_hand(struct writ_request *request)
{
    struct writ_call *call = request->call;
    struct writ_entry_wait wait = {.leaf = call->record.leaf, .kind = WRIT_WAIT_BIND};

    if (request->x->gone) {
        return writ_conclude_unsent(request, WRIT_REASON_CLIENT_GONE);
    }
    if (!writ_member_time(call->record.authorization.expires_at.view, &wait.until_us) ||
        !writ_is_ok(
            writ_digest_bytes(call->record.authorization.decision_id.view, &wait.name, NULL))) {
        return writ_conclude_unsent(request, WRIT_REASON_INTERNAL_ERROR);
    }
    /* the caller gets the permission to make the call, and must bind it */
    WRIT_INVARIANT(writ_binding_spend(&call->grant.permit, NULL));
    request->entry = (struct writ_entry){.kind = WRIT_ENTRY_WAIT, .wait = wait};
    return writ_request_submit(request, WRIT_STEP_HANDED);
}

enum writ_step
writ_hook_handed(struct writ_request *request)
{
    const struct writ_entry *entry = &request->entry;

    if (entry->code != WRIT_OK) { /* its caller does not know of it and will not make it */
        return writ_conclude_unsent(request,
            entry->code == WRIT_E_LIMIT ? WRIT_REASON_OVERLOADED : WRIT_REASON_LEDGER_UNAVAILABLE);
    }
    return WRIT_STEP_ANSWER;
}

/* ---- ANSWER ---- */

static void
put_record(struct writ_write *w, const struct writ_decision *decision)
{
    writ_auto_buf record = writ_buf_make(WRIT_RECORD_MAX_BYTES);

    writ_write_name(w, WRIT_LIT("decision"));
    if (writ_is_ok(writ_decision_put(decision, &record, NULL))) {
        writ_write_raw(w, writ_buf_view(&record));
    } else {
        writ_write_null(w);
    }
}

static enum writ_step
answer_refused(struct writ_request *request)
{
    const struct writ_call *call = request->call;
    const struct writ_denial refusal = writ_conclude_refusal(request);
    bool decided = request->entry.kind == WRIT_ENTRY_DECISION;
    writ_auto_buf text = writ_buf_make(WRIT_DENIAL_TEXT_MAX);
    writ_auto_buf body = writ_buf_make(ANSWER_MAX);
    struct writ_write w = writ_write_to(&body);

    if (call->record.decision.decision_id.view.len == 0) { /* there is no record */
        return writ_hook_refuse(request, 503, refusal.reason, NULL);
    }
    writ_metrics_mark(request->x->metrics, WRIT_VECTOR_REFUSALS, refusal.reason);
    writ_denial_put_text(&text, request, &refusal);
    writ_hook_put_verdict(
        &w, decided ? call->record.decision.decision.view : WRIT_LIT("deny"), writ_buf_view(&text));
    writ_denial_put_members(&w, request, &refusal);
    put_record(&w, &call->record.decision);
    return writ_hook_reply(request, &w, &body);
}

static enum writ_step
answer_allowed(struct writ_request *request)
{
    const struct writ_call *call = request->call;
    enum writ_reason reason =
        call->shadowed != WRIT_REASON_NONE ? call->shadowed : call->verdict.reason;
    writ_auto_buf body = writ_buf_make(ANSWER_MAX);
    struct writ_write w = writ_write_to(&body);

    writ_hook_put_verdict(&w, WRIT_LIT("allow"), writ_reason_sentence(reason));
    writ_write_text_if(&w, "reason", writ_reason_name(reason));
    writ_write_text_if(&w, "decision_id", call->record.decision.decision_id.view);
    writ_candidates_put(&w, request);
    writ_write_text_if(&w, "credential", call->grant.credential);
    put_record(&w, &call->record.decision);
    return writ_hook_reply(request, &w, &body);
}

/* An answer may be lost on its way: a caller that repeats the request for a call that waits to be
 * bound gets the same authorization. The call is bound once, and its credential has the same
 * jti. */
static bool
is_asked_again(const struct writ_entry *entry)
{
    return entry->kind == WRIT_ENTRY_DECISION && entry->code == WRIT_OK &&
           entry->decision.refused == WRIT_REASON_DUPLICATE_IN_FLIGHT &&
           entry->decision.prior.known && entry->decision.prior.waits == WRIT_WAIT_BIND;
}

enum writ_step
writ_hook_again(struct writ_request *request)
{
    const struct writ_entry *entry = &request->entry;

    if (!is_asked_again(entry)) {
        return WRIT_STEP_ANSWER;
    }
    request->hold.decided = *entry;
    return writ_hook_find(request, entry->decision.prior.decision_id, WRIT_STEP_SAME);
}

enum writ_step
writ_hook_same(struct writ_request *request)
{
    const struct writ_entry found = request->entry;
    struct writ_call *call = request->call;

    request->entry = request->hold.decided;
    if (found.code != WRIT_OK || found.call.stage != WRIT_CALL_BINDS) {
        return WRIT_STEP_ANSWER; /* it was bound meanwhile */
    }
    call->record.authorization = found.call.decision;
    call->record.authorization.decision = writ_decision_route_text(WRIT_DECISION_ALLOW);
    if (writ_is_ok(writ_forward_credential(request))) {
        call->record.decision = found.call.decision;
        writ_hook_of(request)->is_same = true;
    }
    return WRIT_STEP_ANSWER;
}

static enum writ_step
answer_before(struct writ_request *request)
{
    return request->entry.kind == WRIT_ENTRY_WAIT || writ_hook_of(request)->is_same
               ? answer_allowed(request)
               : answer_refused(request);
}

/* ---- HOOK ---- */

enum writ_step
writ_hook_read(struct writ_request *request)
{
    const struct writ_json *body = request->message.body;
    struct writ_hook *hook = writ_arena_get(request->x->arena, sizeof *hook);

    if (hook == NULL) {
        return writ_hook_refuse(request, 503, WRIT_REASON_OVERLOADED, NULL);
    }
    if (writ_json_type(body) == WRIT_JSON_ARRAY) {
        return writ_hook_refuse(request, 400, WRIT_REASON_BATCH_REFUSED, NULL);
    }
    if (writ_json_type(body) != WRIT_JSON_OBJECT) {
        return writ_hook_refuse(
            request, 400, WRIT_REASON_MALFORMED_REQUEST, "the body wants to be a JSON object");
    }
    *hook = (struct writ_hook){.body = body};
    request->part = hook;
    request->message.era = WRIT_MCP_ERA_MODERN; /* of probes */
    return request->endpoint->kind->hook;
}

/* ---- routes ---- */

static void
serve_openapi(struct writ_exchange *x, void *ctx)
{
    static const struct writ_header headers[] = {
        {WRIT_LIT("Content-Type"), WRIT_LIT("application/json")},
        {WRIT_LIT("Cache-Control"), WRIT_LIT("public, max-age=60")},
    };

    (void)ctx;
    writ_exchange_reply(x, 200, headers, 2, writ_view(writ_openapi_json, writ_openapi_json_len));
}

/* For a request to bind a call: the result of the check. */
static void
binding_verdict(
    const struct writ_request *request, struct writ_view *ret_verdict, enum writ_reason *ret_reason)
{
    const struct writ_binding *binding = &writ_hook_of(request)->binding;

    *ret_verdict = writ_binding_verdict_name(binding->verdict);
    *ret_reason = binding->reason;
}

static void
overloaded(struct writ_exchange *x)
{
    writ_api_answer_problem(x, 503, WRIT_REASON_OVERLOADED);
}

/* The version is for probes: clients do not use it. */
#define KIND(...)                                                                                  \
    {                                                                                              \
        .problems = true, .version = WRIT_LIT(WRIT_MCP_MODERN), .read = WRIT_STEP_HOOK,            \
        .judge = WRIT_STEP_HOOK, .sent = WRIT_STEP_HAND, .overloaded = overloaded, __VA_ARGS__     \
    }

/* The routes, in the order of their endpoints. */
enum { OPENAPI = 0, BEFORE, RUNS, BIND, AFTER, SEAL, POOL };

static const struct writ_endpoint_kind kinds[WRIT_HOOK_ROUTES] = {
    [BEFORE] = KIND(.by = "before", .counted = true, .hook = WRIT_STEP_BEFORE,
        .observed = WRIT_STEP_FOLLOW, .refused = WRIT_STEP_AGAIN, .answer = answer_before),
    [RUNS] = KIND(.by = "runs", .hook = WRIT_STEP_RUN, .refused = WRIT_STEP_ANSWER,
        .answer = writ_hook_run_answer),
    [BIND] = KIND(.by = "bind", .hook = WRIT_STEP_CANDIDATE, .observed = WRIT_STEP_COMPARE,
        .answer = writ_hook_bind_answer, .verdict = binding_verdict),
    [AFTER] = KIND(.by = "after", .hook = WRIT_STEP_OUTCOME, .answer = writ_hook_after_answer),
    [SEAL] = KIND(.by = "seal", .hook = WRIT_STEP_SEAL, .answer = answer_before),
    [POOL] = KIND(.by = "pool", .hook = WRIT_STEP_POOL, .answer = answer_before),
};

void
writ_hook_routes(struct writ_gateway *gateway, size_t max_body_bytes,
    struct writ_endpoint endpoints[WRIT_HOOK_ROUTES], struct writ_route ret[WRIT_HOOK_ROUTES])
{
    static const struct writ_view paths[WRIT_HOOK_ROUTES] = {
        [BEFORE] = WRIT_LIT("/v1/before"),
        [RUNS] = WRIT_LIT("/v1/runs"),
        [BIND] = WRIT_LIT("/v1/bind"),
        [AFTER] = WRIT_LIT("/v1/after"),
        [SEAL] = WRIT_LIT("/v1/seal"),
        [POOL] = WRIT_LIT("/v1/pool"),
    };

    for (size_t i = BEFORE; i <= POOL; i++) {
        endpoints[i] = (struct writ_endpoint){
            .gateway = gateway, .kind = &kinds[i], .path = WRIT_LIT(TOKENS_ARE)};
        ret[i] = (struct writ_route){
            .path = paths[i],
            .methods = WRIT_ROUTE_POST,
            .json = true,
            .problems = true,
            .max_body_bytes = max_body_bytes,
            .handler = writ_request_start,
            .ctx = &endpoints[i],
        };
    }
    ret[OPENAPI] = (struct writ_route){
        .path = WRIT_LIT("/v1/openapi.json"),
        .methods = WRIT_ROUTE_GET,
        .problems = true,
        .handler = serve_openapi,
    };
}
