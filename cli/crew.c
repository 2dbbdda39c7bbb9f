/* writ crew ...: crews without a gateway. */
#include "base/text.h"
#include "cli/cli.h"
#include "cli/scenario.h"

#include <dirent.h>
#include <stdlib.h>

#define SCENARIO_MAX      ((size_t)16 << 20)
#define ARENA_MAX         ((size_t)1 << 30)
#define REPORT_MAX        ((size_t)16 << 20)
#define SCENARIO_PATH_MAX 4096

/* ---- crew vectors */

/** A run over scenario files. */
struct run {
    const struct writ_cli *cli;
    size_t passed, failed;
    struct writ_buf names; /* of what failed, as JSON strings with commas */
};

static WRIT_RESULT
run_scenario(const char *path, struct writ_buf *report, bool *ret_same, struct writ_err *err)
{
    const struct writ_json_limits limits = {.bytes = SCENARIO_MAX,
        .depth = WRIT_JSON_DEPTH_MAX,
        .values = SCENARIO_MAX,
        .name_bytes = SCENARIO_MAX,
        .string_bytes = SCENARIO_MAX,
        .number_bytes = WRIT_NUMBER_MAX};
    writ_auto_buf text = writ_buf_make(SCENARIO_MAX);
    struct writ_arena *arena = writ_arena_new(ARENA_MAX);
    const struct writ_json *scenario = NULL;
    writ_result result;

    if (arena == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory");
    }
    result = writ_cli_read(path, SCENARIO_MAX, &text, err);
    if (writ_is_ok(result)) {
        result = writ_json_read(writ_buf_view(&text), &limits, arena, &scenario, err);
    }
    if (writ_is_ok(result)) {
        result = writ_scenario_run(scenario, report, ret_same, err);
    }
    writ_arena_free(arena);
    return result;
}

static void
run_file(struct run *run, const char *path)
{
    writ_auto_buf report = writ_buf_make(REPORT_MAX);
    struct writ_err err = {0};
    bool same = false;
    bool ran = writ_is_ok(run_scenario(path, &report, &same, &err));

    if (ran && same) {
        run->passed++;
        return;
    }
    run->failed++;
    writ_buf_str(&run->names, run->names.len > 0 ? "," : "");
    writ_text_json(&run->names, writ_view_str(path));
    if (!run->cli->json) {
        writ_cli_print("%s: %s\n", path, ran ? "differs" : err.text);
        writ_cli_put(writ_buf_view(&report));
    }
}

static int
is_scenario(const struct dirent *entry)
{
    return writ_view_has_suffix(writ_view_str(entry->d_name), WRIT_LIT(".json"));
}

/* All *.json of a folder, by name; or the one file. */
static WRIT_RESULT
run_path(struct run *run, const char *path, struct writ_err *err)
{
    struct dirent **entries = NULL;
    int n = scandir(path, &entries, is_scenario, alphasort);
    writ_auto_buf file = writ_buf_make(SCENARIO_PATH_MAX);

    if (n < 0) {
        run_file(run, path); /* not a folder: reading it says what is wrong with it */
        return WRIT_DONE;
    }
    for (int at = 0; at < n; at++) {
        writ_buf_clear(&file);
        writ_buf_str(&file, path);
        writ_buf_byte(&file, '/');
        writ_buf_str(&file, entries[at]->d_name);
        writ_buf_byte(&file, '\0');
        if (writ_is_ok(writ_buf_check(&file, NULL))) {
            run_file(run, file.ptr);
        } else {
            run->failed++;
        }
        free(entries[at]);
    }
    free(entries);
    if (n == 0) {
        WRIT_FAIL(err, WRIT_E_ABSENT, "%s: no scenario (*.json) in this folder", path);
    }
    return WRIT_DONE;
}

enum writ_exit
writ_command_crew_vectors(const struct writ_cli *cli)
{
    struct run run = {.cli = cli, .names = writ_buf_make(REPORT_MAX)};
    struct writ_err err = {0};
    writ_result result = WRIT_DONE;

    for (int at = 0; at < cli->operand_count && writ_is_ok(result); at++) {
        result = run_path(&run, cli->operands[at], &err);
    }
    if (!writ_is_ok(result)) {
        writ_buf_wipe(&run.names);
        return writ_cli_fail(cli, result, &err);
    }
    if (cli->json) {
        writ_cli_print("{\"failed\":[" WRIT_VIEW_FMT "],\"passed\":%zu}\n",
            WRIT_VIEW_ARG(writ_buf_view(&run.names)), run.passed);
    } else {
        writ_cli_print("%zu passed, %zu failed\n", run.passed, run.failed);
    }
    writ_buf_wipe(&run.names);
    return run.failed == 0 ? WRIT_EXIT_OK : WRIT_EXIT_NEGATIVE;
}
