/* writ-vectors run: sets of vectors, ours or an implementer's own. Every case of a known format
 * either passes or is named with its differences; a run without any case is not a success. */
#include "base/text.h"
#include "cli/vectors/command.h"
#include "cli/vectors/scenario.h"
#include "cli/vectors/vector.h"
#include "evidence/json/difference.h"
#include "evidence/json/write.h"

#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>

#define FILE_MAX    ((size_t)64 << 20)
#define ARENA_MAX   ((size_t)2 << 30)
#define CASE_MAX    ((size_t)256 << 20)
#define GOT_MAX     ((size_t)16 << 20)
#define REPORT_MAX  ((size_t)64 << 20)
#define PATH_BYTES  4096
#define DEPTH_MAX   8 /* folders below a named one */
#define SAFE_MAX    200
#define FORMAT_CREW "crew-vector/1"

WRIT_RESULT
writ_vector_text(
    const struct writ_json *value, const char *name, struct writ_buf *ret, struct writ_err *err)
{
    struct writ_write w = writ_write_to(ret);

    if (value == NULL) {
        WRIT_FAIL(err, WRIT_E_PARSE, "%s is missing", name);
    }
    writ_write_value(&w, value);
    return writ_write_end(&w, err);
}

static const struct {
    const char *format;
    writ_vector_fn *run;
} formats[] = {
#define ROW(name, format) {format, writ_vector_##name},
    WRIT_VECTOR_FORMATS(ROW)
#undef ROW
};

/* One run of the command. */
struct run {
    const struct writ_cli *cli;
    uint64_t passed, failed, skipped; /* cases; skipped: files of other formats */
    struct writ_buf report;           /* lines, or with --json the failures with their commas */
};

/* ---- telling what failed */

static void
tell(struct run *run, const char *path, struct writ_view id, struct writ_view what)
{
    run->failed++;
    if (!run->cli->json) {
        writ_buf_fmt(&run->report, "%s: ", path);
        writ_text_safe(&run->report, id, SAFE_MAX);
        writ_buf_str(&run->report, id.len > 0 ? ":\n" : "");
        writ_buf_put(&run->report, what);
        return;
    }
    writ_buf_str(&run->report, run->report.len > 0 ? ",{\"file\":" : "{\"file\":");
    writ_text_json(&run->report, writ_view_str(path));
    writ_buf_str(&run->report, ",\"id\":");
    writ_text_json_safe(&run->report, id, SAFE_MAX);
    writ_buf_str(&run->report, ",\"what\":");
    writ_text_json_safe(&run->report, what, what.len);
    writ_buf_byte(&run->report, '}');
}

/* ---- one case */

/* Appends the differences, one line each; nothing for equal values. */
static WRIT_RESULT
compare(const struct writ_json *expect, struct writ_view got, struct writ_arena *arena,
    struct writ_buf *ret, struct writ_err *err)
{
    struct writ_json_limits limits = writ_json_limits_default;
    const struct writ_json *value = NULL;

    limits.bytes = limits.string_bytes = GOT_MAX;
    limits.values = GOT_MAX;
    WRIT_TRY(writ_json_read(got, &limits, arena, &value, err));
    if (!writ_json_equal(expect, value)) {
        (void)writ_difference_put(expect, value, WRIT_DIFFERENCE_TEXT_MAX, ret);
    }
    return writ_buf_check(ret, err);
}

static void
run_case(struct run *run, const char *path, writ_vector_fn *fn, const struct writ_json *set,
    const struct writ_json *vector)
{
    struct writ_arena *arena = writ_arena_new(CASE_MAX);
    writ_auto_buf got = writ_buf_make(GOT_MAX);
    writ_auto_buf what = writ_buf_make(GOT_MAX);
    struct writ_view id = writ_json_string(writ_json_get(vector, WRIT_LIT("id")));
    const struct writ_json *expect = writ_json_get(vector, WRIT_LIT("expect"));
    struct writ_err err = {0};
    writ_result result = {WRIT_E_NOMEM};

    if (arena != NULL) {
        result = fn(set, vector, arena, &got, &err);
    }
    if (writ_is_ok(result)) {
        result = compare(expect, writ_buf_view(&got), arena, &what, &err);
    }
    if (!writ_is_ok(result)) {
        writ_buf_clear(&what);
        writ_buf_fmt(&what, "%s\n", err.text[0] != '\0' ? err.text : writ_code_name(result.code));
    }
    if (what.len > 0) {
        tell(run, path, id, writ_buf_view(&what));
    } else {
        run->passed++;
    }
    writ_arena_free(arena);
}

static void
run_scenario(struct run *run, const char *path, const struct writ_json *scenario)
{
    writ_auto_buf report = writ_buf_make(REPORT_MAX);
    struct writ_err err = {0};
    bool same = false;
    bool ran = writ_is_ok(writ_scenario_run(scenario, &report, &same, &err));

    if (ran && same) {
        run->passed++;
        return;
    }
    tell(run, path, writ_view(NULL, 0), ran ? writ_buf_view(&report) : writ_view_str(err.text));
}

/* ---- one file */

static writ_vector_fn *
runner_of(const struct writ_json *format)
{
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        if (writ_json_is(format, writ_view_str(formats[i].format))) {
            return formats[i].run;
        }
    }
    return NULL;
}

