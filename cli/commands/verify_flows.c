/* writ verify flows: a bundle, and then what its decisions say about their runs (policy/replay).
 * The records are taken while the file is read; what is found counts only when the whole file
 * holds. */
#include "base/text.h"
#include "cli/base/print.h"
#include "cli/commands/bundle_file.h"
#include "cli/commands/command.h"
#include "policy/read/load.h"
#include "policy/replay/reflow.h"

#define ANSWER_MAX   ((size_t)4 << 20)
#define FINDINGS_MAX 1000 /* that are named */
#define LINE_MAX     3072 /* bytes of one for people */

/* One run of the command. */
struct run {
    const struct writ_cli *cli;
    struct writ_config *config;
    struct writ_reflow *reflow;
    struct writ_bundle_file file;
    struct writ_reflow_report report;
    struct writ_buf lines;    /* findings for people */
    struct writ_buf findings; /* as JSON, between the brackets */
    size_t n;
};

static void
run_wipe(struct run *run)
{
    writ_reflow_free(run->reflow);
    writ_bundle_file_wipe(&run->file);
    writ_config_drop(run->config);
    writ_buf_wipe(&run->lines);
    writ_buf_wipe(&run->findings);
}

/* ---- findings */

static void
put_finding(const struct writ_reflow_finding *f, struct writ_buf *ret)
{
    struct writ_write w = writ_write_to(ret);

    writ_write_object_begin(&w);
    writ_write_text(&w, "kind", writ_reflow_kind_word(f->kind));
    writ_write_text(&w, "sentence", writ_view_str(writ_reflow_kind_sentence(f->kind)));
    writ_write_text(&w, "decision_id", f->decision_id);
    writ_write_text(&w, "boundary_id", f->run);
    writ_write_text(&w, "tenant", f->tenant);
    writ_write_text_if(&w, "argument", f->argument);
    writ_write_object_end(&w);
    WRIT_IGNORE(writ_write_end(&w, NULL)); /* the buffer keeps the failure */
}

static void
print_finding(const struct writ_reflow_finding *f, struct writ_buf *ret)
{
    struct writ_view word = writ_reflow_kind_word(f->kind);

    writ_buf_fmt(ret, "%-9.*s ", (int)word.len, word.ptr);
    writ_text_safe(ret, f->decision_id, LINE_MAX / 3);
    writ_buf_str(ret, " of run ");
    writ_text_safe(ret, f->run, LINE_MAX / 3);
    if (f->argument.len > 0) {
        writ_buf_str(ret, ", argument ");
        writ_text_safe(ret, f->argument, LINE_MAX / 3);
    }
    writ_buf_fmt(ret, ": %s\n", writ_reflow_kind_sentence(f->kind));
}

static void
take_finding(void *ctx, const struct writ_reflow_finding *finding)
{
    struct run *run = ctx;

    if (run->n++ >= FINDINGS_MAX) {
        return;
    }
    print_finding(finding, &run->lines);
    if (run->findings.len > 0) {
        writ_buf_byte(&run->findings, ',');
    }
    put_finding(finding, &run->findings);
}

static enum writ_reason
reason_of(const struct run *run)
{
    static const bool is_mismatch[] = {
#define KIND(NAME, word, mismatch, sentence) mismatch,
        WRIT_REFLOW_KINDS(KIND)
#undef KIND
    };
    enum writ_reason why = run->file.why;

    for (size_t i = 0; i < WRIT_REFLOW_KINDS_N && run->file.why == WRIT_REASON_EVIDENCE_OK; i++) {
        if (run->report.found[i] > 0 && is_mismatch[i]) {
            return WRIT_REASON_FLOW_MISMATCH;
        }
        if (run->report.found[i] > 0) {
            why = WRIT_REASON_RUN_INCOMPLETE;
        }
    }
    return why;
}

/* ---- the answer */

static void
put_json(const struct run *run, struct writ_buf *out)
{
    const struct writ_reflow_report *r = &run->report;
    const struct {
        const char *name;
        uint64_t count;
    } rows[] = {{"runs", r->runs}, {"judged", r->decisions - r->skipped}, {"skipped", r->skipped},
        {"sources", r->sources}, {"operator_values", r->operators}, {"verdicts", r->verdicts},
        {"without_verdict", r->unjudged}, {"behind", r->behind}, {"open", r->open}};
    struct writ_write w = writ_write_to(out);

    writ_write_object_begin(&w);
    writ_bundle_file_put(&w, &run->file, reason_of(run));
    if (run->file.why == WRIT_REASON_EVIDENCE_OK) {
        writ_write_name(&w, WRIT_LIT("flows"));
        writ_write_object_begin(&w);
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            writ_write_count(&w, rows[i].name, rows[i].count);
        }
        writ_write_count(&w, "findings_total", run->n);
        writ_write_name(&w, WRIT_LIT("findings"));
        writ_write_array_begin(&w);
        if (run->findings.len > 0) {
            writ_write_raw(&w, writ_buf_view(&run->findings));
        }
        writ_write_array_end(&w);
        writ_write_object_end(&w);
    }
    writ_write_object_end(&w);
    WRIT_IGNORE(writ_write_end(&w, NULL)); /* the buffer keeps the failure */
    writ_buf_byte(out, '\n');
}

