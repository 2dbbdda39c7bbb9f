/* A call keeps what its record states, except what the configuration itself says of its caller: its
 * role and tenant. Where secret members were not kept, only a refusal by something else is certain.
 */
#include "policy/replay/rejudge.h"

#include "policy/decide/approval.h"
#include "policy/decide/evaluate.h"
#include "policy/decide/terms.h"

#define SCOPES_MAX 4096 /* of one caller */

/* ---- the caller */

static size_t
likeness(const struct writ_agent *configured, const struct writ_agent *recorded)
{
    return (size_t)(writ_view_equal(configured->tenant, recorded->tenant) ? 2 : 0) +
           (size_t)(writ_view_equal(configured->role, recorded->role) ? 1 : 0);
}

/* Where the caller of a call is known from. */
enum caller {
    CALLER_UNKNOWN = 0,
    CALLER_RECORDED,   /* by its record: a token of an issuer may name it */
    CALLER_CONFIGURED, /* by the configuration */
};

/* The caller as the configuration has it, else as recorded. A file without agents is a policy
 * alone, in which every caller is known. */
static enum caller
find_caller(
    const struct writ_config *config, const struct writ_agent *recorded, struct writ_agent *ret)
{
    const struct writ_agent *best = NULL;
    bool is_open = config->agents_n == 0;

    for (size_t i = 0; i < config->agents_n; i++) {
        const struct writ_identity_config *identity = &config->agents[i];

        is_open = is_open || identity->kind == WRIT_IDENTITY_JWT;
        if (identity->kind != WRIT_IDENTITY_JWT &&
            writ_view_equal(identity->agent.id, recorded->id) &&
            (best == NULL || likeness(&identity->agent, recorded) > likeness(best, recorded))) {
            best = &identity->agent;
        }
    }
    if (best != NULL && (!is_open || writ_view_equal(best->tenant, recorded->tenant))) {
        *ret = *best;
        return CALLER_CONFIGURED;
    }
    *ret = *recorded;
    return is_open ? CALLER_RECORDED : CALLER_UNKNOWN;
}

/* All scopes that the rule asks for; without memory none, which refuses. */
static struct writ_view
scopes_of(const struct writ_tool_rule *rule, struct writ_arena *arena)
{
    struct writ_buf scopes = writ_buf_in(arena, SCOPES_MAX);

    for (size_t i = 0; i < rule->scopes.n; i++) {
        writ_buf_str(&scopes, i > 0 ? " " : "");
        writ_buf_put(&scopes, rule->scopes.items[i]);
    }
    return writ_is_ok(writ_buf_check(&scopes, NULL)) ? writ_buf_view(&scopes) : writ_view("", 0);
}

static void
lend_scopes(const struct writ_rejudge_side *side, const struct writ_rejudge_verdict *verdict,
    const struct writ_past *past, struct writ_arena *arena, struct writ_agent *agent)
{
    const struct writ_tool_rule *rule =
        writ_policy_find(side->config, agent, verdict->upstream, past->tool, NULL);

    if (rule != NULL && rule->scopes.n > 0 && past->reason != WRIT_REASON_INSUFFICIENT_SCOPE) {
        agent->scopes = scopes_of(rule, arena);
    }
}

static struct writ_view
name_of(const struct writ_rejudge_side *side, struct writ_view recorded)
{
    for (size_t i = 0; i < side->renamed_n; i++) {
        if (writ_view_equal(side->renamed[i].name, recorded)) {
            return side->renamed[i].value;
        }
    }
    return recorded;
}

/* ---- secret members */

/* Whether the value at a place may be another one with the members that were not kept: it is
 * absent, or a container that may lack some. */
static bool
may_differ(const struct writ_json *arguments, struct writ_view pointer)
{
    enum writ_json_type type = writ_json_type(writ_json_pointer(arguments, pointer));

    return type == WRIT_JSON_NONE || type == WRIT_JSON_OBJECT || type == WRIT_JSON_ARRAY;
}