static void
run_set(struct run *run, const char *path, const struct writ_json *set, bool named)
{
    const struct writ_json *format = writ_json_get(set, WRIT_LIT("format"));
    const struct writ_json *cases = writ_json_get_typed(set, WRIT_LIT("cases"), WRIT_JSON_ARRAY);
    writ_vector_fn *fn = runner_of(format);

    if (writ_json_is(format, WRIT_LIT(FORMAT_CREW))) {
        run_scenario(run, path, set);
        return;
    }
    if (fn == NULL && !named) {
        run->skipped++; /* a foreign set in the same folder */
        return;
    }
    if (fn == NULL || cases == NULL || cases->count == 0) {
        tell(run, path, writ_view(NULL, 0), WRIT_LIT("no format that is known, or no cases\n"));
        return;
    }
    WRIT_JSON_EACH(vector, cases)
    {
        run_case(run, path, fn, set, vector);
    }
}

static void
run_file(struct run *run, const char *path, bool named)
{
    const struct writ_json_limits limits = {.bytes = FILE_MAX,
        .depth = WRIT_JSON_DEPTH_MAX,
        .values = FILE_MAX,
        .name_bytes = FILE_MAX,
        .string_bytes = FILE_MAX,
        .number_bytes = WRIT_NUMBER_MAX};
    writ_auto_buf text = writ_buf_make(FILE_MAX + 1);
    struct writ_arena *arena = writ_arena_new(ARENA_MAX);
    const struct writ_json *set = NULL;
    struct writ_err err = {0};
    writ_result result = {WRIT_E_NOMEM};

    if (arena != NULL) {
        result = writ_cli_read(path, FILE_MAX, &text, &err);
    }
    if (writ_is_ok(result)) {
        result = writ_json_read(writ_buf_view(&text), &limits, arena, &set, &err);
    }
    if (writ_is_ok(result)) {
        run_set(run, path, set, named);
    } else if (named) {
        tell(run, path, writ_view(NULL, 0), writ_view_str(err.text));
        writ_buf_str(&run->report, run->cli->json ? "" : "\n");
    } else {
        run->skipped++; /* vectors for readers of JSON are not always JSON */
    }
    writ_arena_free(arena);
}

/* ---- folders */

static int
is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static WRIT_RESULT run_path(struct run *run, const char *path, int depth, struct writ_err *err);

static WRIT_RESULT
run_folder(struct run *run, const char *path, int depth, struct writ_err *err)
{
    struct dirent **entries = NULL;
    int n = scandir(path, &entries, is_visible, alphasort);
    writ_result result = WRIT_DONE;

    if (n < 0) {
        WRIT_FAIL(err, WRIT_E_IO, "%s: the folder cannot be read", path);
    }
    for (int i = 0; i < n; i++) {
        writ_auto_buf name = writ_buf_make(PATH_BYTES);

        writ_buf_fmt(&name, "%s/%s%c", path, entries[i]->d_name, '\0');
        if (writ_is_ok(result)) {
            result = writ_buf_check(&name, err);
        }
        if (writ_is_ok(result)) {
            result = run_path(run, name.ptr, depth + 1, err);
        }
        free(entries[i]);
    }
    free(entries);
    return result;
}

/* A file or folder that was named (depth 0) or found. */
static WRIT_RESULT
run_path(struct run *run, const char *path, int depth, struct writ_err *err)
{
    struct stat status;

    if (stat(path, &status) != 0) {
        WRIT_FAIL(err, WRIT_E_ABSENT, "%s: there is no such file or folder", path);
    }
    if (S_ISDIR(status.st_mode)) {
        return depth < DEPTH_MAX ? run_folder(run, path, depth, err) : WRIT_DONE;
    }
    if (depth == 0 || writ_view_has_suffix(writ_view_str(path), WRIT_LIT(".json"))) {
        run_file(run, path, depth == 0);
    }
    return writ_buf_check(&run->report, err);
}

enum writ_exit
writ_command_run(const struct writ_cli *cli)
{
    struct run run = {.cli = cli, .report = writ_buf_make(REPORT_MAX)};
    struct writ_err err = {0};
    writ_result result = WRIT_DONE;

    for (int at = 0; at < cli->operand_count && writ_is_ok(result); at++) {
        result = run_path(&run, cli->operands[at], 0, &err);
    }
    if (!writ_is_ok(result)) {
        writ_buf_wipe(&run.report);
        return writ_cli_fail(cli, result, &err);
    }
    if (cli->json) {
        writ_cli_print("{\"failures\":[" WRIT_VIEW_FMT
                       "],\"passed\":%llu,\"failed\":%llu,\"skipped\":%llu}\n",
            WRIT_VIEW_ARG(writ_buf_view(&run.report)), (unsigned long long)run.passed,
            (unsigned long long)run.failed, (unsigned long long)run.skipped);
    } else {
        writ_cli_put(writ_buf_view(&run.report));
        writ_cli_print("%llu passed, %llu failed, %llu files of other formats\n",
            (unsigned long long)run.passed, (unsigned long long)run.failed,
            (unsigned long long)run.skipped);
    }
    writ_buf_wipe(&run.report);
    /* a run without a case is not a success */
    return run.failed == 0 && run.passed > 0 ? WRIT_EXIT_OK : WRIT_EXIT_NEGATIVE;
}
