/* judge.c - from a tools/call to a decision that is on disk: JUDGE, DRAFT, CLAIM, BIND.
 *
 * The draft for the ledger has the verdict of the policy. The ledger decides finally (duplicates,
 * budgets, sealed boundaries, the clock) and records its decision; only a granted call reaches
 * BIND, and only BIND makes a permit. */
#include "evidence/record/derive.h"
#include "gateway/call/call_key.h"
#include "gateway/call/conclude.h"
#include "gateway/call/follow.h"
#include "gateway/call/retain.h"
#include "gateway/call/judge.h"
#include "gateway/call/mrtr.h"
#include "gateway/mcp/tool_name.h"
#include "gateway/request/caller_claims.h"
#include "gateway/request/refusal.h"
#include "gateway/request/request.h"
#include "gateway/request/request_span.h"
#include "gateway/review/candidates.h"
#include "gateway/review/review_ask.h"
#include "gateway/review/review_return.h"

#include "base/id.h"
#include "base/text.h"
#include "evidence/json/jcs.h"
#include "policy/decide/exact.h"

#define US_PER_S INT64_C(1000000)

static const struct writ_json no_arguments = {.type = WRIT_JSON_OBJECT, .span = 1};

/* The conditions of an allow: a change of any of these makes it stale. */
static const struct writ_view revalidate_if[] = {
    {"argument_change", sizeof "argument_change" - 1},
    {"target_state_change", sizeof "target_state_change" - 1},
    {"policy_version_change", sizeof "policy_version_change" - 1},
};

static enum writ_step
invalid_params(struct writ_request *request, enum writ_reason reason, const char *text)
{
    return writ_refusal_http(request, 400, WRIT_RPC_INVALID_PARAMS, reason, text);
}

static enum writ_step
no_draft(struct writ_request *request, enum writ_code code)
{
    if (code == WRIT_E_NOMEM) {
        return writ_refusal_http(
            request, 503, WRIT_RPC_INTERNAL_ERROR, WRIT_REASON_OVERLOADED, NULL);
    }
    if (code == WRIT_E_CRYPTO) {
        return writ_refusal_http(
            request, 500, WRIT_RPC_INTERNAL_ERROR, WRIT_REASON_INTERNAL_ERROR, NULL);
    }
    return invalid_params(request, WRIT_REASON_MALFORMED_REQUEST,
        "the arguments have no canonical form, or are too large");
}

/* ---- JUDGE: what is called ---- */

/* "fs__write_file" on an endpoint for all, the tool's own name on an endpoint for one. */
static void
resolve_tool(struct writ_request *request, struct writ_call *call)
{
    struct writ_worker *worker = request->worker;
    struct writ_view separator = writ_request_config(request)->separator, name, own;

    call->callee.wire_tool = call->callee.tool = request->message.name;
    call->callee.upstream = request->endpoint->only;
    if (call->callee.upstream == NULL &&
        writ_tool_name_split(separator, call->callee.wire_tool, &name, &own)) {
        call->callee.upstream = writ_upstream_find(worker->gateway, name);
        call->callee.tool = own;
    }
    if (call->callee.upstream == NULL) {
        return;
    }
    call->callee.name = writ_upstream_config(call->callee.upstream)->name;
    if (request->endpoint->only == NULL) {
        own = writ_tool_name_tool(separator, call->callee.name, call->callee.tool,
            writ_catalog_snapshot_look(writ_upstream_snapshot(call->callee.upstream),
                &worker->shelves[writ_upstream_index(call->callee.upstream)]));
        own = writ_view_copy(own, request->x->arena); /* the catalog may be freed */
        call->callee.tool = own.ptr != NULL ? own : call->callee.tool;
    }
}

/* ---- JUDGE ---- */

static bool
is_stopped_under(const struct writ_request *request, const struct writ_call *call,
    struct writ_view policy, struct writ_view decision_id)
{
    const struct writ_kill_call seen = {
        .agent_id = request->identity.agent.id,
        .tenant = request->identity.agent.tenant,
        .upstream = call->callee.name,
        .tool = call->callee.tool,
        .policy = policy,
        .decision_id = decision_id,
    };

