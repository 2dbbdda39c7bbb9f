/* hook_bind.c - LOOK, STATE and COMPARE.
 *
 * Invariants:
 * 1. The record is bound, never the caller's copy of it: the copy must only agree.
 * 2. A wrong call, key or state spends nothing: only the request for which every row holds spends
 *    the authorization, in the ledger's own order. Only drift ends it, because it is useless
 *    then. */
#include "gateway/call/call_key.h"
#include "gateway/hook/hook.h"

#include "gateway/call/conclude.h"
#include "gateway/call/judge.h"
#include "gateway/request/caller_claims.h"
#include "gateway/review/denial.h"

#include "evidence/json/write.h"
#include "evidence/record/extension.h"

#define ANSWER_MAX 65536

/* ---- what is asked ---- */

static bool
stated(const struct writ_hook *hook, struct writ_view name, struct writ_member_text *ret)
{
    struct writ_view text = {NULL, 0};

    if (!writ_caller_claims_name(hook->body, name, &text)) {
        return false;
    }
    *ret = writ_member_text_or_absent(text);
    return true;
}

static bool
read_stated(struct writ_hook *hook)
{
    return stated(hook, WRIT_LIT("agent_id"), &hook->agent_id) &&
           stated(hook, WRIT_LIT("target"), &hook->target) &&
           stated(hook, WRIT_LIT("normalized_scope"), &hook->normalized_scope) &&
           stated(hook, WRIT_LIT("continuation_id"), &hook->continuation_id) &&
           stated(hook, WRIT_LIT("idempotency_key"), &hook->idempotency_key);
}

/* The members of the candidate, with `between` them: for the check, and for its message. */
/* clang-format off */
#define CANDIDATE(X, between)                                                                      \
    X("tool") between                                                                              \
    X("arguments") between                                                                         \
    X("agent_id") between                                                                          \
    X("target") between                                                                            \
    X("normalized_scope") between                                                                  \
    X("continuation_id") between                                                                   \
    X("idempotency_key") between                                                                   \
    X("target_state_digest")
/* clang-format on */
#define MEMBER(name) name,
#define NAME(name)   name

enum writ_step
writ_hook_bind_read(struct writ_request *request)
{
    static const char *const known[] = {"authorization", CANDIDATE(MEMBER, ) NULL};
    struct writ_hook *hook = writ_hook_of(request);
    struct writ_view id;
    enum writ_step step;

    hook->authorization =
        writ_json_get_typed(hook->body, WRIT_LIT("authorization"), WRIT_JSON_OBJECT);
    id = writ_json_string(writ_json_get(hook->authorization, WRIT_LIT("decision_id")));
    if (!writ_json_has_only(hook->body, known) || id.len == 0) {
        return writ_hook_refuse(request, 422, WRIT_REASON_MALFORMED_REQUEST,
            "wants authorization, a decision with its decision_id, and the candidate: " CANDIDATE(
                NAME, ", "));
    }
    if (!read_stated(hook)) {
        return writ_hook_refuse(request, 422, WRIT_REASON_MALFORMED_REQUEST,
            "what a candidate states are strings of 1 to 512 bytes that can all be seen");
    }
    if (!writ_hook_call(request, &step)) {
        return step;
    }
    return writ_hook_find(request, id, WRIT_STEP_LOOK);
}

/* ---- LOOK ---- */

static enum writ_step
verdict(struct writ_request *request, enum writ_binding_verdict word, enum writ_reason reason)
{
    writ_hook_of(request)->binding = (struct writ_binding){.verdict = word, .reason = reason};
    return WRIT_STEP_ANSWER;
}

