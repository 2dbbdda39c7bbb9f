/* One edit for each reason of a refusal: the caller is not one of the rule's, an argument has no
 * constraint, a constraint fails, a sum is too large, the file is not agreed, there is no rule.
 * The next step reads the edited text as a configuration and judges the call again, so an edit that
 * does not help is never taken for one that does. */
#include "policy/read/repair.h"

#include "policy/decide/coverage.h"
#include "policy/decide/evaluate.h"
#include "policy/read/edit.h"
#include "policy/read/standing.h"

/* How many of agent, role and tenant the rule does not permit. */
static unsigned
strangers_of(const struct writ_tool_rule *rule, const struct writ_agent *agent)
{
    return !writ_edit_permits(&rule->agents, agent->id) +
           !writ_edit_permits(&rule->roles, agent->role) +
           !writ_edit_permits(&rule->tenants, agent->tenant);
}

static size_t
refusals_of(const struct writ_constraint_set *set, const struct writ_json *arguments,
    struct writ_arena *arena)
{
    size_t refusals = 0;

    for (size_t i = 0; i < set->n; i++) {
        refusals +=
            writ_evaluate_one(set, &set->items[i], arguments, arena, NULL) != WRIT_HOLDS_YES;
    }
    return refusals +
           (writ_json_first(arguments) != NULL && !writ_coverage_holds(set, arguments, NULL));
}

static struct writ_repair_near
near_of(const struct writ_tool_rule *rule, const struct writ_policy_call *call,
    struct writ_arena *arena)
{
    struct writ_repair_near near = {.rule = rule, .strangers = strangers_of(rule, call->agent)};

    if (call->arguments != NULL) {
        near.refusals = refusals_of(rule->arguments, call->arguments, arena);
    }
    if (near.refusals > 0) {
        near.failure = writ_arena_get(arena, sizeof *near.failure);
    }
    if (near.failure != NULL) {
        (void)writ_evaluate_arguments(rule->arguments, call->arguments, arena, near.failure);
        near.refusing = near.failure->at;
    }
    return near;
}

static bool
is_nearer(const struct writ_repair_near *one, const struct writ_repair_near *other)
{
    if (other->rule == NULL || one->refusals != other->refusals) {
        return other->rule == NULL || one->refusals < other->refusals;
    }
    return one->strangers < other->strangers;
}

void
writ_repair_nearest(const struct writ_config *config, const struct writ_policy_call *call,
    const struct writ_tool_rule *but, struct writ_arena *arena, struct writ_repair_near *ret)
{
    const struct writ_tool_entry *entry =
        writ_rule_entry(config->policy, call->upstream, call->tool);

    *ret = (struct writ_repair_near){.rule = NULL};
    for (size_t i = 0; entry != NULL && i < entry->rules_n; i++) {
        const struct writ_tool_rule *rule = &entry->rules[i];

        if (rule != but && rule->agreed) {
            struct writ_repair_near near = near_of(rule, call, arena);
            *ret = is_nearer(&near, ret) ? near : *ret;
        }
    }
}

/* The rule that edits are made in: that of the caller, else the nearest; NULL: none is there. */
static const struct writ_tool_rule *
rule_of(
    const struct writ_config *config, const struct writ_policy_call *call, struct writ_arena *arena)
{
    const struct writ_tool_rule *rule =
        writ_policy_find(config, call->agent, call->upstream, call->tool, NULL);
    struct writ_repair_near near;

    if (rule != NULL) {
        return rule;
    }
    writ_repair_nearest(config, call, NULL, arena, &near);
    return near.rule;
}

struct writ_view
writ_repair_file(
    const struct writ_config *config, const struct writ_policy_call *call, struct writ_arena *arena)
{
    const struct writ_tool_rule *rule = rule_of(config, call, arena);

    return rule != NULL ? writ_standing_file(config, rule->node) : config->file;
}

/* Whether the value at the pointer may be one that is never kept, so that no file may have it: in a
 * rule with a secret argument, all but what is below another name of the rule. */
static bool
may_be_secret(const struct writ_constraint_set *set, struct writ_view pointer)
{
    struct writ_view rest = writ_view_sub(pointer, 1, pointer.len);
    struct writ_view token = writ_view_sub(rest, 0, writ_view_find(rest, '/'));

    if (!set->root.hides) {
        return false;
    }
    for (const struct writ_constraint_place *child = set->root.children; child != NULL;
         child = child->next) {
        if (writ_view_equal(child->token, token)) {
            return set->root.secret || child->hides;
        }
    }
    return true;
}

/* An edit of the rule against the verdict. */
static WRIT_RESULT
edit_rule(const struct writ_tool_rule *rule, const struct writ_policy_call *call,
    const struct writ_verdict *v, struct writ_view text, struct writ_arena *arena,
    struct writ_buf *ret)
{
    const struct writ_json *value = writ_json_pointer(call->arguments, v->argument);
    bool written = value != NULL && writ_json_type(value) != WRIT_JSON_NULL;
    struct writ_constraint_failure failed;

    if (written && rule->agreed && may_be_secret(rule->arguments, v->argument)) {
        return (writ_result){WRIT_E_ABSENT};
    }
    if (v->reason == WRIT_REASON_NOT_AGREED) {
        return rule->agreed ? (writ_result){WRIT_E_ABSENT} : writ_edit_agreed(text, ret);
    }
    if (v->reason == WRIT_REASON_AGENT_NOT_PERMITTED) {
        return writ_edit_caller(text, rule, call->agent, ret);
    }
    if (v->reason == WRIT_REASON_ARGUMENT_NOT_LISTED) {
        return writ_edit_unlisted(text, rule, v->argument, value, ret);
    }
    if (v->reason == WRIT_REASON_BUDGET_EXCEEDED && v->too_small != NULL) {
        return writ_edit_budget(text, v->too_small, value, ret);
    }
    if (v->reason != WRIT_REASON_CONSTRAINT_FAILED) {
        return (writ_result){WRIT_E_ABSENT};
    }
    (void)writ_evaluate_arguments(rule->arguments, call->arguments, arena, &failed);
    return failed.at != NULL ? writ_edit_constraint(text, failed.at, value, ret)
                             : (writ_result){WRIT_E_ABSENT};
}

WRIT_RESULT
writ_repair_step(const struct writ_config *config, const struct writ_policy_call *call,
    struct writ_view file, struct writ_view text, struct writ_arena *arena, bool *ret_allowed,
    struct writ_buf *ret)
{
    const struct writ_tool_rule *rule = rule_of(config, call, arena);
    struct writ_verdict verdict;

    writ_policy_decide(config, call, arena, &verdict);
    *ret_allowed = verdict.answer == WRIT_POLICY_ALLOW;
    if (*ret_allowed) {
        return WRIT_DONE;
    }
    if (rule == NULL) {
        bool unlisted = verdict.reason == WRIT_REASON_TOOL_NOT_LISTED ||
                        verdict.reason == WRIT_REASON_UPSTREAM_NOT_LISTED;
        return unlisted && writ_view_equal(config->file, file) ? writ_edit_rule(text, call, ret)
                                                               : (writ_result){WRIT_E_ABSENT};
    }
    return writ_view_equal(writ_standing_file(config, rule->node), file)
               ? edit_rule(rule, call, &verdict, text, arena, ret)
               : (writ_result){WRIT_E_ABSENT};
}