    return writ_stop_rules_stops(request->worker->gateway->stop_rules, &seen);
}

/* An administrator's stop overrides every rule, and shadow mode. */
bool
writ_judge_is_stopped(const struct writ_request *request, const struct writ_call *call,
    const struct writ_decision *decided)
{
    static const struct writ_view none = {"", 0};
    char policy[WRIT_DIGEST_TEXT];

    writ_digest_text(&writ_request_config(request)->policy_digest, policy);
    return is_stopped_under(request, call, writ_view(policy, WRIT_DIGEST_TEXT - 1), none) ||
           (decided != NULL && is_stopped_under(request, call, decided->policy_digest.view,
                                   decided->decision_id.view));
}

void
writ_judge_decide(struct writ_request *request, struct writ_call *call)
{
    const struct writ_policy_call policy_call = {
        .agent = &request->identity.agent,
        .upstream = call->callee.name,
        .tool = call->callee.tool,
        .arguments = call->callee.arguments,
    };
    struct writ_view inexact;

    if (call->callee.upstream == NULL && call->callee.framework == NULL) {
        call->verdict = (struct writ_verdict){.reason = WRIT_REASON_TOOL_NOT_LISTED};
        return;
    }
    if (writ_judge_is_stopped(request, call, NULL)) {
        call->verdict = (struct writ_verdict){.reason = WRIT_REASON_KILLED};
        return;
    }
    writ_policy_decide(
        writ_request_config(request), &policy_call, request->x->arena, &call->verdict);
    if (call->verdict.answer == WRIT_POLICY_ALLOW && call->returned.state.ptr == NULL &&
        !writ_mrtr_is_exact(request, &inexact)) {
        writ_policy_refuse_number(inexact, &call->verdict);
    }
    /* shadow mode grants only what can be named: without a scope nothing can be bound */
    if (call->verdict.answer == WRIT_POLICY_DENY && call->verdict.shadow &&
        call->verdict.scope.ptr != NULL) {
        call->shadowed = call->verdict.reason;
        writ_metrics_count(request->x->metrics, WRIT_COUNTER_SHADOWED, 1);
    }
    if (call->verdict.approval != NULL && call->verdict.shadow) { /* no review is opened */
        call->shadowed = WRIT_REASON_APPROVAL_REQUIRED;
        call->verdict.approval = NULL;
        writ_metrics_count(request->x->metrics, WRIT_COUNTER_SHADOWED, 1);
    }
    writ_candidates_bar(request, call);
}

/* The call and those that it is to be compared with; none of them has input for a call that
 * waits. */
static enum writ_step
propose(struct writ_request *request, const struct writ_json *list)
{
    const struct writ_json *params = request->message.params;
    const struct writ_call *call = request->call;
    writ_result r;

    if (call->caller_claims.state.ptr != NULL ||
        (call->returned.state.ptr == NULL &&
            (writ_json_get(params, WRIT_LIT("inputResponses")) != NULL ||
                writ_json_get(params, WRIT_LIT("requestState")) != NULL))) {
        return invalid_params(request, WRIT_REASON_MALFORMED_REQUEST,
            "a call with io.writ/candidates has no io.writ/targetStateDigest, and no "
            "inputResponses or requestState of a tool server");
    }
    r = writ_candidates_read(request, call->callee.arguments, list, call);
    if (r.code == WRIT_E_PARSE) {
        return invalid_params(request, WRIT_REASON_MALFORMED_REQUEST,
            "io.writ/candidates is a list of 1 to 7 objects, each the arguments of another call");
    }
    if (!writ_is_ok(r)) {
        return no_draft(request, r.code);
    }
    writ_judge_decide(request, request->call);
    return WRIT_STEP_LATE;
}