static void
put_text(const struct run *run, enum writ_reason why, struct writ_buf *out)
{
    const struct writ_reflow_report *r = &run->report;
    bool ok = why == WRIT_REASON_EVIDENCE_OK;

    writ_buf_fmt(
        out, WRIT_VIEW_FMT "\n", WRIT_VIEW_ARG(ok ? WRIT_LIT("ok") : writ_reason_name(why)));
    writ_buf_put(out, writ_buf_view(&run->lines));
    if (run->n > FINDINGS_MAX) {
        writ_buf_fmt(out, "...       %zu more\n", run->n - FINDINGS_MAX);
    }
    writ_buf_fmt(out,
        "recomputed labels of %llu decisions in %llu runs, %llu sources, %llu verdicts\n",
        (unsigned long long)(r->decisions - r->skipped), (unsigned long long)r->runs,
        (unsigned long long)r->sources, (unsigned long long)r->verdicts);
    writ_buf_fmt(out,
        "not        %llu verdicts%s, %llu values of lists of the operator, %llu decisions after a "
        "gap\n",
        (unsigned long long)r->unjudged, run->config == NULL ? " (pass --config)" : "",
        (unsigned long long)r->operators, (unsigned long long)r->skipped);
    writ_buf_fmt(out, "behind     %llu decisions did not count a record of the last 10 seconds\n",
        (unsigned long long)r->behind);
    writ_buf_fmt(out, "open       %llu calls have no outcome\n", (unsigned long long)r->open);
}

static WRIT_RESULT
take_record(
    void *ctx, enum writ_detached_record_kind kind, struct writ_view record, struct writ_err *err)
{
    const struct run *run = ctx;

    switch (kind) {
    case WRIT_DETACHED_RECORD_DECISION:
        return writ_reflow_decision(run->reflow, record, err);
    case WRIT_DETACHED_RECORD_OUTCOME:
        return writ_reflow_outcome(run->reflow, record, err);
    case WRIT_DETACHED_RECORD_NONE:
    case WRIT_DETACHED_RECORD_SEAL:
    case WRIT_DETACHED_RECORD_REVIEW:
        break;
    }
    return WRIT_DONE;
}

static WRIT_RESULT
verify(struct run *run, enum writ_reason *ret, struct writ_err *err)
{
    writ_auto_buf out = writ_buf_make(ANSWER_MAX);

    run->lines = writ_buf_make(ANSWER_MAX);
    run->findings = writ_buf_make(ANSWER_MAX);
    if (writ_cli_has(run->cli, "config")) {
        WRIT_TRY(writ_load_file(writ_cli_get(run->cli, "config").ptr, NULL, &run->config, err));
    }
    WRIT_TRY(writ_reflow_new(run->config, take_finding, run, &run->reflow, err));
    WRIT_TRY(writ_bundle_file_verify(run->cli, take_record, run, &run->file, err));
    writ_reflow_report(run->reflow, &run->report);
    WRIT_TRY(writ_buf_check(&run->lines, err));
    WRIT_TRY(writ_buf_check(&run->findings, err));
    *ret = reason_of(run);
    if (run->cli->json) {
        put_json(run, &out);
    } else if (run->file.why == WRIT_REASON_EVIDENCE_OK) {
        put_text(run, *ret, &out);
    } else {
        writ_bundle_file_print_reason(&run->file);
    }
    WRIT_TRY(writ_buf_check(&out, err));
    writ_cli_put(writ_buf_view(&out));
    return WRIT_DONE;
}

enum writ_exit
writ_command_verify_flows(const struct writ_cli *cli)
{
    WRIT_AUTO(struct run, run_wipe) run = {.cli = cli, .file = {.fd = -1}};
    enum writ_reason why = WRIT_REASON_NONE;
    struct writ_err err = {0};
    writ_result result;

    if (writ_cli_has(cli, "quorum") && !writ_cli_has(cli, "witness")) {
        return writ_cli_usage(cli, "--quorum needs --witness");
    }
    result = verify(&run, &why, &err);
    if (!writ_is_ok(result)) {
        return writ_cli_fail(cli, result, &err);
    }
    return why == WRIT_REASON_EVIDENCE_OK ? WRIT_EXIT_OK : WRIT_EXIT_NEGATIVE;
}
