/* Judges one call in a fixed order: rule, agreement, exact numbers, scope and target, OAuth scopes,
 * constraints and coverage, budgets, approval. The verdict starts as a deny, and only the last step
 * makes it an allow. */
#include "policy/decide/policy.h"

#include "evidence/json/write.h"
#include "policy/decide/approval.h"
#include "policy/decide/evaluate.h"
#include "policy/decide/exact.h"
#include "policy/decide/template.h"
#include "policy/model/trail.h"
#include "policy/decide/value.h"
#include "policy/model/rule.h"
#include "policy/model/scopes.h"

#define KEY_PREIMAGE_MAX (16 * 1024) /* names of a budget's key */
#define PROBE_BYTES_MAX  (64 * 1024) /* arguments or URI of a state probe */
#define ACCEPTED_MAX     1024

static const struct writ_view unlisted_tool_ref = {"defaults#unlisted_tool", 22};

/* ---- finding the rule */

static bool
is_listed(const struct writ_views *list, struct writ_view name)
{
    for (size_t i = 0; i < list->n; i++) {
        if (writ_view_equal(list->items[i], name)) {
            return true;
        }
    }
    return list->n == 0;
}

static const struct writ_tool_rule *
rule_for(const struct writ_tool_entry *entry, const struct writ_agent *agent)
{
    for (size_t i = 0; i < entry->rules_n; i++) {
        const struct writ_tool_rule *rule = &entry->rules[i];
        if (is_listed(&rule->agents, agent->id) && is_listed(&rule->roles, agent->role) &&
            is_listed(&rule->tenants, agent->tenant)) {
            return rule;
        }
    }
    return NULL;
}

static enum writ_reason
reason_for_none(const struct writ_config *config, const struct writ_tool_entry *entry,
    struct writ_view upstream)
{
    if (entry != NULL) {
        return WRIT_REASON_AGENT_NOT_PERMITTED;
    }
    return writ_config_runs_tools(config, upstream) ? WRIT_REASON_TOOL_NOT_LISTED
                                                    : WRIT_REASON_UPSTREAM_NOT_LISTED;
}

const struct writ_tool_rule *
writ_policy_find(const struct writ_config *config, const struct writ_agent *agent,
    struct writ_view upstream, struct writ_view tool, enum writ_reason *why)
{
    const struct writ_tool_entry *entry = writ_rule_entry(config->policy, upstream, tool);
    const struct writ_tool_rule *rule = entry != NULL ? rule_for(entry, agent) : NULL;

    if (rule == NULL && why != NULL) {
        *why = reason_for_none(config, entry, upstream);
    }
    return rule;
}

/* Whether a person has agreed to the file of the rule, and to those of the servers that the call
 * reaches. */
static bool
is_agreed(
    const struct writ_config *config, const struct writ_tool_rule *rule, struct writ_view upstream)
{
    const struct writ_state_probe *state = rule != NULL ? rule->state : NULL;

    for (size_t i = 0; i < config->not_agreed.n; i++) {
        struct writ_view name = config->not_agreed.items[i];
        if (writ_view_equal(name, upstream) ||
            (state != NULL && writ_view_equal(name, state->upstream))) {
            return false;
        }
    }
    return rule == NULL || rule->agreed;
}

/* ---- budgets */

WRIT_RESULT
writ_policy_budget_key(
    const struct writ_budget *budget, const struct writ_policy_call *call, struct writ_digest *ret)
{
    writ_auto_buf preimage = writ_buf_make(KEY_PREIMAGE_MAX);
    struct writ_write w = writ_write_to(&preimage);

    w.sorted = true;
    writ_write_object_begin(&w);
    if (budget->per_agent) {
        writ_write_text(&w, "agent", call->agent->id);
    }
    writ_write_text(&w, "budget", budget->name);
    if (budget->per_agent || budget->per_tenant) { /* agents of two tenants may share an id */
        writ_write_text(&w, "tenant", call->agent->tenant);
    }
    if (budget->per_tool) {
        writ_write_text(&w, "tool", call->tool);
        writ_write_text(&w, "upstream", call->upstream);
    }
    writ_write_object_end(&w);
    WRIT_TRY(writ_write_end(&w, NULL));
    return writ_digest_bytes(writ_buf_view(&preimage), ret, NULL);
}