enum writ_step
writ_judge_call(struct writ_request *request)
{
    struct writ_call *call = writ_arena_get(request->x->arena, sizeof *call);
    struct writ_view boundary = {NULL, 0};
    const struct writ_json *arguments, *list;
    writ_result r;

    if (call == NULL) {
        return writ_refusal_http(
            request, 503, WRIT_RPC_INTERNAL_ERROR, WRIT_REASON_OVERLOADED, NULL);
    }
    *call = (struct writ_call){.observed = {.digest = {WRIT_NULL, {NULL, 0}}}};
    if (request->message.name.len == 0) { /* as servers answer it: 200 */
        return writ_refusal_http(request, 200, WRIT_RPC_INVALID_PARAMS,
            WRIT_REASON_MALFORMED_REQUEST, "params must name a tool");
    }
    if (request->message.name.len > WRIT_CALLER_CLAIMS_MAX_BYTES ||
        !writ_mcp_params_are_known(request->message.params)) {
        return invalid_params(request, WRIT_REASON_MALFORMED_REQUEST,
            "params of a tools/call have no other members than name, arguments, _meta, task, "
            "inputResponses and requestState, and a name of at most 512 bytes");
    }
    if (!writ_caller_claims_key(request->x, request->message.meta,
            WRIT_LIT("io.writ/idempotencyKey"), &call->caller_claims.key)) {
        return invalid_params(request, WRIT_REASON_IDEMPOTENCY_KEY_INVALID, NULL);
    }
    if (!writ_caller_claims_name(
            request->message.meta, WRIT_LIT("io.writ/boundaryId"), &boundary) ||
        writ_caller_claims_is_reserved(boundary) ||
        !writ_caller_claims_name(request->message.meta, WRIT_LIT("io.writ/targetStateDigest"),
            &call->caller_claims.state) ||
        !writ_caller_claims_name(request->message.meta, WRIT_LIT("io.writ/continuationId"),
            &call->caller_claims.continuation)) {
        return invalid_params(request, WRIT_REASON_MALFORMED_REQUEST,
            "io.writ/boundaryId, io.writ/targetStateDigest and io.writ/continuationId are strings "
            "of 1 to 512 bytes that can all be seen, and no boundary begins with writ:, session: "
            "or agent:");
    }
    call->caller_claims.boundary = boundary;
    call->caller_claims.task = writ_json_get(request->message.meta, WRIT_LIT("io.writ/task"));
    request->call = call;
    resolve_tool(request, call);
    arguments = writ_json_get(request->message.params, WRIT_LIT("arguments"));
    call->callee.arguments = arguments != NULL ? arguments : &no_arguments;
    call->returned = writ_review_return_read(request);
    list = writ_json_get(request->message.meta, WRIT_LIT("io.writ/candidates"));
    if (list != NULL) {
        return propose(request, list);
    }
    writ_judge_decide(request, call);
    if (call->returned.state.ptr == NULL) {
        r = writ_mrtr_read(request, &call->mrtr);
        if (!writ_is_ok(r)) {
            return no_draft(request, r.code);
        }
    }
    return writ_request_may_pass(request) && call->mrtr.answers ? WRIT_STEP_MRTR : WRIT_STEP_LATE;
}

/* ---- DRAFT: the record ---- */

/* A digest that the caller expects replaces a missing probe; with a probe, both must agree
 * (docs/running.md, "The state of a target"). */
static void
compare_stated_state(struct writ_call *call)
{
    struct writ_digest digest;

    if (call->caller_claims.state.ptr == NULL || call->observed.fault != WRIT_REASON_NONE) {
        return;
    }
    if (!writ_is_ok(writ_digest_read(call->caller_claims.state, &digest, NULL))) {
        call->observed.fault = WRIT_REASON_TARGET_STATE_DRIFT;
    } else if (call->verdict.rule == NULL || call->verdict.rule->state == NULL) {
        call->observed.digest = writ_member_text(call->caller_claims.state);
    } else if (!writ_view_equal(call->observed.digest.view, call->caller_claims.state)) {
        call->observed.fault = WRIT_REASON_TARGET_STATE_DRIFT;
    }
}

/* The id as JSON. A caller chose it, and people read the record: characters that hide are
 * escaped. */
WRIT_RESULT
writ_judge_put_request_id(struct writ_buf *ret, const struct writ_json *id)
{
    if (writ_json_type(id) != WRIT_JSON_STRING) {
        return writ_jcs_put(ret, id, NULL);
    }
    writ_text_json_safe(ret, writ_json_string(id), WRIT_JUDGE_REQUEST_ID_MAX);
    return writ_buf_check(ret, NULL);
}

