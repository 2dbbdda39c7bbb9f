/* writ budget list: the rest of each budget of a configuration. It counts the charges of the ledger
 * by the same code as the gateway; it changes nothing. */
#include "base/text.h"
#include "cli/base/print.h"
#include "cli/commands/command.h"
#include "evidence/json/write.h"
#include "evidence/record/extension.h"
#include "policy/decide/policy.h"
#include "policy/model/rule.h"
#include "policy/read/load.h"
#include "store/read/reader.h"
#include "store/tables/budgets.h"
#include "store/tables/charge.h"

#define OUTPUT_MAX   ((size_t)1 << 30)
#define NAMES_ARENA  ((size_t)4 << 30)
#define RECORD_ARENA ((size_t)16 << 20) /* one call */
#define COUNTERS_MAX ((size_t)1 << 24)
#define HEADER       "BUDGET  USED  LEFT  LIMIT  FREES  AGENT  TENANT  UPSTREAM  TOOL\n"

/* One counter of a budget; for an untouched budget the budget alone. */
struct row {
    struct row *next;
    const struct writ_budget *budget;
    const struct writ_counter *counter; /* NULL: nothing was taken */
    struct writ_view agent_id, tenant;  /* {NULL, 0}: the budget is not separated by it */
    struct writ_view upstream, tool;
};

struct account {
    const struct writ_cli *cli;
    struct writ_config *config;
    struct writ_arena *arena, *record;
    const struct writ_budget **budgets; /* of different names */
    size_t budgets_n;
    struct writ_reader *reader;
    struct writ_budgets counters;
    struct row *rows, **end;
    int64_t now_us;
    struct writ_err err;
    writ_result failed;
};

static void
account_wipe(struct account *a)
{
    writ_reader_close(a->reader);
    writ_budgets_wipe(&a->counters);
    writ_config_drop(a->config);
    writ_arena_free(a->arena);
    writ_arena_free(a->record);
}

/* ---- the budgets of the configuration */

static bool
is_known(const struct account *a, struct writ_view name)
{
    for (size_t i = 0; i < a->budgets_n; i++) {
        if (writ_view_equal(a->budgets[i]->name, name)) {
            return true;
        }
    }
    return false;
}

