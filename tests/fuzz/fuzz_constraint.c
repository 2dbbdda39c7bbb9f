/* Untrusted rules about arguments, and untrusted arguments. The first line is a list of
 * constraints as in a policy, in JSON; the rest are the arguments.
 *
 * For every input: the rules are refused or compiled. Then the arguments get one verdict, twice
 * the same. Allowed arguments are covered by the rules as a whole, and each rule holds for them;
 * the canonical form of the arguments gives the same. A pattern that matches a whole text is found
 * in it. */
#include "policy/decide/evaluate.h"
#include "support/fuzz.h"
#include "support/policy/ruling.h"

#include "evidence/json/jcs.h"
#include "policy/decide/coverage.h"
#include "policy/decide/policy.h"
#include "policy/model/constraint.h"
#include "policy/model/pattern.h"

#define ARENA_MAX   ((size_t)16 << 20)
#define MATCHES_MAX 1000
#define SEARCH_US   2000000

static struct writ_arena *arena;

static enum writ_reason
judge(const struct writ_config *config, const struct writ_json *arguments)
{
    static const struct writ_agent agent = {.id = {"dev", 3}, .tenant = {"acme", 4}};
    struct writ_policy_call call = {&agent, WRIT_LIT("u"), WRIT_LIT("t"), arguments};
    struct writ_verdict verdict, again;

    writ_policy_decide(config, &call, arena, &verdict);
    writ_policy_decide(config, &call, arena, &again);
    WRIT_INVARIANT(verdict.reason != WRIT_REASON_NONE && verdict.reason == again.reason);
    WRIT_INVARIANT(
        (verdict.answer == WRIT_POLICY_ALLOW) == (verdict.reason == WRIT_REASON_POLICY_OK));
    return verdict.reason;
}

/* ---- allowed arguments */

static void
check_each(const struct writ_constraint_set *set, const struct writ_json *arguments)
{
    struct writ_constraint_failure failed;

    WRIT_INVARIANT(writ_json_first(arguments) == NULL || writ_coverage_holds(set, arguments, NULL));
    WRIT_INVARIANT(
        writ_evaluate_arguments(set, arguments, arena, &failed) == WRIT_REASON_POLICY_OK);
    for (size_t i = 0; i < set->n; i++) {
        WRIT_INVARIANT(
            writ_evaluate_one(set, &set->items[i], arguments, arena, NULL) == WRIT_HOLDS_YES);
    }
}

static void
check_canonical(const struct writ_config *config, const struct writ_json *arguments)
{
    writ_auto_buf text = writ_buf_make(ARENA_MAX);
    const struct writ_json *again;

    if (!writ_is_ok(writ_jcs_put(&text, arguments, NULL))) {
        return; /* no canonical form: such a call is refused before */
    }
    WRIT_INVARIANT(writ_is_ok(
        writ_json_read(writ_buf_view(&text), &writ_json_limits_default, arena, &again, NULL)));
    WRIT_INVARIANT(judge(config, again) == WRIT_REASON_POLICY_OK);
}

/* ---- patterns */

static void
check_pattern(struct writ_view pattern, struct writ_view text)
{
    writ_auto_buf found = writ_buf_make(ARENA_MAX);
    struct writ_pattern *whole = NULL, *search = NULL;
    const struct writ_clock *clock = writ_clock_system();
    struct writ_pattern_budget budget = {MATCHES_MAX, clock, writ_clock_mono_us(clock) + SEARCH_US};

    if (writ_is_ok(writ_pattern_new(pattern, &whole, NULL)) &&
        writ_is_ok(writ_pattern_new_search(pattern, &search, NULL)) &&
        writ_pattern_match(whole, text, arena) == WRIT_PATTERN_YES) {
        WRIT_INVARIANT(
            writ_pattern_replace(search, text, WRIT_LIT("#"), &budget, &found) != WRIT_PATTERN_NO);
    }
    writ_pattern_free(whole);
    writ_pattern_free(search);
}

/* Every pattern of the rules, on every text that the arguments have at their top. */
static void
check_patterns(struct writ_view rules, const struct writ_json *arguments)
{
    const struct writ_json *list = NULL;

    if (!writ_is_ok(writ_json_read(rules, &writ_json_limits_default, arena, &list, NULL))) {
        return;
    }
    WRIT_JSON_EACH(rule, list)
    {
        struct writ_view pattern = writ_json_string(writ_json_get(rule, WRIT_LIT("value")));

        if (!writ_json_is(writ_json_get(rule, WRIT_LIT("op")), WRIT_LIT("matches"))) {
            continue;
        }
        WRIT_JSON_EACH(name, arguments)
        {
            const struct writ_json *value = writ_json_get(arguments, writ_json_string(name));
            if (writ_json_type(value) == WRIT_JSON_STRING) {
                check_pattern(pattern, writ_json_string(value));
            }
        }
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct writ_agent agent = {.id = {"dev", 3}, .tenant = {"acme", 4}};
    struct writ_view text = writ_view(data, size);
    size_t end = writ_view_find(text, '\n');
    struct writ_view rules = writ_view_sub(text, 0, end);
    const struct writ_json *arguments = NULL;
    const struct writ_tool_rule *rule;
    struct writ_config *config;

    if (arena == NULL) {
        arena = writ_arena_new(ARENA_MAX);
        WRIT_INVARIANT(arena != NULL);
    }
    writ_arena_reset(arena);
    config = writ_ruling_of_constraints(rules);
    if (config == NULL || !writ_is_ok(writ_json_read(writ_view_sub(text, end + 1, text.len),
                              &writ_json_limits_default, arena, &arguments, NULL))) {
        writ_config_drop(config);
        return 0;
    }
    rule = writ_policy_find(config, &agent, WRIT_LIT("u"), WRIT_LIT("t"), NULL);
    if (judge(config, arguments) == WRIT_REASON_POLICY_OK) {
        WRIT_INVARIANT(rule != NULL);
        check_each(rule->arguments, arguments);
        check_canonical(config, arguments);
    }
    check_patterns(rules, arguments);
    writ_config_drop(config);
    return 0;
}
