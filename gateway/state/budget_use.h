/* budget_use.h - the amounts that calls took from budgets in their present windows, for the page:
 * added up from the charges of records (store/tables/charge.h), in any order. A window that has
 * begun later replaces the amounts of the one before.
 *
 * At most WRIT_BUDGET_USE_MAX counters, without those whose window has passed. One thread, or a
 * lock of the owner. */
#ifndef WRIT_GATEWAY_BUDGET_USE_H
#define WRIT_GATEWAY_BUDGET_USE_H

#include "base/decimal.h"
#include "evidence/record/extension.h"
#include "store/tables/tag.h"

#define WRIT_BUDGET_USE_MAX 65536

/** The caller and the tool of a call; of a counter, those of its first call. */
struct writ_budget_use_call {
    struct writ_view agent, tenant, upstream, tool;
};

/** One counter. */
struct writ_budget_use_row {
    struct writ_tag tag; /* of the budget's key for that call */
    int64_t window_us, window;
    struct writ_decimal spent;
    struct writ_budget_use_call call;
};

struct writ_budget_use;

/** WRIT_E_NOMEM. `ret` is new, free with writ_budget_use_free. */
WRIT_RESULT writ_budget_use_new(struct writ_budget_use **ret, struct writ_err *err);
/** NULL is permitted. */
void writ_budget_use_free(struct writ_budget_use *use);

/**
 * Counts the charges of a decision.
 *
 * @param back  its call did not run: they are given back
 *
 * @return WRIT_OK
 *         WRIT_E_PARSE     a charge is not readable
 *         WRIT_E_LIMIT     the table is full, or the sum cannot be kept exactly
 *         WRIT_E_NOMEM
 */
WRIT_RESULT writ_budget_use_add(struct writ_budget_use *use, const struct writ_member_list *charges,
    const struct writ_budget_use_call *call, bool back, int64_t now_us);

/** Calls `each` for every counter of a present window, until it returns false. */
void writ_budget_use_each(const struct writ_budget_use *use, int64_t now_us,
    bool (*each)(void *ctx, const struct writ_budget_use_row *row), void *ctx);

#endif