/* keeps (1) */
static bool
agrees(struct writ_request *request, const struct writ_decision *decision)
{
    writ_auto_buf text = writ_buf_make(WRIT_RECORD_MAX_BYTES);
    struct writ_json_limits limits = writ_json_limits_default;
    const struct writ_json *record;

    limits.bytes = limits.string_bytes = WRIT_RECORD_MAX_BYTES;
    if (!writ_is_ok(writ_decision_put(decision, &text, NULL)) ||
        !writ_is_ok(
            writ_json_read(writ_buf_view(&text), &limits, request->x->arena, &record, NULL))) {
        return false;
    }
    WRIT_JSON_EACH(name, writ_hook_of(request)->authorization)
    {
        if (!writ_json_equal(
                writ_json_value(name), writ_json_get(record, writ_json_string(name)))) {
            return false;
        }
    }
    return true;
}

/* The caller's value counts when it differs from the authorized one; else the observed one. */
static struct writ_member_text
chosen(const struct writ_member_text *said, struct writ_view found,
    const struct writ_member_text *authorized)
{
    bool differs = said->is == WRIT_PRESENT && !writ_member_text_equal(said, authorized, false);

    return differs ? *said : writ_member_text_or_absent(found);
}

/* The tool under the name of the record, or a name that no record has, for another tool. */
static struct writ_view
tool_of(const struct writ_request *request, const struct writ_decision *decision)
{
    const struct writ_call *call = request->call;
    struct writ_extension extension = {0};
    bool same = writ_is_ok(writ_extension_read(
                    &decision->extensions, request->x->arena, &extension, NULL)) &&
                extension.upstream.is == WRIT_PRESENT &&
                writ_view_equal(extension.upstream.view, call->callee.name);

    return same && call->callee.framework != NULL
               ? call->callee.tool
               : writ_json_string(writ_json_get(writ_hook_of(request)->body, WRIT_LIT("tool")));
}

static writ_result
make_candidate(struct writ_request *request, const struct writ_decision *decision)
{
    struct writ_hook *hook = writ_hook_of(request);
    const struct writ_call *call = request->call;
    struct writ_candidate *candidate = &hook->candidate;

    *candidate = (struct writ_candidate){
        .agent_id = chosen(&hook->agent_id, request->identity.agent.id, &decision->agent_id),
        .tool = writ_member_text(tool_of(request, decision)),
        .target = chosen(&hook->target, call->verdict.target, &decision->target),
        .normalized_scope =
            chosen(&hook->normalized_scope, call->verdict.scope, &decision->normalized_scope),
        .continuation_id = hook->continuation_id.is == WRIT_PRESENT ? hook->continuation_id
                                                                    : decision->continuation_id,
        .idempotency_key = hook->idempotency_key.is == WRIT_PRESENT ? hook->idempotency_key
                                                                    : decision->idempotency_key,
        .target_state_digest = decision->target_state_digest,
    };
    WRIT_TRY(writ_call_key_arguments(request, call->callee.arguments, &candidate->params_hash));
    return writ_binding_derive(
        candidate, decision, request->worker->gateway->profile, request->x->arena, NULL);
}

static enum writ_binding_claim
as_the_ledger_says(void *ctx, struct writ_view intent_ref, struct writ_view idempotency_key)
{
    const bool *bindable = ctx;

    (void)intent_ref;
    (void)idempotency_key;
    return *bindable ? WRIT_BINDING_FREE : WRIT_BINDING_TAKEN;
}

/* Everything but the state, which need not be observed for a call that is refused anyway. */
static void
check(struct writ_request *request, bool bindable)
{
    struct writ_hook *hook = writ_hook_of(request);
    const struct writ_decision *d = &request->call->record.authorization;

    hook->binding = writ_binding_check(d, &hook->candidate, writ_judge_now(request, d),
        (struct writ_binding_lookup){as_the_ledger_says, &bindable});
}

/* An authorization that ended without its call has no duplicate: the verdict is how it ended. */
static enum writ_step
answer_ended(struct writ_request *request, enum writ_reason unmade)
{
    bool drifted = unmade == WRIT_REASON_TARGET_STATE_DRIFT;

    if (writ_hook_of(request)->binding.reason != WRIT_REASON_DUPLICATE_OUTCOME ||
        unmade == WRIT_REASON_NONE) {
        return WRIT_STEP_ANSWER;
    }
    return verdict(request, drifted ? WRIT_BINDING_REVALIDATE : WRIT_BINDING_DENY, unmade);
}