/* The amount that a call draws. */
static enum writ_reason
budget_amount(
    const struct writ_budget *budget, const struct writ_json *arguments, struct writ_decimal *ret)
{
    const struct writ_json *value = writ_evaluate_argument(arguments, &budget->tokens);
    struct writ_decimal amount;

    if (budget->counts_calls) {
        *ret = writ_decimal_of(1);
        return WRIT_REASON_POLICY_OK;
    }
    if (writ_json_type(value) != WRIT_JSON_NUMBER) {
        return WRIT_REASON_CONSTRAINT_FAILED;
    }
    if (!writ_is_ok(writ_value_amount(value, &amount))) {
        return WRIT_REASON_CONSTRAINT_ERROR;
    }
    if (amount.negative) { /* it would give budget back */
        return WRIT_REASON_CONSTRAINT_FAILED;
    }
    *ret = amount;
    return WRIT_REASON_POLICY_OK;
}

static enum writ_reason
refuse_amount(const struct writ_budget *budget, enum writ_reason reason, struct writ_view accepted,
    struct writ_verdict *verdict)
{
    verdict->argument = budget->pointer;
    verdict->constraint = budget->arg;
    verdict->accepted = accepted;
    return reason;
}

static enum writ_reason
reserve(const struct writ_budget *budget, const struct writ_policy_call *call,
    struct writ_reservation *ret, struct writ_verdict *verdict)
{
    enum writ_reason reason = budget_amount(budget, call->arguments, &ret->amount);

    if (reason != WRIT_REASON_POLICY_OK) {
        return refuse_amount(
            budget, reason, WRIT_LIT("a number, not negative, for the budget"), verdict);
    }
    ret->name = budget->name;
    ret->window_us = budget->window_us;
    ret->counts_calls = budget->counts_calls;
    ret->limit = budget->limit;
    if (writ_decimal_compare(&ret->amount, &ret->limit) > 0) { /* whatever the state of the
                                                                * ledger */
        verdict->argument = budget->pointer;
        verdict->constraint = budget->name;
        verdict->too_small = budget;
        return WRIT_REASON_BUDGET_EXCEEDED;
    }
    if (!writ_decimal_counts(&ret->amount, &ret->limit)) {
        /* the next amount could not be added to it, so one call would use the budget up for all;
         * the text does not say how many decimals count, because that tells the limit */
        return refuse_amount(budget, WRIT_REASON_CONSTRAINT_FAILED,
            WRIT_LIT("a number with fewer decimals, for the budget"), verdict);
    }
    return writ_is_ok(writ_policy_budget_key(budget, call, &ret->key)) ? WRIT_REASON_POLICY_OK
                                                                       : WRIT_REASON_POLICY_ERROR;
}

static enum writ_reason
reserve_all(const struct writ_tool_rule *rule, const struct writ_policy_call *call,
    struct writ_arena *arena, struct writ_verdict *ret)
{
    struct writ_reservation *all;

    if (rule->budgets_n == 0) {
        return WRIT_REASON_POLICY_OK;
    }
    all = writ_arena_get(arena, rule->budgets_n * sizeof *all);
    if (all == NULL) {
        return WRIT_REASON_POLICY_ERROR;
    }
    for (size_t i = 0; i < rule->budgets_n; i++) {
        enum writ_reason reason;
        all[i] = (struct writ_reservation){0};
        reason = reserve(&rule->budgets[i], call, &all[i], ret);
        if (reason != WRIT_REASON_POLICY_OK) {
            return reason;
        }
    }
    ret->reservations = all;
    ret->reservations_n = rule->budgets_n;
    return WRIT_REASON_POLICY_OK;
}

/* ---- deciding */

