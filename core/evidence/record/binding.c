/* The checks right before a call as a table: the rows are walked in order, and the first that fails
 * gives the reason. */
#include "evidence/record/binding.h"

#include "evidence/record/derive.h"
#include "evidence/record/profile.h"

#define PERMIT_MARK UINT64_C(0x7772697470726d74) /* "writprmt" */

/* The input of the rows. */
struct call {
    const struct writ_decision *authorization;
    const struct writ_candidate *candidate;
    int64_t now_us;
    struct writ_binding_lookup lookup;
};

struct row {
    bool (*holds)(const struct call *call);
    enum writ_binding_verdict otherwise;
    enum writ_reason reason;
};

/* Equality of a member that both must have, and of one that both may lack. */
#define SAME(call, member)                                                                         \
    writ_member_text_equal(&(call)->authorization->member, &(call)->candidate->member, false)
#define SAME_OR_NONE(call, member)                                                                 \
    writ_member_text_equal(&(call)->authorization->member, &(call)->candidate->member, true)

static bool
is_allow(const struct call *call)
{
    return writ_decision_is(call->authorization, WRIT_DECISION_ALLOW);
}

static bool
is_alive(const struct call *call)
{
    const struct writ_member_text *issued_at = &call->authorization->issued_at;
    const struct writ_member_text *expires_at = &call->authorization->expires_at;
    int64_t issued_us, expires_us;

    if (issued_at->is != WRIT_PRESENT || !writ_member_time(issued_at->view, &issued_us) ||
        call->now_us < issued_us) {
        return false;
    }
    if (expires_at->is == WRIT_ABSENT || expires_at->is == WRIT_NULL) {
        return true; /* null sets no end */
    }
    return expires_at->is == WRIT_PRESENT && writ_member_time(expires_at->view, &expires_us) &&
           call->now_us <= expires_us;
}

static bool
same_agent(const struct call *call)
{
    return SAME(call, agent_id);
}

static bool
same_tool(const struct call *call)
{
    return SAME(call, tool);
}

static bool
same_target(const struct call *call)
{
    return SAME_OR_NONE(call, target);
}

static bool
same_scope(const struct call *call)
{
    return SAME(call, normalized_scope);
}

static bool
same_intent(const struct call *call)
{
    return SAME(call, params_hash) && SAME(call, intent_digest) && SAME(call, intent_ref);
}

static bool
same_continuation(const struct call *call)
{
    return SAME_OR_NONE(call, continuation_id);
}

static bool
same_key(const struct call *call)
{
    return SAME(call, idempotency_key);
}

static bool
same_state(const struct call *call)
{
    return SAME_OR_NONE(call, target_state_digest);
}

static bool
is_unspent(const struct call *call)
{
    const struct writ_candidate *candidate = call->candidate;

    return call->lookup.find != NULL &&
           call->lookup.find(call->lookup.ctx, candidate->intent_ref.view,
               candidate->idempotency_key.view) == WRIT_BINDING_FREE;
}

static const struct row rows[] = {
    {is_allow, WRIT_BINDING_DENY, WRIT_REASON_DECISION_NOT_ALLOW},
    {is_alive, WRIT_BINDING_DENY, WRIT_REASON_EXPIRED},
    {same_agent, WRIT_BINDING_DENY, WRIT_REASON_AGENT_ID_MISMATCH},
    {same_tool, WRIT_BINDING_DENY, WRIT_REASON_TOOL_MISMATCH},
    {same_target, WRIT_BINDING_DENY, WRIT_REASON_TARGET_MISMATCH},
    {same_scope, WRIT_BINDING_DENY, WRIT_REASON_NORMALIZED_SCOPE_MISMATCH},
    {same_intent, WRIT_BINDING_DENY, WRIT_REASON_EXACT_INTENT_MISMATCH},
    {same_continuation, WRIT_BINDING_DENY, WRIT_REASON_CONTINUATION_MISMATCH},
    {same_key, WRIT_BINDING_DENY, WRIT_REASON_IDEMPOTENCY_KEY_MISMATCH},
    {same_state, WRIT_BINDING_REVALIDATE, WRIT_REASON_TARGET_STATE_DRIFT},
    {is_unspent, WRIT_BINDING_DENY, WRIT_REASON_DUPLICATE_OUTCOME},
};

struct writ_view
writ_binding_verdict_name(enum writ_binding_verdict verdict)
{
    switch (verdict) {
    case WRIT_BINDING_DENY:
        return WRIT_LIT("deny");
    case WRIT_BINDING_ALLOW:
        return WRIT_LIT("allow");
    case WRIT_BINDING_REVALIDATE:
        return WRIT_LIT("revalidate");
    }
    return WRIT_LIT("deny");
}

struct writ_binding
writ_binding_check(const struct writ_decision *authorization,
    const struct writ_candidate *candidate, int64_t now_us, struct writ_binding_lookup lookup)
{
    const struct call call = {authorization, candidate, now_us, lookup};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (!rows[i].holds(&call)) {
            return (struct writ_binding){.verdict = rows[i].otherwise, .reason = rows[i].reason};
        }
    }
    return (struct writ_binding){
        .verdict = WRIT_BINDING_ALLOW,
        .reason = WRIT_REASON_CONTRACT_BINDING_OK,
        .permit = {PERMIT_MARK, authorization->decision_id.view},
    };
}

bool
writ_binding_spend(struct writ_permit *permit, struct writ_view *ret_decision_id)
{
    bool good = permit->mark == PERMIT_MARK;

    if (good && ret_decision_id != NULL) {
        *ret_decision_id = permit->decision_id;
    }
    *permit = (struct writ_permit){0};
    return good;
}

WRIT_RESULT
writ_binding_derive(struct writ_candidate *candidate, const struct writ_decision *authorization,
    const struct writ_profile *profile, struct writ_arena *arena, struct writ_err *err)
{
    struct writ_decision intent = {
        .agent_id = candidate->agent_id,
        .tool = candidate->tool,
        .normalized_scope = candidate->normalized_scope,
        .params_hash = candidate->params_hash,
        .idempotency_key = candidate->idempotency_key,
        .target_state_digest = authorization->target_state_digest,
    };

    WRIT_TRY(writ_decision_derive(&intent, profile, arena, err));
    candidate->intent_digest = intent.intent_digest;
    candidate->intent_ref = intent.intent_ref;
    return WRIT_DONE;
}

/* ---- outcomes from outside */

/* The key of an outcome; early fixtures of the contract keep it in its extensions. */
static struct writ_view
key_of(const struct writ_outcome *outcome)
{
    if (outcome->idempotency_key.is == WRIT_PRESENT) {
        return outcome->idempotency_key.view;
    }
    return writ_json_string(writ_json_get(outcome->extensions.value, WRIT_LIT("idempotency_key")));
}

static enum writ_binding_claim
find_outcome(void *ctx, struct writ_view intent_ref, struct writ_view idempotency_key)
{
    const struct writ_binding_set *set = ctx;

    for (size_t i = 0; i < set->count; i++) {
        const struct writ_outcome *outcome = &set->outcomes[i];
        struct writ_view key = key_of(outcome);

        if (outcome->intent_ref.is == WRIT_PRESENT &&
            writ_view_equal(outcome->intent_ref.view, intent_ref) &&
            (key.ptr == NULL || writ_view_equal(key, idempotency_key))) {
            return WRIT_BINDING_TAKEN;
        }
    }
    return WRIT_BINDING_FREE;
}

struct writ_binding_lookup
writ_binding_outcomes(struct writ_binding_set *set)
{
    return (struct writ_binding_lookup){find_outcome, set};
}