/* Applies policy again: it may have changed since. NONE: the call may still be made. */
static enum writ_reason
refused_now(const struct writ_call *call)
{
    if (call->verdict.shadow) {
        return WRIT_REASON_NONE;
    }
    if (call->verdict.answer != WRIT_POLICY_ALLOW) {
        return call->verdict.reason;
    }
    return call->verdict.approval != NULL &&
                   call->record.authorization.continuation_id.is != WRIT_PRESENT
               ? WRIT_REASON_APPROVAL_REQUIRED
               : WRIT_REASON_NONE;
}

static void
ask_policy(struct writ_request *request)
{
    struct writ_call *call = request->call;
    const struct writ_policy_call question = {.agent = &request->identity.agent,
        .upstream = call->callee.name,
        .tool = call->callee.tool,
        .arguments = call->callee.arguments};

    writ_policy_decide(writ_request_config(request), &question, request->x->arena, &call->verdict);
}

enum writ_step
writ_hook_bind_look(struct writ_request *request)
{
    const struct writ_entry *entry = &request->entry;
    struct writ_call *call = request->call;
    enum writ_reason refused, unmade = entry->call.unmade;

    if (entry->code != WRIT_OK && entry->code != WRIT_E_ABSENT) {
        return writ_hook_refuse(request, 503, WRIT_REASON_LEDGER_UNAVAILABLE, NULL);
    }
    if (entry->code != WRIT_OK || !writ_hook_is_of_tenant(request, &entry->call.decision)) {
        return verdict(request, WRIT_BINDING_DENY, WRIT_REASON_AUTHORIZATION_UNKNOWN);
    }
    call->record.decision = call->record.authorization = entry->call.decision;
    call->record.leaf = entry->call.leaf;
    if (!agrees(request, &call->record.decision)) {
        return verdict(request, WRIT_BINDING_DENY, WRIT_REASON_AUTHORIZATION_ALTERED);
    }
    if (entry->call.stage != WRIT_CALL_OVER) { /* granted, also by shadow mode */
        call->record.authorization.decision = writ_decision_route_text(WRIT_DECISION_ALLOW);
    }
    ask_policy(request);
    if (!writ_is_ok(make_candidate(request, &call->record.decision))) {
        if (call->verdict.reason == WRIT_REASON_NUMBER_NOT_EXACT) {
            return writ_hook_refuse(request, 422, WRIT_REASON_NUMBER_NOT_EXACT, NULL);
        }
        return writ_hook_refuse(request, 422, WRIT_REASON_MALFORMED_REQUEST,
            "the arguments have no canonical form, or are too large");
    }
    check(request, entry->call.stage == WRIT_CALL_BINDS);
    if (writ_hook_of(request)->binding.verdict != WRIT_BINDING_ALLOW) {
        return answer_ended(request, unmade);
    }
    refused = refused_now(call);
    if (refused != WRIT_REASON_NONE) {
        return verdict(request, WRIT_BINDING_DENY, refused);
    }
    return call->verdict.rule->state != NULL ? WRIT_STEP_OBSERVE : WRIT_STEP_COMPARE;
}

/* ---- COMPARE ---- */

/* Once: the ledger decides which request binds it. */
static enum writ_step
claim(struct writ_request *request)
{
    struct writ_hook *hook = writ_hook_of(request);
    const struct writ_call *call = request->call;
    int64_t timeout_us = call->verdict.rule->timeout_us > 0 ? call->verdict.rule->timeout_us
                                                            : call->callee.framework->timeout_us;

    WRIT_INVARIANT(writ_binding_spend(&hook->binding.permit, NULL));
    hook->until_us = writ_clock_wall_us(request->worker->gateway->clock) + timeout_us;
    request->entry = (struct writ_entry){.kind = WRIT_ENTRY_WAIT,
        .wait = {.leaf = call->record.leaf, .kind = WRIT_WAIT_RUN, .until_us = hook->until_us}};
    return writ_request_submit(request, WRIT_STEP_ANSWER);
}