static enum writ_reason
fill(const struct writ_template *template, const struct writ_json *arguments,
    enum writ_reason missing, struct writ_arena *arena, struct writ_view *ret)
{
    writ_result result = writ_template_fill(template, arguments, WRIT_SCOPE_MAX, arena, ret, NULL);

    if (writ_is_ok(result)) {
        return WRIT_REASON_POLICY_OK;
    }
    return result.code == WRIT_E_NOMEM ? WRIT_REASON_POLICY_ERROR : missing;
}

/* Refused calls have scope and target too, where they can be made. */
static enum writ_reason
fill_both(const struct writ_tool_rule *rule, const struct writ_json *arguments,
    struct writ_arena *arena, struct writ_verdict *ret)
{
    enum writ_reason scope = WRIT_REASON_SCOPE_MISSING, target = WRIT_REASON_POLICY_OK;

    if (rule->scope != NULL) {
        scope = fill(rule->scope, arguments, WRIT_REASON_SCOPE_MISSING, arena, &ret->scope);
    }
    if (rule->target != NULL) {
        target = fill(rule->target, arguments, WRIT_REASON_TARGET_MISSING, arena, &ret->target);
    }
    return scope != WRIT_REASON_POLICY_OK ? scope : target;
}

/* "these arguments alone: amount, /filter/limit" */
static void
tell_listed(const struct writ_constraint_set *set, struct writ_arena *arena, struct writ_view *ret)
{
    writ_auto_buf text = writ_buf_make(ACCEPTED_MAX);
    const char *before = "these arguments alone: ";

    for (size_t i = 0; i < set->paths_n && text.len < ACCEPTED_MAX / 2; i++) {
        const struct writ_views *tokens = &set->paths[i].tokens;
        writ_buf_str(&text, tokens->n > 0 ? before : "");
        before = tokens->n > 0 ? ", " : before;
        for (size_t t = 0; t < tokens->n; t++) {
            writ_buf_str(&text, tokens->n > 1 ? "/" : "");
            writ_buf_put(&text, writ_view_sub(tokens->items[t], 0, 64));
        }
    }
    writ_buf_str(&text, text.len == 0 ? "no arguments" : "");
    if (writ_is_ok(writ_buf_check(&text, NULL))) {
        *ret = writ_view_copy(writ_buf_view(&text), arena);
    }
}

/* "a token with files:read files:write" */
static void
tell_scopes(const struct writ_views *scopes, struct writ_arena *arena, struct writ_view *ret)
{
    writ_auto_buf text = writ_buf_make(ACCEPTED_MAX);

    writ_buf_str(&text, "a token with");
    for (size_t i = 0; i < scopes->n && text.len < ACCEPTED_MAX / 2; i++) {
        writ_buf_byte(&text, ' ');
        writ_buf_put(&text, writ_view_sub(scopes->items[i], 0, 64));
    }
    if (writ_is_ok(writ_buf_check(&text, NULL))) {
        *ret = writ_view_copy(writ_buf_view(&text), arena);
    }
}

static void
tell_inexact(struct writ_view pointer, struct writ_verdict *ret)
{
    ret->argument = pointer;
    ret->accepted = WRIT_LIT("a number that a double holds with the digits it is written with");
    ret->shadow = false; /* the forwarded call would be another call */
}

/* The first check: a number has one value, in every rule and for the tool. */
static bool
are_exact(const struct writ_json *arguments, struct writ_arena *arena, struct writ_verdict *ret)
{
    writ_auto_buf inexact = writ_buf_make(WRIT_TRAIL_TEXT_MAX);

    if (writ_exact_holds(arguments, &inexact)) {
        return true;
    }
    tell_inexact(writ_trail_keep(&inexact, arena), ret);
    return false;
}

static enum writ_reason
judge(const struct writ_tool_rule *rule, const struct writ_policy_call *call,
    struct writ_arena *arena, struct writ_verdict *ret)
{
    struct writ_constraint_failure failed;
    enum writ_reason filled, reason;

