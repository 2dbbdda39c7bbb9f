/* One valid call and decision. Every test changes one member of it, so that one fault has one
 * cause. */
#include "evidence/record/derive.h"
#include "support/evidence/sample.h"

#include "support/unit.h"

static const struct writ_view policy_refs[] = {{"tools/crm~1export#0", 19}};
static const struct writ_view revalidate_if[] = {
    {"argument_change", 15}, {"target_state_change", 19}};

struct writ_decision
writ_sample_draft(enum writ_decision_route route)
{
    return (struct writ_decision){
        .decision_id = writ_member_text(WRIT_LIT("01997f3e-0000-7000-8000-000000000001")),
        .decision = writ_decision_route_text(route),
        .reason = writ_member_text(WRIT_LIT("the policy says so")),
        .agent_id = writ_member_text(WRIT_LIT("researcher_01")),
        .agent_role = writ_member_text(WRIT_LIT("researcher")),
        .tool = writ_member_text(WRIT_LIT("customer_export")),
        .target = writ_member_text(WRIT_LIT("crm:customers")),
        .request_id = writ_member_text(WRIT_LIT("7")),
        .normalized_scope = writ_member_text(WRIT_LIT("customers/eu")),
        .params_hash = writ_member_text(
            WRIT_LIT("sha256:b8cc604f76c5932528fd34fdfa09e8d8389c8d7010828a8b6641b536015122e0")),
        .target_state_digest = writ_member_text(
            WRIT_LIT("sha256:1111111111111111111111111111111111111111111111111111111111111111")),
        .continuation_id = writ_member_text(WRIT_LIT("c-1")),
        .idempotency_key = writ_member_text(WRIT_LIT("tool_action_991")),
        .policy_refs = writ_member_list(policy_refs, 1),
        .retrieved_policy_refs = writ_member_list(NULL, 0),
        .revalidate_if = writ_member_list(revalidate_if, 2),
        .policy_digest = writ_member_text(
            WRIT_LIT("sha256:2222222222222222222222222222222222222222222222222222222222222222")),
        .credential_scope = writ_member_text(WRIT_LIT("read-only")),
        .credential_tier = writ_member_text(WRIT_LIT("human-delegated")),
        .supersedes = {WRIT_NULL, {0}},
        .boundary_id = writ_member_text(WRIT_LIT("run-1")),
    };
}

struct writ_decision
writ_sample_decision(
    enum writ_decision_route route, const struct writ_profile *profile, struct writ_arena *arena)
{
    struct writ_decision decision = writ_sample_draft(route);

    ck_assert_ok(writ_decision_derive(&decision, profile, arena, NULL));
    ck_assert_ok(writ_decision_place(
        &decision, profile, 0, WRIT_SAMPLE_ISSUED_US, WRIT_SAMPLE_LIFETIME_US, arena, NULL));
    return decision;
}

struct writ_candidate
writ_sample_candidate(const struct writ_decision *authorization)
{
    return (struct writ_candidate){
        .agent_id = authorization->agent_id,
        .tool = authorization->tool,
        .target = authorization->target,
        .normalized_scope = authorization->normalized_scope,
        .params_hash = authorization->params_hash,
        .intent_digest = authorization->intent_digest,
        .intent_ref = authorization->intent_ref,
        .continuation_id = authorization->continuation_id,
        .idempotency_key = authorization->idempotency_key,
        .target_state_digest = authorization->target_state_digest,
    };
}
