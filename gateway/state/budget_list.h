/* budget_list.h - the budgets of a policy, each name once, and the one that a counter belongs to: a
 * counter has the tag of the key that its budget has for the counter's calls. */
#ifndef WRIT_GATEWAY_BUDGET_LIST_H
#define WRIT_GATEWAY_BUDGET_LIST_H

#include "policy/decide/policy.h"
#include "policy/model/rule.h"
#include "store/tables/tag.h"

struct writ_budget_list {
    const struct writ_budget **items; /* the policy's */
    size_t n;
};

/** In the arena, in the order of the rules. WRIT_E_NOMEM. */
WRIT_RESULT writ_budget_list_make(
    const struct writ_policy *policy, struct writ_arena *arena, struct writ_budget_list *ret);

/** The place of the budget whose counter for that call has that tag and window; `n`: none of the
 * list. As writ_policy_budget_key. */
WRIT_RESULT writ_budget_list_find(const struct writ_budget_list *list, struct writ_tag tag,
    int64_t window_us, const struct writ_policy_call *call, size_t *ret);

/** What is left of a budget: none when more was spent than the present limit. */
struct writ_decimal writ_budget_list_left(
    const struct writ_budget *budget, const struct writ_decimal *spent);

#endif
