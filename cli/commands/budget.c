/* writ budget list: the rest of each budget of a configuration, as text and as JSON. */
#include "base/text.h"
#include "cli/base/print.h"
#include "cli/commands/budget_account.h"
#include "cli/commands/command.h"
#include "evidence/json/write.h"
#include "policy/read/load.h"

#define OUTPUT_MAX ((size_t)1 << 30)
#define HEADER     "BUDGET  USED  LEFT  LIMIT  FREES  AGENT  TENANT  UPSTREAM  TOOL\n"

/* The end of the window, when all of it is free again. */
static struct writ_view
frees_at(const struct writ_budget_account_row *row, char text[WRIT_TIME_TEXT])
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
put_json(const struct writ_budget_account *a, struct writ_buf *ret)
{
    struct writ_write w = writ_write_to(ret);
    char time[WRIT_TIME_TEXT];

    writ_time_format(a->now_us, time);
    writ_write_object_begin(&w);
    writ_write_text(&w, "at", writ_view_str(time));
    writ_write_name(&w, WRIT_LIT("budgets"));
    writ_write_array_begin(&w);
    for (const struct writ_budget_account_row *row = a->rows; row != NULL; row = row->next) {
        writ_write_object_begin(&w);
        writ_write_text(&w, "budget", row->budget->name);
        write_amount(&w, "used", writ_budget_account_used(row));
        write_amount(&w, "left", writ_budget_account_left(row));
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
put_text(const struct writ_budget_account *a, struct writ_buf *ret)
{
    char time[WRIT_TIME_TEXT];

    writ_buf_str(ret, a->rows != NULL ? HEADER : "the configuration has no budgets\n");
    for (const struct writ_budget_account_row *row = a->rows; row != NULL; row = row->next) {
        const struct writ_view names[] = {
            frees_at(row, time), row->agent_id, row->tenant, row->upstream, row->tool};

        writ_print_plain(ret, row->budget->name);
        put_amount(ret, writ_budget_account_used(row));
        put_amount(ret, writ_budget_account_left(row));
        put_amount(ret, row->budget->limit);
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
            writ_buf_str(ret, "  ");
            writ_print_plain(ret, names[i].len > 0 ? names[i] : WRIT_LIT("-"));
        }
        writ_buf_byte(ret, '\n');
    }
}

static void
config_freep(struct writ_config **config)
{
    writ_config_drop(*config);
}

static enum writ_exit
show(const struct writ_cli *cli, const struct writ_config *config)
{
    WRIT_AUTO(struct writ_budget_account, writ_budget_account_wipe) account = {0};
    writ_auto_buf output = writ_buf_make(OUTPUT_MAX);
    writ_result result = writ_budget_account_take(config, cli->clock, &account);

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

enum writ_exit
writ_command_budget_list(const struct writ_cli *cli)
{
    WRIT_AUTO(struct writ_config *, config_freep) config = NULL;
    struct writ_err err = {0};
    writ_result result = writ_load_file(writ_cli_operand(cli, 0).ptr, NULL, &config, &err);

    return writ_is_ok(result) ? show(cli, config) : writ_cli_fail(cli, result, &err);
}