static WRIT_RESULT
add_budgets(struct account *a, const struct writ_tool_rule *rule)
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
collect_budgets(struct account *a)
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
add_row(struct account *a, const struct writ_budget *budget, const struct writ_counter *counter,
    const struct writ_policy_call *call)
{
    struct row *row = writ_arena_get(a->arena, sizeof *row);

    if (row == NULL) {
        WRIT_FAIL(&a->err, WRIT_E_NOMEM, "no memory for the budgets");
    }
    *row = (struct row){.budget = budget, .counter = counter};
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
find_budget(struct account *a, const struct writ_budget_charge *charge,
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
count_amount(struct account *a, const struct writ_budget_charge *charge,
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
count_charges(struct account *a, const struct writ_member_list *charges,
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
read_nothing_ran(struct account *a, struct writ_view text, bool *ret)
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
count_item(struct account *a, const struct writ_reader_item *item)
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
    struct account *a = ctx;

    a->failed = item->granted ? count_item(a, item) : WRIT_DONE;
    return writ_is_ok(a->failed);
}

static WRIT_RESULT
count_all(struct account *a)
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
has_row(const struct account *a, const struct writ_budget *budget)
{
    const struct row *row = a->rows;

    while (row != NULL && row->budget != budget) {
        row = row->next;
    }
    return row != NULL;
}

static WRIT_RESULT
take_account(struct account *a)
{
    a->arena = writ_arena_new(NAMES_ARENA);
    a->record = writ_arena_new(RECORD_ARENA);
    a->end = &a->rows;
    a->now_us = writ_clock_wall_us(a->cli->clock);
    if (a->arena == NULL || a->record == NULL) {
        WRIT_FAIL(&a->err, WRIT_E_NOMEM, "no memory for the budgets");
    }
    WRIT_TRY(writ_load_file(writ_cli_operand(a->cli, 0).ptr, NULL, &a->config, &a->err));
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

/* ---- as text and as JSON */

/* The rest; none when more was taken than the present limit. */
static struct writ_decimal
left_of(const struct row *row)
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

static struct writ_decimal
used_of(const struct row *row)
{
    return row->counter != NULL ? row->counter->spent : writ_decimal_of(0);
}

/* The end of the window, when all of it is free again. */
static struct writ_view
frees_at(const struct row *row, char text[WRIT_TIME_TEXT])
{
    if (row->counter == NULL) {
        return (struct writ_view){NULL, 0};
    }
    writ_time_format((row->counter->window + 1) * row->counter->window_us, text);
    return writ_view_str(text);
}

static void
write_amount(struct writ_write *w, const char *name, struct writ_decimal amount)
{
    writ_auto_buf text = writ_buf_make(WRIT_DECIMAL_PUT_MAX);

    writ_decimal_put(&text, &amount);
    writ_write_text(w, name, writ_buf_view(&text));
}

static void
put_json(const struct account *a, struct writ_buf *ret)
{
    struct writ_write w = writ_write_to(ret);
    char time[WRIT_TIME_TEXT];

    writ_time_format(a->now_us, time);
    writ_write_object_begin(&w);
    writ_write_text(&w, "at", writ_view_str(time));
    writ_write_name(&w, WRIT_LIT("budgets"));
    writ_write_array_begin(&w);
    for (const struct row *row = a->rows; row != NULL; row = row->next) {
        writ_write_object_begin(&w);
        writ_write_text(&w, "budget", row->budget->name);
        write_amount(&w, "used", used_of(row));
        write_amount(&w, "left", left_of(row));
        write_amount(&w, "limit", row->budget->limit);
        writ_write_integer(&w, "window_us", row->budget->window_us);
        writ_write_text_or_null(&w, "frees_at", frees_at(row, time));
        writ_write_text_or_null(&w, "agent_id", row->agent_id);
        writ_write_text_or_null(&w, "tenant", row->tenant);
        writ_write_text_or_null(&w, "upstream", row->upstream);
        writ_write_text_or_null(&w, "tool", row->tool);
        writ_write_object_end(&w);
    }
    writ_write_array_end(&w);
    writ_write_object_end(&w);
    (void)writ_is_ok(writ_write_end(&w, NULL)); /* a failure stays in the buffer */
    writ_buf_byte(ret, '\n');
}

static void
put_amount(struct writ_buf *ret, struct writ_decimal amount)
{
    writ_buf_str(ret, "  ");
    writ_decimal_put(ret, &amount);
}

static void
put_text(const struct account *a, struct writ_buf *ret)
{
    char time[WRIT_TIME_TEXT];

    writ_buf_str(ret, a->rows != NULL ? HEADER : "the configuration has no budgets\n");
    for (const struct row *row = a->rows; row != NULL; row = row->next) {
        const struct writ_view names[] = {
            frees_at(row, time), row->agent_id, row->tenant, row->upstream, row->tool};

        writ_print_plain(ret, row->budget->name);
        put_amount(ret, used_of(row));
        put_amount(ret, left_of(row));
        put_amount(ret, row->budget->limit);
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
            writ_buf_str(ret, "  ");
            writ_print_plain(ret, names[i].len > 0 ? names[i] : WRIT_LIT("-"));
        }
        writ_buf_byte(ret, '\n');
    }
}

enum writ_exit
writ_command_budget_list(const struct writ_cli *cli)
{
    WRIT_AUTO(struct account, account_wipe) account = {.cli = cli};
    writ_auto_buf output = writ_buf_make(OUTPUT_MAX);
    writ_result result = take_account(&account);

    if (writ_is_ok(result)) {
        if (cli->json) {
            put_json(&account, &output);
        } else {
            put_text(&account, &output);
        }
        result = writ_buf_check(&output, &account.err);
    }
    if (!writ_is_ok(result)) {
        return writ_cli_fail(cli, result, &account.err);
    }
    writ_cli_put(writ_buf_view(&output));
    return WRIT_EXIT_OK;
}
