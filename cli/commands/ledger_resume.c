/* writ ledger resume, release: continues with a ledger that lost records. Both refuse while a
 * gateway runs. */
#include "base/text.h"
#include "cli/commands/stopped_ledger.h"
#include "evidence/json/write.h"

#define LINE_MAX 4096
#define NAME_MAX 512

static void
print_resumed(const struct writ_cli *cli, const struct writ_ledger_health *health)
{
    writ_auto_buf line = writ_buf_make(LINE_MAX);

    if (cli->json) {
        struct writ_write w = writ_write_to(&line);

        writ_write_object_begin(&w);
        writ_write_count(&w, "records", health->records);
        writ_write_count(&w, "unproven", health->unproven);
        writ_write_flag(&w, "resumed", true);
        writ_write_object_end(&w);
        WRIT_IGNORE(writ_write_end(&w, NULL)); /* a failure stays in the buffer */
        writ_buf_byte(&line, '\n');
    } else {
        writ_buf_fmt(&line,
            "resumed with %llu records. Stops, budgets and accepted definitions are those of "
            "this ledger: check them before calls are made.\n",
            (unsigned long long)health->records);
        if (health->unproven > 0) {
            writ_buf_fmt(&line,
                "The last %llu were not signed, and nothing proved them: they are signed now.\n",
                (unsigned long long)health->unproven);
        }
    }
    writ_cli_put(writ_buf_view(&line));
}

static WRIT_RESULT
run_resume(const struct writ_cli *cli, struct writ_err *err)
{
    WRIT_AUTO(struct writ_stopped_ledger, writ_stopped_ledger_wipe) r = {.config = NULL};
    struct writ_ledger_health health;

    WRIT_TRY(writ_stopped_ledger_open(cli, writ_cli_operand(cli, 0).ptr, true, &r, err));
    writ_ledger_health(r.ledger, &health);
    WRIT_TRY(writ_ledgers_replace(r.config, cli->clock, err));
    print_resumed(cli, &health);
    return WRIT_DONE;
}

enum writ_exit
writ_command_ledger_resume(const struct writ_cli *cli)
{
    if (!writ_cli_has(cli, "acknowledge-loss")) {
        return writ_cli_usage(cli,
            "calls that the ledger lost may have been made: find out which, then pass "
            "--acknowledge-loss");
    }
    return writ_cli_do(cli, run_resume);
}

static WRIT_RESULT
run_release(const struct writ_cli *cli, struct writ_err *err)
{
    WRIT_AUTO(struct writ_stopped_ledger, writ_stopped_ledger_wipe) r = {.config = NULL};
    writ_auto_buf data = writ_buf_make(NAME_MAX * 8);
    struct writ_write w = writ_write_to(&data);

    writ_write_object_begin(&w);
    writ_write_text(&w, "tool", writ_cli_operand(cli, 1));
    writ_write_object_end(&w);
    WRIT_TRY(writ_write_end(&w, err));
    WRIT_TRY(writ_stopped_ledger_open(cli, writ_cli_operand(cli, 0).ptr, false, &r, err));
    return writ_ledger_record(r.ledger, WRIT_FACT_RELEASED, writ_buf_view(&data), err);
}

enum writ_exit
writ_command_ledger_release(const struct writ_cli *cli)
{
    struct writ_view tool = writ_cli_operand(cli, 1);
    size_t slash = writ_view_find(tool, '/');

    if (tool.len > NAME_MAX || slash == 0 || slash + 1 >= tool.len ||
        writ_view_find(tool, '\n') < tool.len) {
        return writ_cli_usage(cli, "a tool is named UPSTREAM/TOOL");
    }
    return writ_cli_do(cli, run_release);
}
