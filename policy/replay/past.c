/* A refusal is the configuration's own when its reason is one of the policy; what a probe, a
 * definition, the ledger or an administrator refused tells nothing about the rules. */
#include "policy/replay/past.h"

#include "base/clock.h"

/* Reasons of the policy that need more than the configuration and the call. */
static const enum writ_reason outside[] = {
    WRIT_REASON_TARGET_STATE_UNAVAILABLE,
    WRIT_REASON_DEFINITION_UNKNOWN,
    WRIT_REASON_DEFINITION_AMBIGUOUS,
    WRIT_REASON_DEFINITION_NOT_ACCEPTED,
    WRIT_REASON_DEFINITION_CHANGED,
    WRIT_REASON_DEFINITION_ODD,
};

static bool
is_of_configuration(enum writ_reason reason)
{
    for (size_t i = 0; i < sizeof outside / sizeof outside[0]; i++) {
        if (reason == outside[i]) {
            return false;
        }
    }
    return reason == WRIT_REASON_REVIEW_UNAVAILABLE ||
           (writ_reason_groups(reason) & WRIT_REASON_IN_POLICY) != 0;
}

static bool
is_same_text(const struct writ_member_text *a, const struct writ_member_text *b)
{
    return a->is == WRIT_PRESENT && b->is == WRIT_PRESENT && writ_view_equal(a->view, b->view);
}

/* A round says so. A return to a review names that review, which is the decision that opened it. */
static bool
does_continue(const struct writ_decision *d, const struct writ_extension *extension)
{
    return extension->round.is == WRIT_PRESENT ||
           (d->continuation_id.is == WRIT_PRESENT &&
               !is_same_text(&d->continuation_id, &d->decision_id));
}

static void
judge_effect(enum writ_decision_route route, struct writ_past *past)
{
    switch (route) {
    case WRIT_DECISION_ALLOW:
        past->effect = WRIT_EFFECT_ALLOWED;
        past->reason = WRIT_REASON_NONE;
        past->approved = past->continues;
        return;
    case WRIT_DECISION_REQUIRE_APPROVAL:
        past->effect = WRIT_EFFECT_REVIEW;
        past->reason = WRIT_REASON_APPROVAL_REQUIRED;
        return;
    case WRIT_DECISION_DENY:
    case WRIT_DECISION_REVISE:
        past->effect = past->shadow ? WRIT_EFFECT_ALLOWED : WRIT_EFFECT_REFUSED;
        past->apart = !past->shadow && !is_of_configuration(past->reason);
        return;
    }
}

WRIT_RESULT
writ_past_of(const struct writ_decision *decision, const struct writ_extension *extension,
    struct writ_past *ret, struct writ_err *err)
{
    struct writ_past past = {
        .decision_id = writ_member_view(&decision->decision_id),
        .agent = {.id = writ_member_view(&decision->agent_id),
            .role = writ_member_view(&decision->agent_role),
            .tenant = writ_member_view(&extension->tenant),
            .credential_scope = writ_member_view(&decision->credential_scope),
            .credential_tier = writ_member_view(&decision->credential_tier)},
        .upstream = writ_member_view(&extension->upstream),
        .tool = writ_member_view(&decision->tool),
        .reason = writ_reason_find(writ_member_view(&extension->reason)),
        .argument = writ_member_view(&extension->argument),
        .constraint = writ_member_view(&extension->constraint),
        .policy_digest = writ_member_view(&decision->policy_digest),
        .shadow = extension->shadow.is == WRIT_PRESENT && extension->shadow.value,
        .continues = does_continue(decision, extension),
    };
    enum writ_decision_route route;

    if (past.decision_id.len == 0 || past.agent.id.len == 0 || past.tool.len == 0 ||
        !writ_decision_route_of(decision, &route) || decision->issued_at.is != WRIT_PRESENT ||
        !writ_member_time(decision->issued_at.view, &past.issued_us)) {
        WRIT_FAIL(err, WRIT_E_MISMATCH,
            "a decision lacks its id, time, agent, tool or verdict: run writ ledger verify");
    }
    judge_effect(route, &past);
    past.approved = past.approved && extension->round.is != WRIT_PRESENT;
    *ret = past;
    return WRIT_DONE;
}

struct writ_view
writ_past_effect_word(enum writ_effect effect)
{
    switch (effect) {
    case WRIT_EFFECT_REFUSED:
        return WRIT_LIT("refused");
    case WRIT_EFFECT_REVIEW:
        return WRIT_LIT("review");
    case WRIT_EFFECT_ALLOWED:
        return WRIT_LIT("allowed");
    }
    return WRIT_LIT("refused");
}
