/* writ ledger resume, release: continues with a ledger that lost records. Both refuse while a
 * gateway runs. */
#include "base/text.h"
#include "cli/commands/command.h"
#include "evidence/json/write.h"
#include "gateway/service/ledgers.h"
#include "policy/read/load.h"

#define LINE_MAX 4096
#define NAME_MAX 512

struct resuming {
    struct writ_config *config;
    struct writ_keyring *keys;
    struct writ_ledger *ledger;
};

static void
resuming_wipe(struct resuming *r)
{
    writ_ledger_close(r->ledger);
    writ_keyring_free(r->keys);
    writ_config_drop(r->config);
}

static WRIT_RESULT
open_it(const struct writ_cli *cli, bool resume, struct resuming *r, struct writ_err *err)
{
    WRIT_TRY(writ_load_file(writ_cli_operand(cli, 0).ptr, NULL, &r->config, err));
    return writ_ledgers_open(r->config, cli->clock, resume, NULL, &r->keys, &r->ledger, err);
}

static void
print_resumed(const struct writ_cli *cli, uint64_t records)
{
    writ_auto_buf line = writ_buf_make(LINE_MAX);

    if (cli->json) {
        struct writ_write w = writ_write_to(&line);

        writ_write_object_begin(&w);
        writ_write_count(&w, "records", records);
        writ_write_flag(&w, "resumed", true);
        writ_write_object_end(&w);
        WRIT_IGNORE(writ_write_end(&w, NULL)); /* a failure stays in the buffer */
        writ_buf_byte(&line, '\n');
    } else {
        writ_buf_fmt(&line,
            "resumed with %llu records. Stops, budgets and accepted definitions are those of "
            "this ledger: check them before calls are made.\n",
            (unsigned long long)records);
    }
    writ_cli_put(writ_buf_view(&line));
}

static WRIT_RESULT
run_resume(const struct writ_cli *cli, struct writ_err *err)
{
    WRIT_AUTO(struct resuming, resuming_wipe) r = {.config = NULL};
    struct writ_ledger_health health;

    WRIT_TRY(open_it(cli, true, &r, err));
    writ_ledger_health(r.ledger, &health);
    WRIT_TRY(writ_ledgers_replace(r.config, cli->clock, err));
    print_resumed(cli, health.records);
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
    WRIT_AUTO(struct resuming, resuming_wipe) r = {.config = NULL};
    writ_auto_buf data = writ_buf_make(NAME_MAX * 8);
    struct writ_write w = writ_write_to(&data);

    writ_write_object_begin(&w);
    writ_write_text(&w, "tool", writ_cli_operand(cli, 1));
    writ_write_object_end(&w);
    WRIT_TRY(writ_write_end(&w, err));
    WRIT_TRY(open_it(cli, false, &r, err));
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
