/* budget_list.c - rules can share a budget by its name: the first one counts. */
#include "gateway/state/budget_list.h"

static size_t
count_budgets(const struct writ_policy *policy)
{
    size_t n = 0;

    for (size_t i = 0; i < policy->n; i++) {
        for (size_t r = 0; r < policy->entries[i].rules_n; r++) {
            n += policy->entries[i].rules[r].budgets_n;
        }
    }
    return n;
}

static bool
has(const struct writ_budget_list *list, struct writ_view name)
{
    for (size_t i = 0; i < list->n; i++) {
        if (writ_view_equal(list->items[i]->name, name)) {
            return true;
        }
    }
    return false;
}

static void
add_rule(struct writ_budget_list *list, const struct writ_tool_rule *rule)
{
    for (size_t i = 0; i < rule->budgets_n; i++) {
        if (!has(list, rule->budgets[i].name)) {
            list->items[list->n++] = &rule->budgets[i];
        }
    }
}

WRIT_RESULT
writ_budget_list_make(
    const struct writ_policy *policy, struct writ_arena *arena, struct writ_budget_list *ret)
{
    struct writ_budget_list list = {
        .items = writ_arena_get(arena, (count_budgets(policy) + 1) * sizeof *list.items)};

    if (list.items == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    for (size_t i = 0; i < policy->n; i++) {
        for (size_t r = 0; r < policy->entries[i].rules_n; r++) {
            add_rule(&list, &policy->entries[i].rules[r]);
        }
    }
    *ret = list;
    return WRIT_DONE;
}

WRIT_RESULT
writ_budget_list_find(const struct writ_budget_list *list, struct writ_tag tag, int64_t window_us,
    const struct writ_policy_call *call, size_t *ret)
{
    struct writ_digest key;

    for (size_t i = 0; i < list->n; i++) {
        if (list->items[i]->window_us == window_us) {
            WRIT_TRY(writ_policy_budget_key(list->items[i], call, &key));
            if (writ_tag_equal(writ_tag_of(&key), tag)) {
                *ret = i;
                return WRIT_DONE;
            }
        }
    }
    *ret = list->n;
    return WRIT_DONE;
}

struct writ_decimal
writ_budget_list_left(const struct writ_budget *budget, const struct writ_decimal *spent)
{
    struct writ_decimal back = writ_decimal_negate(spent), left;

    return writ_is_ok(writ_decimal_add(&budget->limit, &back, &left)) && !left.negative
               ? left
               : writ_decimal_of(0);
}