/* Nothing ran, and nothing will run under this decision: the next one is for the present state. */
static enum writ_step
end_stale(struct writ_request *request)
{
    struct writ_call *call = request->call;

    call->end.outcome = WRIT_OUTCOME_BLOCKED;
    call->end.refusal = WRIT_REASON_TARGET_STATE_DRIFT;
    return WRIT_STEP_RECORD;
}

enum writ_step
writ_hook_bind_check(struct writ_request *request)
{
    struct writ_hook *hook = writ_hook_of(request);
    struct writ_call *call = request->call;
    struct writ_member_text said = writ_member_text_or_absent(call->caller_claims.state);

    if (writ_judge_is_stopped(request, call, &call->record.decision)) { /* since it was decided */
        return verdict(request, WRIT_BINDING_DENY, WRIT_REASON_KILLED);
    }
    if (call->observed.fault != WRIT_REASON_NONE) {
        return verdict(request, WRIT_BINDING_DENY, call->observed.fault);
    }
    hook->candidate.target_state_digest =
        call->verdict.rule->state == NULL ? said
        : said.is == WRIT_PRESENT && !writ_member_text_equal(&said, &call->observed.digest, false)
            ? said
            : call->observed.digest;
    check(request, true); /* the ledger knows whether it still is */
    switch (hook->binding.verdict) {
    case WRIT_BINDING_ALLOW:
        return claim(request);
    case WRIT_BINDING_REVALIDATE:
        return end_stale(request);
    case WRIT_BINDING_DENY:
        break;
    }
    return WRIT_STEP_ANSWER;
}

/* ---- the answer ---- */

static enum writ_step
answer(struct writ_request *request)
{
    const struct writ_binding *binding = &writ_hook_of(request)->binding;
    const struct writ_call *call = request->call;
    writ_auto_buf text = writ_buf_make(WRIT_DENIAL_TEXT_MAX);
    writ_auto_buf body = writ_buf_make(ANSWER_MAX);
    struct writ_write w = writ_write_to(&body);
    char until[WRIT_TIME_TEXT];

    if (binding->verdict != WRIT_BINDING_ALLOW) {
        writ_metrics_mark(request->x->metrics, WRIT_VECTOR_REFUSALS, binding->reason);
    }
    writ_denial_put_text(&text, request, &(struct writ_denial){.reason = binding->reason});
    writ_hook_put_verdict(&w, writ_binding_verdict_name(binding->verdict), writ_buf_view(&text));
    writ_write_text_if(&w, "reason", writ_reason_name(binding->reason));
    if (binding->verdict == WRIT_BINDING_ALLOW) {
        writ_time_format(writ_hook_of(request)->until_us, until);
        writ_write_text_if(&w, "decision_id", call->record.decision.decision_id.view);
        writ_write_text_if(&w, "intent_ref", call->record.decision.intent_ref.view);
        writ_write_text_if(&w, "outcome_due", writ_view_str(until));
    }
    writ_write_text_if(&w, "hint", writ_reason_hint(binding->reason));
    return writ_hook_reply(request, &w, &body);
}

enum writ_step
writ_hook_bind_answer(struct writ_request *request)
{
    const struct writ_entry *entry = &request->entry;

    if (entry->kind == WRIT_ENTRY_WAIT && entry->code == WRIT_E_INVALID) {
        /* another request was faster; keeps (2) */
        writ_hook_of(request)->binding =
            (struct writ_binding){.reason = WRIT_REASON_DUPLICATE_OUTCOME};
    } else if (entry->kind == WRIT_ENTRY_WAIT && entry->code != WRIT_OK) {
        return writ_hook_refuse(request, 503, WRIT_REASON_LEDGER_UNAVAILABLE, NULL);
    }
    return answer(request);
}
