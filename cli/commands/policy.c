/* writ policy ...: test cases for policies, judged by the gateway's own code. A case that cannot be
 * read fails. */
#include "base/text.h"
#include "cli/commands/command.h"
#include "evidence/json/write.h"
#include "policy/read/case.h"
#include "policy/read/load.h"

#define OUTPUT_MAX     ((size_t)64 << 20)
#define ARENA_MAX      ((size_t)512 << 20)
#define CASE_ARENA_MAX ((size_t)64 << 20)
#define DIFFERENCE_MAX 4096

/* One run over one file. */
struct run {
    const struct writ_cli *cli;
    struct writ_arena *arena;      /* of the file */
    struct writ_arena *case_arena; /* of one case after the other */
    struct writ_config *config;
    struct writ_case_file file;
    struct writ_buf output;
    size_t passed, failed;
};

static void
run_wipe(struct run *run)
{
    writ_config_drop(run->config);
    writ_arena_free(run->case_arena);
    writ_arena_free(run->arena);
    writ_buf_wipe(&run->output);
}

/* `name` beside the file of cases. */
static void
put_beside(struct writ_buf *ret, struct writ_view file, struct writ_view name)
{
    size_t end = file.len;

    while (end > 0 && file.ptr[end - 1] != '/') {
        end--;
    }
    if (!writ_view_has_prefix(name, WRIT_LIT("/"))) {
        writ_buf_put(ret, writ_view_sub(file, 0, end));
    }
    writ_buf_put(ret, name);
    writ_buf_byte(ret, '\0');
}

static WRIT_RESULT
load_config(struct run *run, struct writ_err *err)
{
    struct writ_view given = writ_cli_get(run->cli, "config");
    writ_auto_buf path = writ_buf_make(8192);

    if (given.ptr != NULL) {
        return writ_load_file(given.ptr, NULL, &run->config, err);
    }
    put_beside(&path, writ_cli_operand(run->cli, 0), run->file.config);
    WRIT_TRY(writ_buf_check(&path, err));
    return writ_load_file(path.ptr, NULL, &run->config, err);
}

/* "cases.yaml:3: the first finding"; a finding about the file as a whole has no line. */
static writ_result
fail_reading(const struct run *run, const struct writ_findings *findings, writ_result result,
    struct writ_err *err)
{
    const struct writ_finding *first = findings->n > 0 ? &findings->items[0] : NULL;
    writ_auto_buf line = writ_buf_make(32);

    if (first != NULL && first->line > 0) {
        writ_buf_fmt(&line, ":%zu", first->line);
    }
    return writ_fail(err, result.code, WRIT_VIEW_FMT WRIT_VIEW_FMT ": " WRIT_VIEW_FMT,
        WRIT_VIEW_ARG(writ_cli_operand(run->cli, 0)), WRIT_VIEW_ARG(writ_buf_view(&line)),
        WRIT_VIEW_ARG(first != NULL ? first->message : WRIT_LIT("cannot be read")));
}

static WRIT_RESULT
load(struct run *run, struct writ_err *err)
{
    WRIT_AUTO(struct writ_findings, writ_findings_wipe) findings = {0};
    struct writ_view path = writ_cli_operand(run->cli, 0);
    writ_auto_buf text = writ_buf_make(WRIT_CASE_FILE_MAX + 1);
    writ_result result;

    run->arena = writ_arena_new(ARENA_MAX);
    run->case_arena = writ_arena_new(CASE_ARENA_MAX);
    if (run->arena == NULL || run->case_arena == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory");
    }
    WRIT_TRY(writ_cli_read(path.ptr, WRIT_CASE_FILE_MAX, &text, err));
    result = writ_case_file(writ_buf_view(&text), run->arena, &findings, &run->file);
    return writ_is_ok(result) ? load_config(run, err) : fail_reading(run, &findings, result, err);
}

/* " (constraint_failed, /amount: amount le)" */
static void
put_verdict(struct writ_buf *ret, const struct writ_verdict *verdict)
{
    writ_buf_str(ret, " (");
    writ_buf_put(ret, writ_reason_name(writ_case_reason(verdict)));
    if (verdict->argument.len > 0 || verdict->constraint.len > 0) {
        writ_buf_str(ret, ", ");
        writ_text_safe(ret, verdict->argument, verdict->argument.len);
        writ_buf_str(ret, verdict->argument.len > 0 && verdict->constraint.len > 0 ? ": " : "");
        writ_text_safe(ret, verdict->constraint, verdict->constraint.len);
    }
    writ_buf_byte(ret, ')');
}

