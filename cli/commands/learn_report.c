/* The report of writ policy learn. No value of a call is in it but those that the difference writes
 * into the configuration. */
#include "cli/commands/learn_report.h"
#include "base/text.h"
#include "evidence/json/write.h"
#include "policy/read/unified.h"

#define OUTPUT_MAX ((size_t)256 << 20)

static const char *
plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}

static void
put_name(struct writ_buf *ret, const struct writ_learn_tool *tool)
{
    writ_text_safe(ret, tool->upstream, tool->upstream.len);
    writ_buf_byte(ret, '/');
    writ_text_safe(ret, tool->tool, tool->tool.len);
}

static void
put_decisions(struct writ_buf *ret, const struct writ_view *decisions, size_t n, uint64_t of)
{
    for (size_t i = 0; i < n; i++) {
        writ_buf_str(ret, i > 0 ? ", " : "");
        writ_text_safe(ret, decisions[i], decisions[i].len);
    }
    writ_buf_str(ret, of > n ? ", ..." : "");
}

static void
put_argument(struct writ_buf *ret, const struct writ_learned_argument *a)
{
    writ_buf_str(ret, "  ");
    if (a->pointer.len > 0) {
        writ_text_safe(ret, a->pointer, a->pointer.len);
    } else {
        writ_buf_str(ret, "all arguments");
    }
    writ_buf_fmt(ret, ": %s; %llu call%s, %s%llu value%s", writ_ladder_step_name(a->step),
        (unsigned long long)a->calls, plural(a->calls), a->more_values ? "more than " : "",
        (unsigned long long)a->values, plural(a->values));
    writ_buf_str(ret, a->few ? "; too few to generalise" : "");
    if (a->cost > 0) {
        writ_buf_fmt(ret, "; would refuse %llu when new", (unsigned long long)a->cost);
    }
    if (a->without > a->cost) {
        writ_buf_fmt(ret, "; without this step %llu: ", (unsigned long long)a->without);
        put_decisions(ret, a->decisions, a->decisions_n, a->without);
    }
    writ_buf_byte(ret, '\n');
}

static void
put_result(const struct writ_learn_result *result, struct writ_buf *ret)
{
    const struct writ_learn_tool *tool = result->change.tool;
    uint64_t cost = result->learned.cost;

    put_name(ret, tool);
    writ_buf_fmt(ret,
        ": %llu call%s in %s%llu run%s; of these %llu (%.1f %%) would have been "
        "refused if their own %s had not been seen\n",
        (unsigned long long)tool->calls, plural(tool->calls),
        tool->runs == WRIT_SPOT_VALUES_MAX ? "at least " : "", (unsigned long long)tool->runs,
        plural(tool->runs), (unsigned long long)cost,
        tool->calls > 0 ? 100.0 * (double)cost / (double)tool->calls : 0.0,
        result->learned.by_run ? "run" : "call");
    for (const struct writ_learned_argument *a = result->learned.arguments; a != NULL;
         a = a->next) {
        put_argument(ret, a);
    }
    if (result->learned.open) {
        writ_buf_str(ret, "  something passes unchecked: see `type: any`\n");
    }
    if (result->change.rule != NULL && result->change.rule->shadow) {
        writ_buf_str(ret, "  its rule only watches (shadow): remove that to have it refuse\n");
    }
}

static void
put_left(struct writ_buf *ret, const char *what, const struct writ_learn_left *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        writ_buf_fmt(ret, "%s: %llu call%s, ", what, (unsigned long long)list[i].calls,
            plural(list[i].calls));
        writ_buf_put(ret, list[i].reason);
        writ_buf_str(ret, ": ");
        put_decisions(ret, list[i].decisions, list[i].decisions_n, list[i].calls);
        writ_buf_byte(ret, '\n');
    }
}

static void
put_difference(const struct writ_learn_run *run, size_t file, struct writ_buf *ret)
{
    const struct writ_unified texts = {.file = run->files[file].name,
        .before = run->files[file].before,
        .after = run->files[file].after};

    (void)writ_unified_put(ret, &texts, run->arena);
}

static void
put_text(const struct writ_learn_run *run, struct writ_buf *ret)
{
    bool changed = false;

    writ_buf_fmt(ret, "%llu call%s seen, %llu learned from\n", (unsigned long long)run->seen,
        plural(run->seen), (unsigned long long)run->learned_from);
    for (size_t i = 0; i < run->results_n; i++) {
        put_result(&run->results[i], ret);
    }
    put_left(ret, "left out", run->left, run->left_n);
    put_left(ret, "LOOSENED, the rules refuse them now", run->loosened, run->loosened_n);
    if (run->cases_n > 0) {
        writ_buf_fmt(ret, "%zu case%s written\n", run->cases_n, plural(run->cases_n));
    }
    for (size_t i = 0; i < run->files_n; i++) {
        changed = changed || !writ_view_equal(run->files[i].before, run->files[i].after);
        put_difference(run, i, ret);
    }
    writ_buf_str(ret, changed ? "" : "nothing to change\n");
}

