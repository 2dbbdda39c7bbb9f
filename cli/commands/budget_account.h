/* budget_account.h - the rest of each budget of a configuration: the charges of the ledger's calls,
 * counted in the present windows by the same code as the gateway. It changes nothing. */
#ifndef WRIT_CLI_BUDGET_ACCOUNT_H
#define WRIT_CLI_BUDGET_ACCOUNT_H

#include "base/clock.h"
#include "gateway/state/budget_list.h"
#include "store/read/reader.h"
#include "store/tables/budgets.h"

/** One counter of a budget; for an untouched budget the budget alone. */
struct writ_budget_account_row {
    struct writ_budget_account_row *next;
    const struct writ_budget *budget;
    const struct writ_counter *counter; /* NULL: nothing was taken */
    struct writ_view agent_id, tenant;  /* {NULL, 0}: the budget is not separated by it */
    struct writ_view upstream, tool;
};

struct writ_budget_account {
    const struct writ_config *config; /* borrowed */
    struct writ_arena *arena, *record;
    struct writ_budget_list budgets;
    struct writ_reader *reader;
    struct writ_budgets counters;
    struct writ_budget_account_row *rows, **end;
    int64_t now_us;
    struct writ_err err;
    writ_result failed;
};

/**
 * Counts.
 *
 * @param config  outlives the account
 * @param ret     wipe it in any case; its `err` has the reason of a failure
 *
 * @return WRIT_OK          `rows` has a row for each counter, and for each budget without one
 *         WRIT_E_MISMATCH  a record is not readable
 *         as writ_reader_open, WRIT_E_NOMEM
 *
 * Works while a gateway writes the ledger. Blocks.
 */
writ_result writ_budget_account_take(const struct writ_config *config,
    const struct writ_clock *clock, struct writ_budget_account *ret);

/** A zeroed one is fine. */
void writ_budget_account_wipe(struct writ_budget_account *account);

/** What is left of the row's budget: none when more was taken than the present limit. */
struct writ_decimal writ_budget_account_left(const struct writ_budget_account_row *row);
struct writ_decimal writ_budget_account_used(const struct writ_budget_account_row *row);

#endif