static void
put_failure(struct run *run, const struct writ_case *one, const struct writ_verdict *verdict,
    struct writ_view why)
{
    writ_buf_put(&run->output, writ_cli_operand(run->cli, 0));
    writ_buf_fmt(&run->output, ":%zu: failed: ", one->line);
    writ_text_safe(&run->output, one->name, one->name.len);
    writ_buf_str(&run->output, one->name.len > 0 ? ": " : "");
    writ_text_safe(&run->output, why, why.len);
    if (verdict != NULL) {
        put_verdict(&run->output, verdict);
    }
    writ_buf_byte(&run->output, '\n');
}

static void
put_result(struct run *run, const struct writ_case *one, bool judged, bool passed,
    const struct writ_verdict *verdict, struct writ_view why)
{
    writ_auto_buf text = writ_buf_make(OUTPUT_MAX);
    struct writ_write w = writ_write_to(&run->output);

    writ_buf_str(&run->output, run->passed + run->failed > 1 ? "," : "");
    writ_write_object_begin(&w);
    writ_write_text_or_null(&w, "name", one->name);
    writ_write_count(&w, "line", one->line);
    writ_write_flag(&w, "passed", passed);
    writ_write_text_or_null(&w, "difference", passed ? writ_view(NULL, 0) : why);
    writ_write_name(&w, WRIT_LIT("verdict"));
    if (judged) {
        writ_case_put(verdict, &text);
        writ_write_raw(&w, writ_buf_view(&text));
    } else {
        writ_write_null(&w);
    }
    writ_write_object_end(&w);
    (void)writ_is_ok(writ_write_end(&w, NULL)); /* a failure stays in the buffer */
}

static WRIT_RESULT
run_case(struct run *run, const struct writ_case *one, struct writ_err *err)
{
    writ_auto_buf difference = writ_buf_make(DIFFERENCE_MAX);
    struct writ_verdict verdict = {0};
    bool passed = false;
    struct writ_view why;
    writ_result result;

    writ_arena_reset(run->case_arena);
    result = writ_case_run(run->config, one, run->case_arena, &passed, &verdict, &difference, err);
    if (!writ_is_ok(result) && result.code != WRIT_E_INVALID && result.code != WRIT_E_PARSE) {
        return result;
    }
    why = writ_is_ok(result) ? writ_buf_view(&difference) : writ_view_str(err->text);
    *(passed ? &run->passed : &run->failed) += 1;
    if (run->cli->json) {
        put_result(run, one, writ_is_ok(result), passed, &verdict, why);
    } else if (!passed) {
        put_failure(run, one, writ_is_ok(result) ? &verdict : NULL, why);
    }
    return WRIT_DONE;
}

static WRIT_RESULT
run_all(struct run *run, struct writ_err *err)
{
    WRIT_TRY(load(run, err));
    writ_buf_str(&run->output, run->cli->json ? "{\"results\":[" : "");
    for (size_t i = 0; i < run->file.n; i++) {
        WRIT_TRY(run_case(run, &run->file.cases[i], err));
    }
    writ_buf_fmt(&run->output,
        run->cli->json ? "],\"passed\":%zu,\"failed\":%zu}\n" : "%zu passed, %zu failed\n",
        run->passed, run->failed);
    return writ_buf_check(&run->output, err);
}

enum writ_exit
writ_command_policy_test(const struct writ_cli *cli)
{
    WRIT_AUTO(struct run, run_wipe) run = {.cli = cli, .output = writ_buf_make(OUTPUT_MAX)};
    struct writ_err err = {0};
    writ_result result = run_all(&run, &err);

    if (!writ_is_ok(result)) {
        return writ_cli_fail(cli, result, &err);
    }
    writ_cli_put(writ_buf_view(&run.output));
    return run.failed == 0 ? WRIT_EXIT_OK : WRIT_EXIT_NEGATIVE;
}