/* ---- as JSON */

static void
write_decisions(struct writ_write *w, const struct writ_view *decisions, size_t n)
{
    writ_write_name(w, WRIT_LIT("decisions"));
    writ_write_array_begin(w);
    for (size_t i = 0; i < n; i++) {
        writ_write_string(w, decisions[i]);
    }
    writ_write_array_end(w);
}

static void
write_argument(struct writ_write *w, const struct writ_learned_argument *a)
{
    writ_write_object_begin(w);
    writ_write_text(w, "pointer", a->pointer);
    writ_write_text(w, "step", writ_view_str(writ_ladder_step_name(a->step)));
    writ_write_count(w, "calls", a->calls);
    writ_write_count(w, "values", a->values);
    writ_write_flag(w, "more_values", a->more_values);
    writ_write_flag(w, "few", a->few);
    writ_write_count(w, "would_refuse", a->cost);
    writ_write_count(w, "without", a->without);
    write_decisions(w, a->decisions, a->decisions_n);
    writ_write_object_end(w);
}

static void
write_result(struct writ_write *w, const struct writ_learn_result *result)
{
    const struct writ_learn_tool *tool = result->change.tool;

    writ_write_object_begin(w);
    writ_write_text(w, "upstream", tool->upstream);
    writ_write_text(w, "tool", tool->tool);
    writ_write_text_or_null(w, "rule", tool->rule.len > 0 ? tool->rule : writ_view(NULL, 0));
    writ_write_count(w, "calls", tool->calls);
    writ_write_count(w, "runs", tool->runs);
    writ_write_count(w, "would_refuse", result->learned.cost);
    writ_write_flag(w, "by_run", result->learned.by_run);
    writ_write_flag(w, "open", result->learned.open);
    writ_write_count(w, "added", result->news);
    writ_write_count(w, "removed", result->dropped);
    writ_write_name(w, WRIT_LIT("arguments"));
    writ_write_array_begin(w);
    for (const struct writ_learned_argument *a = result->learned.arguments; a != NULL;
         a = a->next) {
        write_argument(w, a);
    }
    writ_write_array_end(w);
    writ_write_object_end(w);
}

static void
write_left(struct writ_write *w, const char *name, const struct writ_learn_left *list, size_t n)
{
    writ_write_name(w, writ_view_str(name));
    writ_write_array_begin(w);
    for (size_t i = 0; i < n; i++) {
        writ_write_object_begin(w);
        writ_write_text(w, "reason", list[i].reason);
        writ_write_count(w, "calls", list[i].calls);
        write_decisions(w, list[i].decisions, list[i].decisions_n);
        writ_write_object_end(w);
    }
    writ_write_array_end(w);
}

static void
put_json(const struct writ_learn_run *run, struct writ_buf *ret)
{
    struct writ_write w = writ_write_to(ret);

    writ_write_object_begin(&w);
    writ_write_count(&w, "seen", run->seen);
    writ_write_count(&w, "learned", run->learned_from);
    writ_write_name(&w, WRIT_LIT("tools"));
    writ_write_array_begin(&w);
    for (size_t i = 0; i < run->results_n; i++) {
        write_result(&w, &run->results[i]);
    }
    writ_write_array_end(&w);
    write_left(&w, "left_out", run->left, run->left_n);
    write_left(&w, "loosened", run->loosened, run->loosened_n);
    writ_write_count(&w, "cases", run->cases_n);
    writ_write_name(&w, WRIT_LIT("files"));
    writ_write_array_begin(&w);
    for (size_t i = 0; i < run->files_n; i++) {
        writ_auto_buf text = writ_buf_make(OUTPUT_MAX);

        put_difference(run, i, &text);
        ret->failed = text.failed != WRIT_E_UNSET ? text.failed : ret->failed;
        writ_write_object_begin(&w);
        writ_write_text(&w, "file", run->files[i].name);
        writ_write_text(&w, "diff", writ_buf_view(&text));
        writ_write_object_end(&w);
    }
    writ_write_array_end(&w);
    writ_write_object_end(&w);
    ret->failed = writ_is_ok(writ_write_end(&w, NULL)) ? ret->failed : WRIT_E_NOMEM;
    writ_buf_byte(ret, '\n');
}

void
writ_learn_report_put(const struct writ_learn_run *run, struct writ_buf *ret)
{
    if (run->cli->json) {
        put_json(run, ret);
    } else {
        put_text(run, ret);
    }
}
