/* writ policy learn: rules proposed from past calls. Reads the options, runs (learn_run.h), and
 * prints the report with the difference of the configuration. Writes no file but the one of
 * --cases. */
#include "base/decimal.h"
#include "base/text.h"
#include "cli/commands/command.h"
#include "cli/commands/learn_cases.h"
#include "cli/commands/learn_report.h"

#define OUTPUT_MAX ((size_t)256 << 20)

static void
output_wipe(struct writ_buf *output)
{
    writ_buf_wipe_secret(output);
}

/* "1", "0.5": from 0 to 50, as tenths. */
static bool
read_percent(struct writ_view text, uint64_t *ret)
{
    size_t point = writ_view_find(text, '.');
    uint64_t whole, tenth = 0;

    if (!writ_is_ok(writ_text_u64(writ_view_sub(text, 0, point), 0, 50, &whole)) ||
        (point < text.len &&
            !writ_is_ok(writ_text_u64(writ_view_sub(text, point + 1, text.len), 0, 9, &tenth)))) {
        return false;
    }
    *ret = whole * 10 + tenth;
    return true;
}

static bool
read_options(struct writ_learn_run *run)
{
    const struct writ_cli *cli = run->cli;

    run->least = WRIT_LEARN_LEAST;
    run->per_mille = WRIT_LEARN_PER_MILLE;
    run->include_refused = writ_cli_has(cli, "include-refused");
    if (writ_cli_has(cli, "least") &&
        !writ_is_ok(writ_text_u64(writ_cli_get(cli, "least"), 1, 1000000000, &run->least))) {
        (void)writ_cli_usage(cli, "--least takes a number of calls, such as 20");
        return false;
    }
    if (writ_cli_has(cli, "refuse") &&
        !read_percent(writ_cli_get(cli, "refuse"), &run->per_mille)) {
        (void)writ_cli_usage(cli, "--refuse takes a percentage from 0 to 50, such as 1 or 0.5");
        return false;
    }
    return true;
}

static WRIT_RESULT
work(struct writ_learn_run *run, struct writ_buf *output, struct writ_err *err)
{
    bool cases = writ_cli_has(run->cli, "cases");
    writ_result result = writ_learn_run(run, err);

    if (!writ_is_ok(result)) { /* contents may have been read for it */
        if (run->source != NULL) {
            (void)writ_is_ok(writ_learn_source_record(run->source, NULL));
        }
        return result;
    }
    if (cases) {
        WRIT_TRY(writ_learn_cases_put(run, err));
    }
    WRIT_TRY(writ_learn_source_record(run->source, err)); /* before anything of them leaves */
    if (cases) {
        WRIT_TRY(writ_cli_write_new(
            writ_cli_get(run->cli, "cases").ptr, writ_buf_view(&run->cases), err));
    }
    writ_learn_report_put(run, output);
    return writ_buf_check(output, err);
}

enum writ_exit
writ_command_policy_learn(const struct writ_cli *cli)
{
    WRIT_AUTO(struct writ_learn_run, writ_learn_run_wipe) run = {.cli = cli};
    WRIT_AUTO(struct writ_buf, output_wipe) output = writ_buf_make(OUTPUT_MAX);
    struct writ_err err = {0};
    writ_result result;

    if (!read_options(&run)) {
        return WRIT_EXIT_USAGE;
    }
    result = work(&run, &output, &err);
    if (!writ_is_ok(result)) {
        return writ_cli_fail(cli, result, &err);
    }
    writ_cli_put(writ_buf_view(&output));
    return WRIT_EXIT_OK;
}