/* Whether a constraint on what was kept fails; then the call is refused whatever was left out. */
static bool
fails_elsewhere(const struct writ_rejudge_call *call, const struct writ_tool_rule *rule,
    struct writ_arena *arena, struct writ_constraint_failure *ret)
{
    for (size_t i = 0; i < rule->arguments->n; i++) {
        enum writ_holds holds = writ_evaluate_one(
            rule->arguments, &rule->arguments->items[i], call->arguments, arena, ret);
        if (holds != WRIT_HOLDS_YES && !may_differ(call->arguments, ret->argument)) {
            return true;
        }
    }
    return false;
}

/* A refusal that no secret member can undo. */
static bool
is_certain(const struct writ_rejudge_call *call, struct writ_rejudge_verdict *verdict,
    struct writ_arena *arena)
{
    struct writ_constraint_failure failed = {0};

    if (verdict->reason == WRIT_REASON_SCOPE_MISSING ||
        verdict->reason == WRIT_REASON_TARGET_MISSING ||
        verdict->reason == WRIT_REASON_BUDGET_EXCEEDED) {
        return false;
    }
    if (verdict->reason != WRIT_REASON_CONSTRAINT_FAILED &&
        verdict->reason != WRIT_REASON_CONSTRAINT_ERROR) {
        return true;
    }
    if (!may_differ(call->arguments, verdict->argument)) {
        return true;
    }
    if (!fails_elsewhere(call, verdict->policy.rule, arena, &failed)) {
        return false;
    }
    verdict->argument = failed.argument;
    verdict->constraint = failed.constraint;
    verdict->reason = WRIT_REASON_CONSTRAINT_FAILED;
    return true;
}

/* ---- deciding */

/* As the step JUDGE of a gateway: shadow mode grants only a call whose scope can be named. */
static void
judge_effect(const struct writ_policy_call *asked, struct writ_arena *arena,
    struct writ_rejudge_verdict *verdict)
{
    const struct writ_verdict *policy = &verdict->policy;
    struct writ_review terms = {0};

    if (policy->answer == WRIT_POLICY_DENY) {
        verdict->reason = policy->reason;
        verdict->shadowed = policy->shadow && policy->scope.ptr != NULL;
    } else if (policy->approval != NULL) {
        verdict->annotated = policy->approval->hints_asked != 0;
        verdict->reason = WRIT_REASON_APPROVAL_REQUIRED;
        verdict->shadowed = policy->shadow;
        verdict->effect = WRIT_EFFECT_REVIEW;
        verdict->constraint = policy->approval->review->name;
        if (!verdict->shadowed &&
            !writ_is_ok(writ_terms_make(policy->approval, asked, 0, arena, &terms))) {
            verdict->reason = WRIT_REASON_REVIEW_UNAVAILABLE;
            verdict->effect = WRIT_EFFECT_REFUSED;
        }
    } else {
        verdict->effect = WRIT_EFFECT_ALLOWED;
    }
    if (verdict->shadowed) {
        verdict->effect = WRIT_EFFECT_ALLOWED;
    }
}

void
writ_rejudge_decide(const struct writ_rejudge_side *side, const struct writ_rejudge_call *call,
    struct writ_arena *arena, struct writ_rejudge_verdict *ret)
{
    const struct writ_past *past = call->past;
    enum caller caller;
    struct writ_agent agent;
    struct writ_policy_call asked = {
        .agent = &agent, .tool = past->tool, .arguments = call->arguments};

