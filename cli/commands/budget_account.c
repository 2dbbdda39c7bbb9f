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

/* ---- the budgets of the configuration */

static bool
is_known(const struct writ_budget_account *a, struct writ_view name)
{
    for (size_t i = 0; i < a->budgets_n; i++) {
        if (writ_view_equal(a->budgets[i]->name, name)) {
            return true;
        }
    }
    return false;
}

static WRIT_RESULT
add_budgets(struct writ_budget_account *a, const struct writ_tool_rule *rule)
{
    for (size_t i = 0; i < rule->budgets_n; i++) {
        const struct writ_budget **grown;

        if (is_known(a, rule->budgets[i].name)) {
            continue;
        }
        grown = writ_arena_get(a->arena, (a->budgets_n + 1) * sizeof *grown);
        if (grown == NULL) {
            WRIT_FAIL(&a->err, WRIT_E_NOMEM, "no memory for the budgets");
        }
        for (size_t j = 0; j < a->budgets_n; j++) {
            grown[j] = a->budgets[j];
        }
        grown[a->budgets_n] = &rule->budgets[i];
        a->budgets = grown;
        a->budgets_n++;
    }
    return WRIT_DONE;
}

static WRIT_RESULT
collect_budgets(struct writ_budget_account *a)
{
    const struct writ_policy *policy = a->config->policy;

    for (size_t i = 0; i < policy->n; i++) {
        for (size_t r = 0; r < policy->entries[i].rules_n; r++) {
            WRIT_TRY(add_budgets(a, &policy->entries[i].rules[r]));
        }
    }
    return WRIT_DONE;
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

/* The budget whose counter for that call the charge names; NULL: not in the configuration. */
static WRIT_RESULT
find_budget(struct writ_budget_account *a, const struct writ_budget_charge *charge,
    const struct writ_policy_call *call, const struct writ_budget **ret)
{
    struct writ_digest key;

    *ret = NULL;
    for (size_t i = 0; i < a->budgets_n && *ret == NULL; i++) {
        if (a->budgets[i]->window_us == charge->window_us) {
            WRIT_TRY(writ_policy_budget_key(a->budgets[i], call, &key));
            *ret = writ_tag_equal(writ_tag_of(&key), charge->tag) ? a->budgets[i] : NULL;
        }
    }
    return WRIT_DONE;
}

static WRIT_RESULT
count_amount(struct writ_budget_account *a, const struct writ_budget_charge *charge,
    const struct writ_policy_call *call, const struct writ_decimal *amount)
{
    const struct writ_budget *budget = NULL;
    bool is_new = writ_budgets_find(&a->counters, charge->tag, charge->window_us) == NULL;

    if (is_new) {
        WRIT_TRY(find_budget(a, charge, call, &budget));
        if (budget == NULL) {
            return WRIT_DONE;
        }
    }
    WRIT_TRY(writ_budgets_count(
        &a->counters, charge->tag, charge->window_us, charge->window, amount, &a->err));
    return is_new ? add_row(a, budget,
                        writ_budgets_find(&a->counters, charge->tag, charge->window_us), call)
                  : WRIT_DONE;
}

/* As the gateway counts: charges.h. */
static WRIT_RESULT
count_charges(struct writ_budget_account *a, const struct writ_member_list *charges,
    const struct writ_policy_call *call, bool nothing_ran)
{
    struct writ_budget_charge charge = {0};

    for (size_t i = 0; charges->is == WRIT_PRESENT && i < charges->count; i++) {
        if (!writ_charge_read(charges->items[i], &charge)) {
            WRIT_FAIL(&a->err, WRIT_E_MISMATCH,
                "a record has unreadable charges: run `writ ledger verify`");
        }
        if (charge.window == a->now_us / charge.window_us) {
            struct writ_decimal back = writ_decimal_negate(&charge.amount);

            if (!charge.held) {
                WRIT_TRY(count_amount(a, &charge, call, &charge.amount));
            }
            if (nothing_ran) {
                WRIT_TRY(count_amount(a, &charge, call, &back));
            }
        }
    }
    return WRIT_DONE;
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

    writ_arena_reset(a->record);
    WRIT_TRY(writ_reader_show(a->reader, item->decision_id, a->record, &story, &a->err));
    WRIT_TRY(writ_json_read(story.decision, &writ_json_limits_default, a->record, &value, &a->err));
    WRIT_TRY(writ_decision_read(value, a->record, &decision, &a->err));
    WRIT_TRY(writ_extension_read(&decision.extensions, a->record, &extension, &a->err));
    WRIT_TRY(read_nothing_ran(a, story.outcome, &nothing_ran));
    call.upstream = writ_member_view(&extension.upstream);
    return count_charges(a, &extension.charges, &call, nothing_ran);
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
    WRIT_TRY(collect_budgets(a));
    if (a->budgets_n == 0) {
        return WRIT_DONE;
    }
    WRIT_TRY(writ_budgets_init(&a->counters, COUNTERS_MAX, &a->err));
    WRIT_TRY(count_all(a));
    for (size_t i = 0; i < a->budgets_n; i++) {
        if (!has_row(a, a->budgets[i])) {
            WRIT_TRY(add_row(a, a->budgets[i], NULL, NULL));
        }
    }
    return WRIT_DONE;
}

struct writ_decimal
writ_budget_account_left(const struct writ_budget_account_row *row)
{
    struct writ_decimal back, left;

    if (row->counter == NULL) {
        return row->budget->limit;
    }
    back = writ_decimal_negate(&row->counter->spent);
    return writ_is_ok(writ_decimal_add(&row->budget->limit, &back, &left)) && !left.negative
               ? left
               : writ_decimal_of(0);
}

struct writ_decimal
writ_budget_account_used(const struct writ_budget_account_row *row)
{
    return row->counter != NULL ? row->counter->spent : writ_decimal_of(0);
}
