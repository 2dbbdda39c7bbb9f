/* Turns options of `writ ledger export` into an order for a bundle. The lines go to standard output
 * as they are made; after a failure they are not a bundle, and the exit code shows it. */
#include "cli/commands/exports.h"

#include "cli/base/progress.h"
#include "store/read/bundles.h"
#include "store/trusted/keydir.h"

/* --tenant and --archive are for a run without a bundle as well; every other option is one of
 * bundles alone. */
bool
writ_exports_is_asked(const struct writ_cli *cli)
{
    for (int i = 0; i < cli->given_count; i++) {
        struct writ_view name = writ_view_str(cli->given[i].option->name);

        if (!writ_view_is(name, "tenant") && !writ_view_is(name, "archive")) {
            return true;
        }
    }
    return cli->operand_count < 2;
}

/* Names of members, with commas between them. */
static bool
read_names(const struct writ_cli *cli, struct writ_bundles_order *order)
{
    struct writ_view names = writ_cli_get(cli, "redact");
    bool more = writ_cli_has(cli, "redact"); /* empty: such as a variable that is not set */

    while (more) {
        size_t end = writ_view_find(names, ',');

        more = end < names.len;
        if (order->redacted_n == WRIT_BUNDLES_REDACTED_MAX || end == 0) {
            (void)writ_cli_usage(cli, "--redact is up to %d names of members, with commas between",
                WRIT_BUNDLES_REDACTED_MAX);
            return false;
        }
        order->redacted[order->redacted_n++] = writ_view_sub(names, 0, end);
        names = writ_view_sub(names, end + 1, names.len);
    }
    return true;
}

static bool
put(void *ctx, struct writ_view lines)
{
    (void)ctx;
    writ_cli_put(lines);
    return true;
}

static WRIT_RESULT
run(const struct writ_cli *cli, struct writ_bundles_order *order, struct writ_bundle_report *ret,
    struct writ_err *err)
{
    writ_auto_keyring ring = NULL;
    writ_auto_buf note =
        writ_buf_make(WRIT_NOTE_BYTES_MAX + 1); /* more than the limit, to name it */
    struct writ_progress progress;
    writ_result result;

    WRIT_TRY(writ_keydir_list(writ_cli_get(cli, "keys").ptr, &ring, err));
    order->ring = ring;
    if (writ_cli_has(cli, "checkpoint")) {
        WRIT_TRY(
            writ_cli_read(writ_cli_get(cli, "checkpoint").ptr, WRIT_NOTE_BYTES_MAX, &note, err));
        if (note.len == 0) {
            WRIT_FAIL(err, WRIT_E_INVALID, "the file of --checkpoint is empty");
        }
        order->checkpoint = writ_buf_view(&note);
    }
    progress = writ_progress_begin(cli, "records");
    order->progress = writ_progress_step;
    order->progress_ctx = &progress;
    result = writ_bundles_make(order, put, NULL, ret, err);
    writ_progress_end(&progress);
    return result;
}

enum writ_exit
writ_exports_bundle(const struct writ_cli *cli)
{
    struct writ_bundles_order order = {
        .path = writ_cli_operand(cli, 0).ptr,
        .archive = writ_cli_get(cli, "archive").ptr,
        .select =
            {
                .tenant = writ_cli_get(cli, "tenant"),
                .agent_id = writ_cli_get(cli, "agent"),
                .since = writ_cli_get(cli, "since"),
                .until = writ_cli_get(cli, "until"),
                .at = writ_cli_get(cli, "at"),
            },
    };
    struct writ_bundle_report report = {0};
    struct writ_err err = {0};
    writ_result result;

    if (!writ_cli_has(cli, "keys") || cli->json) {
        return writ_cli_usage(cli, "a bundle needs --keys, and is lines of JSON without --json");
    }
    if (cli->operand_count == 2) {
        order.select.boundary_id = writ_cli_operand(cli, 1);
    }
    if (!read_names(cli, &order)) {
        return WRIT_EXIT_USAGE;
    }
    result = run(cli, &order, &report, &err);
    if (!writ_is_ok(result)) {
        return writ_cli_fail(cli, result, &err);
    }
    return report.faulty == 0 || order.select.boundary_id.ptr == NULL ? WRIT_EXIT_OK
                                                                      : WRIT_EXIT_NEGATIVE;
}