    *ret = (struct writ_rejudge_verdict){.upstream = name_of(side, past->upstream)};
    caller = find_caller(side->config, &past->agent, &agent);
    if (caller == CALLER_UNKNOWN) {
        ret->reason = WRIT_REASON_UNAUTHENTICATED;
        return;
    }
    if (caller == CALLER_RECORDED) {
        lend_scopes(side, ret, past, arena, &agent);
    }
    asked.upstream = ret->upstream;
    writ_policy_decide(side->config, &asked, arena, &ret->policy);
    ret->argument = ret->policy.argument;
    ret->constraint = ret->policy.constraint;
    judge_effect(&asked, arena, ret);
    if (call->in_part) {
        ret->in_part = ret->effect != WRIT_EFFECT_REFUSED || !is_certain(call, ret, arena);
    }
}

void
writ_rejudge_exceed(size_t reservation, struct writ_rejudge_verdict *verdict)
{
    const struct writ_verdict *policy = &verdict->policy;

    verdict->reason = WRIT_REASON_BUDGET_EXCEEDED;
    verdict->argument = writ_view("", 0);
    verdict->constraint = policy->reservations[reservation].name;
    verdict->annotated = false;
    verdict->shadowed = policy->shadow;
    verdict->effect = policy->shadow ? WRIT_EFFECT_ALLOWED : WRIT_EFFECT_REFUSED;
}

bool
writ_rejudge_draws(const struct writ_past *past, const struct writ_rejudge_verdict *verdict)
{
    if (past->apart || verdict->policy.reservations_n == 0) {
        return false;
    }
    switch (verdict->effect) {
    case WRIT_EFFECT_REFUSED:
        return false;
    case WRIT_EFFECT_REVIEW:
        return past->approved;
    case WRIT_EFFECT_ALLOWED:
        return !past->continues; /* it drew when it was first decided */
    }
    return false;
}

void
writ_rejudge_recorded(const struct writ_past *past, struct writ_rejudge_verdict *ret)
{
    *ret = (struct writ_rejudge_verdict){.effect = past->effect,
        .reason = past->reason,
        .argument = past->argument,
        .constraint = past->constraint,
        .upstream = past->upstream,
        .shadowed = past->shadow};
}

/* ---- comparing */

enum writ_rejudge_change
writ_rejudge_compare(
    const struct writ_rejudge_verdict *before, const struct writ_rejudge_verdict *after)
{
    if (before->effect == after->effect) {
        return WRIT_REJUDGE_SAME;
    }
    if (before->in_part || after->in_part ||
        (before->annotated && after->effect == WRIT_EFFECT_ALLOWED) ||
        (after->annotated && before->effect == WRIT_EFFECT_ALLOWED)) {
        return WRIT_REJUDGE_UNKNOWN;
    }
    switch (after->effect) {
    case WRIT_EFFECT_REFUSED:
        return WRIT_REJUDGE_REFUSED;
    case WRIT_EFFECT_REVIEW:
        return WRIT_REJUDGE_REVIEW;
    case WRIT_EFFECT_ALLOWED:
        return WRIT_REJUDGE_ALLOWED;
    }
    return WRIT_REJUDGE_UNKNOWN;
}

struct writ_view
writ_rejudge_change_name(enum writ_rejudge_change change)
{
    switch (change) {
#define NAME(NAME, name, title)                                                                    \
    case WRIT_REJUDGE_##NAME:                                                                      \
        return WRIT_LIT(#name);
        WRIT_REJUDGE_CHANGES(NAME)
#undef NAME
    case WRIT_REJUDGE_SAME:
    case WRIT_REJUDGE_UNKNOWN:
        break;
    }
    return WRIT_LIT("");
}

struct writ_view
writ_rejudge_change_title(enum writ_rejudge_change change)
{
    switch (change) {
#define TITLE(NAME, name, title)                                                                   \
    case WRIT_REJUDGE_##NAME:                                                                      \
        return WRIT_LIT(title);
        WRIT_REJUDGE_CHANGES(TITLE)
#undef TITLE
    case WRIT_REJUDGE_SAME:
    case WRIT_REJUDGE_UNKNOWN:
        break;
    }
    return WRIT_LIT("");
}