static writ_result
describe(struct writ_request *request, struct writ_call *call, struct writ_decision *d)
{
    struct writ_arena *arena = request->x->arena;
    const struct writ_config *config = writ_request_config(request);
    const struct writ_agent *agent = &request->identity.agent;
    char *id = writ_arena_get(arena, WRIT_ID_TEXT);
    struct writ_buf request_id = writ_buf_in(arena, WRIT_JUDGE_REQUEST_ID_MAX);

    if (id == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    WRIT_TRY(writ_id_new(request->worker->gateway->clock, id, NULL));
    if (request->message.id != NULL) { /* a caller of the hook API need not name the request */
        WRIT_TRY(writ_judge_put_request_id(&request_id, request->message.id));
    }
    d->decision_id = writ_member_text(writ_view(id, WRIT_ID_TEXT - 1));
    d->request_id = writ_member_text_or_absent(writ_buf_view(&request_id));
    d->agent_id = writ_member_text(agent->id);
    d->agent_role = writ_member_text_or_absent(agent->role);
    d->credential_scope = writ_member_text_or_absent(agent->credential_scope);
    d->credential_tier = writ_member_text_or_absent(agent->credential_tier);
    d->tool = writ_member_text(call->callee.tool);
    d->target = writ_member_text_or_absent(call->verdict.target);
    d->normalized_scope = writ_member_text_or_absent(call->verdict.scope);
    d->boundary_id = writ_member_text(call->run.id);
    d->target_state_digest = call->observed.digest;
    d->continuation_id = (struct writ_member_text){WRIT_NULL, {NULL, 0}};
    d->supersedes = call->mrtr.follows ? call->mrtr.previous.decision_id
                                       : (struct writ_member_text){WRIT_NULL, {NULL, 0}};
    d->policy_refs = writ_member_list(call->verdict.policy_refs.items, call->verdict.policy_refs.n);
    d->retrieved_policy_refs = writ_member_list(NULL, 0);
    d->revalidate_if =
        writ_member_list(revalidate_if, sizeof revalidate_if / sizeof *revalidate_if);
    return writ_call_key_digest(&config->policy_digest, arena, &d->policy_digest);
}

static writ_result
identify(struct writ_request *request, struct writ_call *call, struct writ_decision *d)
{
    struct writ_arena *arena = request->x->arena;

    if (call->verdict.answer == WRIT_POLICY_DENY &&
        !writ_exact_holds(call->callee.arguments, NULL)) {
        return WRIT_DONE; /* for any reason: no single value has these digests */
    }
    WRIT_TRY(writ_call_key_arguments(request, call->callee.arguments, &d->params_hash));
    WRIT_TRY(writ_decision_state_free(
        d, request->identity.agent.tenant, call->callee.name, &call->record.state_free, NULL));
    if (call->mrtr.follows) {
        d->idempotency_key = call->mrtr.previous.idempotency_key;
    } else if (call->caller_claims.key.ptr != NULL) {
        d->idempotency_key = writ_member_text(call->caller_claims.key);
    } else {
        WRIT_TRY(writ_decision_auto_key(
            call->run.id, &call->record.state_free, arena, &d->idempotency_key, NULL));
    }
    return writ_decision_derive(d, request->worker->gateway->profile, arena, NULL);
}

static struct writ_member_list
budget_names(const struct writ_request *request, const struct writ_call *call)
{
    size_t n = call->verdict.reservations_n;
    struct writ_view *names = n > 0 ? writ_arena_get(request->x->arena, n * sizeof *names) : NULL;

    if (names == NULL) {
        return (struct writ_member_list){WRIT_ABSENT, NULL, 0};
    }
    for (size_t i = 0; i < n; i++) {
        names[i] = call->verdict.reservations[i].name;
    }
    return writ_member_list(names, n);
}

static enum writ_duplicates
duplicates_of(const struct writ_call *call)
{
    const struct writ_tool_rule *rule = call->verdict.rule;

    if (call->learned.repeats) {
        return WRIT_DUPLICATES_ALLOW;
    }
    return rule != NULL ? rule->duplicates : WRIT_DUPLICATES_FORBID;
}

/* How long the ledger will claim the key if it grants the call: for the record. */
static struct writ_member_number
claim_seconds(const struct writ_request *request, const struct writ_call *call, bool is_allowed)
{
    const struct writ_config *config = writ_request_config(request);
    int64_t kept_us = call->caller_claims.key.ptr != NULL ? config->ledger.claims_kept_us
                                                          : 2 * config->sessions.window_us;

    if (!is_allowed || call->mrtr.follows || duplicates_of(call) == WRIT_DUPLICATES_ALLOW) {
        return (struct writ_member_number){WRIT_ABSENT, 0};
    }
    return writ_member_number((kept_us + US_PER_S - 1) / US_PER_S);
}

static writ_result
extend(struct writ_request *request, struct writ_call *call, enum writ_reason refused,
    struct writ_decision *d)
{
    struct writ_extension *extension = &call->record.extension;

    *extension = (struct writ_extension){
        .tenant = writ_member_text_or_absent(request->identity.agent.tenant),
        .upstream = writ_member_text_or_absent(call->callee.name),
        .wire_tool = writ_member_text_or_absent(call->callee.wire_tool),
        .profile = writ_member_text(request->worker->gateway->profile->name),
        .argument = writ_member_text_or_absent(call->verdict.argument),
        .constraint = writ_member_text_or_absent(call->verdict.constraint),
        .claim_seconds = claim_seconds(
            request, call, refused == WRIT_REASON_NONE || call->shadowed != WRIT_REASON_NONE),
        .key_stated = writ_member_flag(call->caller_claims.key.ptr != NULL),
        .duplicates = writ_member_text(writ_duplicates_word(duplicates_of(call))),
        .trace_id = writ_member_text_or_absent(writ_request_span_incoming_id(request)),
        .budgets = budget_names(request, call),
    };

    if (refused != WRIT_REASON_NONE) {
        extension->reason = writ_member_text(writ_reason_name(refused));
    }
    if (call->shadowed != WRIT_REASON_NONE) {
        extension->shadow = writ_member_flag(true);
    }
    if (call->learned.known) {
        WRIT_TRY(
            writ_call_key_digest(&call->learned.digest, request->x->arena, &extension->definition));
    }
    if (call->mrtr.has_input) {
        WRIT_TRY(
            writ_call_key_digest(&call->mrtr.input, request->x->arena, &extension->input_digest));
    }
    if (call->mrtr.follows) {
        extension->round = (struct writ_member_number){WRIT_PRESENT, call->mrtr.number};
    }
    if (d->params_hash.is == WRIT_PRESENT) {
        WRIT_TRY(writ_call_key_digest(
            &call->record.state_free, request->x->arena, &extension->state_free));
    }
    if (call->follow.record.ptr != NULL) {
        extension->flow =
            (struct writ_member_object){WRIT_PRESENT, NULL, call->follow.record, NULL};
    }
    WRIT_TRY(writ_retain_describe(request, call));
    return writ_extension_make(extension, request->x->arena, &d->extensions, NULL);
}

static void
shadow_state(const struct writ_request *request, struct writ_call *call)
{
    if (call->observed.fault != WRIT_REASON_NONE && call->verdict.shadow &&
        writ_request_may_pass(request)) {
        call->shadowed = call->observed.fault;
        call->observed.fault = WRIT_REASON_NONE;
    }
}

/* The reason of a deny, or NONE for an allow. Shadow mode records the real verdict. */
static enum writ_reason
draft_reason(const struct writ_call *call)
{
    if (call->barred != WRIT_REASON_NONE) {
        return call->barred;
    }
    if (call->mrtr.fault != WRIT_REASON_NONE) {
        return call->mrtr.fault;
    }
    if (call->returned.fault != WRIT_REASON_NONE) {
        return call->returned.fault;
    }
    if (call->shadowed != WRIT_REASON_NONE) {
        return call->shadowed;
    }
    if (call->observed.fault != WRIT_REASON_NONE) {
        return call->observed.fault;
    }
    if (call->verdict.answer != WRIT_POLICY_ALLOW) {
        return call->verdict.reason;
    }
    /* voters judge the arguments: an unrelated answer must not bypass them */
    if (call->verdict.approval != NULL && call->mrtr.has_input && !call->mrtr.follows) {
        return WRIT_REASON_INPUT_NOT_AWAITED;
    }
    /* a caller that names an approval when none is needed means another call */
    if ((call->caller_claims.continuation.ptr != NULL || call->returned.state.ptr != NULL) &&
        call->verdict.approval == NULL) {
        return WRIT_REASON_CONTINUATION_MISMATCH;
    }
    return WRIT_REASON_NONE;
}

static writ_result
fill_draft(struct writ_request *request, struct writ_call *call, enum writ_reason refused)
{
    WRIT_TRY(describe(request, call, &call->record.decision));
    WRIT_TRY(identify(request, call, &call->record.decision));
    return extend(request, call, refused, &call->record.decision);
}

/* Each candidate is judged as a call of its own, then all of them ask for one review. */
static enum writ_step
next_candidate(struct writ_request *request)
{
    enum writ_step step = WRIT_STEP_CLAIM;
    writ_result r;

    if (writ_candidates_next(request)) {
        writ_judge_decide(request, request->call);
        return WRIT_STEP_DISCOVER;
    }
    r = writ_candidates_ask(request, &step);
    return writ_is_ok(r) ? step : no_draft(request, r.code);
}

enum writ_step
writ_judge_draft(struct writ_request *request)
{
    struct writ_call *call = request->call;
    struct writ_decision *d = &call->record.decision;
    enum writ_reason refused;
    writ_result r;

    /* after the probe: an earlier window may be over */
    r = writ_call_key_run(request);
    if (!writ_is_ok(r)) {
        return no_draft(request, r.code);
    }
    call->review.asks = false; /* a former draft of it may have asked */
    compare_stated_state(call);
    shadow_state(request, call);
    writ_candidates_require(request, call);
    refused = draft_reason(call);
    d->decision = writ_decision_route_text(
        refused == WRIT_REASON_NONE ? WRIT_DECISION_ALLOW : WRIT_DECISION_DENY);
    d->reason = writ_member_text(
        writ_reason_sentence(refused != WRIT_REASON_NONE ? refused : call->verdict.reason));
    r = fill_draft(request, call, refused);
    call->end.refusal = refused;
    if (writ_is_ok(r) && refused == WRIT_REASON_NONE && writ_review_ask_needed(call)) {
        r = writ_review_ask_make(request, call);
    }
    if (!writ_is_ok(r)) {
        return no_draft(request, r.code);
    }
    return request->candidates != NULL ? next_candidate(request) : WRIT_STEP_CLAIM;
}

/* ---- CLAIM ---- */

/* The implicit key of the call in another run. */
static writ_result
key_in(const struct writ_request *request, struct writ_view boundary_id, struct writ_digest *ret)
{
    const struct writ_call *call = request->call;
    struct writ_member_text key;

    WRIT_TRY(writ_decision_auto_key(
        boundary_id, &call->record.state_free, request->x->arena, &key, NULL));
    return writ_ledger_claim(request->identity.agent.tenant, request->identity.agent.id,
        call->callee.name, call->callee.tool, key.view, ret, NULL);
}

static writ_result
make_claim(
    const struct writ_request *request, const struct writ_call *call, struct writ_claim *claim)
{
    const struct writ_decision *d = &call->record.decision;

    claim->call = call->record.state_free;
    claim->caller_stated = call->caller_claims.key.ptr != NULL;
    WRIT_TRY(writ_ledger_claim(request->identity.agent.tenant, request->identity.agent.id,
        call->callee.name, call->callee.tool, d->idempotency_key.view, &claim->key, NULL));
    if (claim->caller_stated || call->run.previous.ptr == NULL) {
        return WRIT_DONE;
    }
    claim->previous_since_us = writ_clock_wall_us(request->worker->gateway->clock) -
                               writ_request_config(request)->sessions.window_us;
    WRIT_TRY(key_in(request, call->run.next, &claim->next));
    return key_in(request, call->run.previous, &claim->previous);
}

/* A session keeps its run open as long as its row lives. */
static int64_t
held_until(const struct writ_request *request)
{
    const struct writ_session *session = request->session;

    return session != NULL && writ_view_equal(session->boundary_id, request->call->run.id)
               ? atomic_load(&session->stored_us)
               : 0;
}

/* The arguments go to the ledger encrypted. False: they cannot be, and without them there is no
 * call. */
static bool
keep(struct writ_request *request, struct writ_entry_decision *decision)
{
    const struct writ_call_contents *contents = &request->call->contents;
    const struct writ_retained what = {.decision = decision->draft,
        .part = WRIT_CONTENT_ARGUMENTS,
        .is_part = !contents->whole,
        .text = contents->arguments,
        .since_us = writ_clock_wall_us(request->worker->gateway->clock),
        .keep_us = contents->terms.keep_us};

    if (contents->arguments.ptr == NULL) {
        return true;
    }
    decision->content =
        writ_retain_seal(request->generation->keyring, &what, request->x->arena, NULL);
    return decision->content != NULL;
}

/* Places for the used amounts of the budgets, for the metrics; NULL: there are none. */
static struct writ_decimal *
used_of(struct writ_request *request)
{
    size_t n = request->call->verdict.reservations_n;

    struct writ_decimal *used = n > 0 ? writ_arena_get(request->x->arena, n * sizeof *used) : NULL;

    for (size_t i = 0; used != NULL && i < n; i++) {
        used[i] = (struct writ_decimal){0};
    }
    request->call->used = used;
    return used;
}

enum writ_step
writ_judge_claim(struct writ_request *request)
{
    struct writ_call *call = request->call;
    const struct writ_tool_rule *rule = call->verdict.rule;
    struct writ_entry_decision decision = {
        .draft = &call->record.decision,
        .profile = request->worker->gateway->profile,
        .tenant = request->identity.agent.tenant,
        .lifetime_us = writ_request_config(request)->credential.lifetime_us,
        .held_until_us = held_until(request),
        .shadow = rule != NULL && rule->shadow && writ_request_may_pass(request) &&
                  call->mrtr.fault == WRIT_REASON_NONE && call->barred == WRIT_REASON_NONE,
        .follows = call->mrtr.follows,
        .before = call->mrtr.before,
        .ask = call->review.asks ? &call->review.ask : NULL,
        .duplicates = duplicates_of(call),
        .reservations = call->verdict.reservations,
        .reservations_n = call->verdict.reservations_n,
        .used = used_of(request),
    };

    if (!writ_is_ok(make_claim(request, call, &decision.claim)) || !keep(request, &decision)) {
        return writ_refusal_http(
            request, 500, WRIT_RPC_INTERNAL_ERROR, WRIT_REASON_INTERNAL_ERROR, NULL);
    }
    request->entry = (struct writ_entry){.kind = WRIT_ENTRY_DECISION, .decision = decision};
    return writ_request_submit(request, WRIT_STEP_BIND);
}

/* ---- BIND ---- */

/* The ledger granted the key in the durable transaction: no other call has it. */
static enum writ_binding_claim
granted_by_ledger(void *ctx, struct writ_view intent_ref, struct writ_view idempotency_key)
{
    const struct writ_request *request = ctx;

    (void)intent_ref;
    (void)idempotency_key;
    return request->entry.decision.granted ? WRIT_BINDING_FREE : WRIT_BINDING_TAKEN;
}

static enum writ_step
not_granted(struct writ_request *request)
{
    struct writ_call *call = request->call;
    const struct writ_entry *entry = &request->entry;

    if (entry->code != WRIT_OK) {
        call->end.refusal = WRIT_REASON_LEDGER_UNAVAILABLE;
        call->record.decision.decision_id.view.len = 0; /* there is no such record */
    } else if (entry->decision.refused != WRIT_REASON_NONE) {
        call->end.refusal = entry->decision.refused;
    } else if (call->review.asks && call->review.ask.state == WRIT_REVIEW_APPROVED) {
        call->end.refusal = WRIT_REASON_APPROVAL_GRANTED; /* one of several: its caller makes it */
    }
    if (call->reads || call->states) {
        return call->reads ? WRIT_STEP_GIVE : WRIT_STEP_HOLD; /* it is about no call */
    }
    writ_metrics_mark(request->x->metrics, WRIT_VECTOR_DECISIONS,
        writ_decision_is(&call->record.decision, WRIT_DECISION_REQUIRE_APPROVAL)
            ? WRIT_DECISION_REQUIRE_APPROVAL
            : WRIT_DECISION_DENY);
    return WRIT_STEP_HOLD;
}

/* The arguments that FORWARD writes: those of the message, whatever was judged. A caller of the
 * hook API makes the call itself, and binds it. */
static const struct writ_json *
to_be_sent(const struct writ_request *request)
{
    const struct writ_json *params = request->message.params;
    const struct writ_json *arguments = writ_json_get(params, WRIT_LIT("arguments"));

    if (params == NULL) {
        return request->call->callee.arguments;
    }
    return arguments != NULL ? arguments : &no_arguments;
}

/* The call to be sent, from the values that will be sent. */
static writ_result
make_candidate(struct writ_request *request, const struct writ_decision *authorization,
    struct writ_candidate *ret)
{
    struct writ_call *call = request->call;
    struct writ_candidate candidate = {
        .agent_id = writ_member_text(request->identity.agent.id),
        .tool = writ_member_text(call->callee.tool),
        .target = writ_member_text_or_absent(call->verdict.target),
        .normalized_scope = writ_member_text_or_absent(call->verdict.scope),
        .continuation_id = authorization->continuation_id,
        .idempotency_key = authorization->idempotency_key,
        .target_state_digest = call->observed.digest,
    };

    WRIT_TRY(writ_call_key_arguments(request, to_be_sent(request), &candidate.params_hash));
    WRIT_TRY(writ_binding_derive(
        &candidate, authorization, request->worker->gateway->profile, request->x->arena, NULL));
    *ret = candidate;
    return WRIT_DONE;
}

/* Times of records are strictly increasing, so the time of this one may be ahead of the clock. */
int64_t
writ_judge_now(const struct writ_request *request, const struct writ_decision *authorization)
{
    int64_t now_us = writ_clock_wall_us(request->worker->gateway->clock);
    int64_t issued_us = now_us;

    WRIT_IGNORE(writ_time_read(authorization->issued_at.view, &issued_us));
    return issued_us > now_us ? issued_us : now_us;
}

/* The ledger may have changed the record of a call with budgets, or in shadow mode: it is read. */
static void
count_granted(const struct writ_request *request)
{
    const struct writ_call *call = request->call;

    if (call->verdict.reservations_n == 0 && !call->verdict.rule->shadow) {
        writ_figures_feed_grant(request->worker->gateway->figures, call->record.leaf,
            &call->record.decision, &call->record.extension);
    }
}

enum writ_step
writ_judge_bind(struct writ_request *request)
{
    struct writ_call *call = request->call;
    struct writ_decision *d = &call->record.authorization;
    struct writ_candidate candidate;
    struct writ_binding binding;

    if (request->entry.code == WRIT_OK) {
        writ_follow_decided(request);
    }
    if (request->entry.code != WRIT_OK || !request->entry.decision.granted) {
        return not_granted(request);
    }
    writ_metrics_mark(request->x->metrics, WRIT_VECTOR_DECISIONS, WRIT_DECISION_ALLOW);
    call->end.refusal = WRIT_REASON_NONE;
    call->record.leaf = request->entry.decision.leaf;
    call->record.epoch = request->entry.decision.epoch;
    count_granted(request);
    call->grant.owes = true;
    *d = call->record.decision;
    if (call->verdict.rule->shadow) { /* the record may say deny and shadow; the call runs */
        d->decision = writ_decision_route_text(WRIT_DECISION_ALLOW);
    }
    if (!writ_is_ok(make_candidate(request, d, &candidate))) {
        return writ_conclude_unsent(request, WRIT_REASON_INTERNAL_ERROR);
    }
    binding = writ_binding_check(d, &candidate, writ_judge_now(request, d),
        (struct writ_binding_lookup){granted_by_ledger, request});
    if (binding.verdict != WRIT_BINDING_ALLOW) {
        return writ_conclude_unsent(request, binding.reason);
    }
    call->grant.permit = binding.permit;
    return writ_request_together(request, WRIT_STEP_SIGN);
}
