/* The budgets, by the ledger: those that are nearly used, and those that the present rate uses up
 * before their window ends. */
#include "base/number.h"
#include "cli/commands/budget_account.h"
#include "cli/commands/doctor.h"
#include "policy/model/rule.h"

#define NEAR   0.8
#define LEAST  0.25 /* of a window must have passed before its rate says something */
#define OWNERS 512

static double
double_of(struct writ_decimal amount)
{
    writ_auto_buf text = writ_buf_make(WRIT_DECIMAL_PUT_MAX);
    double value = 0;

    writ_decimal_put(&text, &amount);
    return writ_is_ok(writ_number_read(writ_buf_view(&text), &value)) ? value : 0;
}

static void
put_owner(const struct writ_budget_account_row *row, struct writ_buf *ret)
{
    const struct writ_view names[] = {row->agent_id, row->tenant, row->upstream, row->tool};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (names[i].len > 0) {
            writ_buf_str(ret, ret->len == 0 ? " of " : ", ");
            writ_buf_put(ret, names[i]);
        }
    }
}

static void
look_at_row(struct writ_doctor *d, const struct writ_budget_account_row *row)
{
    double used = double_of(writ_budget_account_used(row)), limit = double_of(row->budget->limit);
    writ_auto_buf owner = writ_buf_make(OWNERS);
    int64_t begin_us, window_us = row->budget->window_us;
    double passed;

    if (row->counter == NULL || used <= 0) {
        return;
    }
    begin_us = row->counter->window * row->counter->window_us;
    passed = (double)(d->now_us - begin_us) / (double)window_us;
    if (used < NEAR * limit && (passed < LEAST || used / passed < limit)) {
        return;
    }
    put_owner(row, &owner);
    writ_doctor_add(d, WRIT_DOCTOR_BUDGET_NEAR, writ_doctor_node(d, row->budget->node),
        "the budget " WRIT_VIEW_FMT WRIT_VIEW_FMT " is used to %.0f %% when %.0f %% of its window "
        "have passed",
        WRIT_VIEW_ARG(row->budget->name), WRIT_VIEW_ARG(writ_buf_view(&owner)), 100 * used / limit,
        100 * passed);
}

WRIT_RESULT
writ_doctor_budgets(struct writ_doctor *d, struct writ_err *err)
{
    WRIT_AUTO(struct writ_budget_account, writ_budget_account_wipe) account = {0};
    writ_result result = writ_budget_account_take(d->config, d->cli->clock, &account);

    if (result.code == WRIT_E_NOMEM) {
        WRIT_FAIL(err, result.code, "%s", account.err.text);
    }
    if (!writ_is_ok(result)) {
        return WRIT_DONE; /* the area of the ledger says why it is not readable */
    }
    for (const struct writ_budget_account_row *row = account.rows; row != NULL; row = row->next) {
        look_at_row(d, row);
    }
    return WRIT_DONE;
}
