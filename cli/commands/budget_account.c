/* Decisions are read newest first, as far back as the longest window; a charge counts when it is in
 * the present window of its budget. */
#include "cli/commands/budget_account.h"

#include "evidence/record/extension.h"
#include "policy/decide/policy.h"
#include "store/tables/charge.h"

#define NAMES_ARENA  ((size_t)4 << 30)
#define RECORD_ARENA ((size_t)16 << 20) /* one call */
#define COUNTERS_MAX ((size_t)1 << 24)

void
writ_budget_account_wipe(struct writ_budget_account *a)
{
    writ_reader_close(a->reader);
    writ_budgets_wipe(&a->counters);
    writ_arena_free(a->arena);
    writ_arena_free(a->record);
}

/* ---- the charges of the records */

static WRIT_RESULT
add_row(struct writ_budget_account *a, const struct writ_budget *budget,
    const struct writ_counter *counter, const struct writ_policy_call *call)
{
    struct writ_budget_account_row *row = writ_arena_get(a->arena, sizeof *row);

    if (row == NULL) {
        WRIT_FAIL(&a->err, WRIT_E_NOMEM, "no memory for the budgets");
    }
    *row = (struct writ_budget_account_row){.budget = budget, .counter = counter};
    if (call != NULL && budget->per_agent) {
        row->agent_id = writ_view_copy(call->agent->id, a->arena);
    }
    if (call != NULL && (budget->per_agent || budget->per_tenant)) {
        row->tenant = writ_view_copy(call->agent->tenant, a->arena);
    }
    if (call != NULL && budget->per_tool) {
        row->upstream = writ_view_copy(call->upstream, a->arena);
        row->tool = writ_view_copy(call->tool, a->arena);
    }
    *a->end = row;
    a->end = &row->next;
    return WRIT_DONE;
}

/* One call. */
struct counting {
    struct writ_budget_account *account;
    const struct writ_policy_call *call;
};

static writ_result
count_amount(void *ctx, const struct writ_budget_charge *charge, const struct writ_decimal *amount)
{
    const struct counting *c = ctx;
    struct writ_budget_account *a = c->account;
    bool is_new = writ_budgets_find(&a->counters, charge->tag, charge->window_us) == NULL;
    size_t at = 0;

    if (charge->window != a->now_us / charge->window_us) {
        return WRIT_DONE;
    }
    if (is_new) {
        WRIT_TRY(writ_budget_list_find(&a->budgets, charge->tag, charge->window_us, c->call, &at));
        if (at == a->budgets.n) {
            return WRIT_DONE;
        }
    }
    WRIT_TRY(writ_budgets_count(
        &a->counters, charge->tag, charge->window_us, charge->window, amount, &a->err));
    return is_new ? add_row(a, a->budgets.items[at],
                        writ_budgets_find(&a->counters, charge->tag, charge->window_us), c->call)
                  : WRIT_DONE;
}

static WRIT_RESULT
read_nothing_ran(struct writ_budget_account *a, struct writ_view text, bool *ret)
{
    const struct writ_json *value = NULL;
    struct writ_outcome outcome = {0};

    *ret = false;
    if (text.ptr == NULL) {
        return WRIT_DONE;
    }
    WRIT_TRY(writ_json_read(text, &writ_json_limits_default, a->record, &value, &a->err));
    WRIT_TRY(writ_outcome_read(value, a->record, &outcome, &a->err));
    *ret = writ_outcome_nothing_ran(&outcome);
    return WRIT_DONE;
}

static WRIT_RESULT
count_item(struct writ_budget_account *a, const struct writ_reader_item *item)
{
    struct writ_agent agent = {.id = item->agent_id, .tenant = item->tenant};
    struct writ_policy_call call = {.agent = &agent, .tool = item->tool};
    struct writ_reader_call story = {0};
    const struct writ_json *value = NULL;
    struct writ_decision decision = {0};
    struct writ_extension extension = {0};
    bool nothing_ran = false;
    writ_result counted;

    writ_arena_reset(a->record);
    WRIT_TRY(writ_reader_show(a->reader, item->decision_id, a->record, &story, &a->err));
    WRIT_TRY(writ_json_read(story.decision, &writ_json_limits_default, a->record, &value, &a->err));
    WRIT_TRY(writ_decision_read(value, a->record, &decision, &a->err));
    WRIT_TRY(writ_extension_read(&decision.extensions, a->record, &extension, &a->err));
    WRIT_TRY(read_nothing_ran(a, story.outcome, &nothing_ran));
    call.upstream = writ_member_view(&extension.upstream);
    counted = writ_charge_each(
        &extension.charges, true, nothing_ran, count_amount, &(struct counting){a, &call});
    if (counted.code == WRIT_E_PARSE) {
        WRIT_FAIL(
            &a->err, WRIT_E_MISMATCH, "a record has unreadable charges: run `writ ledger verify`");
    }
    return counted;
}

static bool
count_one(void *ctx, const struct writ_reader_item *item)
{
    struct writ_budget_account *a = ctx;

    a->failed = item->granted ? count_item(a, item) : WRIT_DONE;
    return writ_is_ok(a->failed);
}

static WRIT_RESULT
count_all(struct writ_budget_account *a)
{
    const char *path = a->config->store.ptr;
    struct writ_reader_filter filter = {
        .since_us = a->now_us - writ_rule_longest_window(a->config->policy)};
    writ_auto_reader reader = NULL;

    WRIT_TRY(writ_reader_open(path, &reader, &a->err));
    WRIT_TRY(writ_reader_open(path, &a->reader, &a->err)); /* looks records up while that lists */
    a->failed = WRIT_DONE;
    WRIT_TRY(writ_reader_list(reader, &filter, count_one, a, &a->err));
    return a->failed;
}

static bool
has_row(const struct writ_budget_account *a, const struct writ_budget *budget)
{
    const struct writ_budget_account_row *row = a->rows;

    while (row != NULL && row->budget != budget) {
        row = row->next;
    }
    return row != NULL;
}

writ_result
writ_budget_account_take(
    const struct writ_config *config, const struct writ_clock *clock, struct writ_budget_account *a)
{
    *a = (struct writ_budget_account){.config = config};
    a->arena = writ_arena_new(NAMES_ARENA);
    a->record = writ_arena_new(RECORD_ARENA);
    a->end = &a->rows;
    a->now_us = writ_clock_wall_us(clock);
    if (a->arena == NULL || a->record == NULL) {
        WRIT_FAIL(&a->err, WRIT_E_NOMEM, "no memory for the budgets");
    }
    if (!writ_is_ok(writ_budget_list_make(config->policy, a->arena, &a->budgets))) {
        WRIT_FAIL(&a->err, WRIT_E_NOMEM, "no memory for the budgets");
    }
    if (a->budgets.n == 0) {
        return WRIT_DONE;
    }
    WRIT_TRY(writ_budgets_init(&a->counters, COUNTERS_MAX, &a->err));
    WRIT_TRY(count_all(a));
    for (size_t i = 0; i < a->budgets.n; i++) {
        if (!has_row(a, a->budgets.items[i])) {
            WRIT_TRY(add_row(a, a->budgets.items[i], NULL, NULL));
        }
    }
    return WRIT_DONE;
}

struct writ_decimal
writ_budget_account_left(const struct writ_budget_account_row *row)
{
    struct writ_decimal used = writ_budget_account_used(row);

    return writ_budget_list_left(row->budget, &used);
}

struct writ_decimal
writ_budget_account_used(const struct writ_budget_account_row *row)
{
    return row->counter != NULL ? row->counter->spent : writ_decimal_of(0);
}