    if (writ_json_type(call->arguments) != WRIT_JSON_OBJECT) {
        return WRIT_REASON_ARGUMENTS_NOT_AN_OBJECT;
    }
    if (!are_exact(call->arguments, arena, ret)) {
        return WRIT_REASON_NUMBER_NOT_EXACT;
    }
    filled = fill_both(rule, call->arguments, arena, ret);
    if (!writ_scopes_has_all(call->agent->scopes, &rule->scopes)) {
        tell_scopes(&rule->scopes, arena, &ret->accepted);
        return WRIT_REASON_INSUFFICIENT_SCOPE;
    }
    reason = writ_evaluate_arguments(rule->arguments, call->arguments, arena, &failed);
    if (reason != WRIT_REASON_POLICY_OK) {
        ret->argument = failed.argument;
        ret->constraint = failed.constraint;
        ret->accepted = failed.accepted;
        ret->hint = failed.hint;
    }
    if (reason == WRIT_REASON_ARGUMENT_NOT_LISTED) {
        tell_listed(rule->arguments, arena, &ret->accepted);
    }
    if (reason != WRIT_REASON_POLICY_OK) {
        return reason;
    }
    return filled != WRIT_REASON_POLICY_OK ? filled : reserve_all(rule, call, arena, ret);
}

void
writ_policy_refuse_number(struct writ_view pointer, struct writ_verdict *ret)
{
    tell_inexact(pointer, ret);
    ret->answer = WRIT_POLICY_DENY;
    ret->reason = WRIT_REASON_NUMBER_NOT_EXACT;
    ret->approval = NULL;
    ret->reservations_n = 0;
}

void
writ_policy_decide(const struct writ_config *config, const struct writ_policy_call *call,
    struct writ_arena *arena, struct writ_verdict *ret)
{
    const struct writ_tool_entry *entry =
        writ_rule_entry(config->policy, call->upstream, call->tool);
    const struct writ_tool_rule *rule = entry != NULL ? rule_for(entry, call->agent) : NULL;

    *ret = (struct writ_verdict){.answer = WRIT_POLICY_DENY, .rule = rule};
    if (rule == NULL) {
        ret->reason = is_agreed(config, NULL, call->upstream)
                          ? reason_for_none(config, entry, call->upstream)
                          : WRIT_REASON_NOT_AGREED;
        ret->policy_refs = entry != NULL ? entry->refs : (struct writ_views){&unlisted_tool_ref, 1};
        return;
    }
    ret->policy_refs = (struct writ_views){&rule->ref, 1};
    if (!is_agreed(config, rule, call->upstream)) {
        ret->reason = WRIT_REASON_NOT_AGREED;
        return;
    }
    ret->shadow = rule->shadow;
    ret->reason = judge(rule, call, arena, ret);
    if (ret->reason == WRIT_REASON_POLICY_OK) {
        ret->answer = WRIT_POLICY_ALLOW;
        if (rule->approval != NULL &&
            writ_approval_needed(rule->approval, call->arguments, arena)) {
            ret->approval = rule->approval;
        }
    }
}

WRIT_RESULT
writ_policy_probe(const struct writ_tool_rule *rule, const struct writ_json *arguments,
    struct writ_arena *arena, struct writ_probe_request *ret, struct writ_err *err)
{
    const struct writ_state_probe *probe = rule->state;
    struct writ_probe_request request = {.probe = probe};

    if (probe == NULL) {
        WRIT_FAIL(err, WRIT_E_ABSENT, "the rule has no state probe");
    }
    if (probe->uri != NULL) {
        WRIT_TRY(
            writ_template_fill(probe->uri, arguments, PROBE_BYTES_MAX, arena, &request.uri, err));
    }
    if (probe->members != NULL) {
        WRIT_TRY(writ_template_fill_object(
            probe->members, arguments, PROBE_BYTES_MAX, arena, &request.arguments, err));
    } else if (probe->kind == WRIT_PROBE_TOOL) {
        WRIT_TRY(writ_json_read(
            WRIT_LIT("{}"), &writ_json_limits_default, arena, &request.arguments, err));
    }
    *ret = request;
    return WRIT_DONE;
}
