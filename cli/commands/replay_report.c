/* Writes counts and groups. An example is the id of a decision; its arguments are written only when
 * they were asked for. */
#include "cli/commands/replay_report.h"

#include "base/text.h"
#include "cli/base/print.h"
#include "evidence/json/write.h"
#include "gateway/replay/replay_json.h"
#include "policy/read/standing.h"

#define GROUPS_SHOWN 50  /* of each kind, in the text */
#define TEXT_SHOWN   600 /* bytes of a constraint or a place */

static size_t
count_groups(const struct writ_replay_run *run, enum writ_rejudge_change change)
{
    size_t n = 0;

    for (size_t i = 0; i < run->groups->n; i++) {
        n += run->groups->list[i]->change == change ? 1 : 0;
    }
    return n;
}

/* ---- for people */

static void
put_number(struct writ_buf *out, uint64_t n, const char *text)
{
    writ_buf_fmt(out, "%10llu  %s\n", (unsigned long long)n, text);
}

static void
put_number_if(struct writ_buf *out, uint64_t n, const char *text)
{
    if (n > 0) {
        put_number(out, n, text);
    }
}

static void
put_counts(const struct writ_replay_run *run, struct writ_buf *out)
{
    put_number(out, run->decisions - run->continued, "calls in the range");
    put_number(out, run->decided, "decided again: their arguments have the digests of the records");
    put_number_if(
        out, run->gaps[WRIT_REPLAY_RUN_NOT_KEPT], "not decided: their contents are not kept");
    put_number_if(out, run->gaps[WRIT_REPLAY_RUN_ERASED],
        "not decided: their contents were erased, by their time or by an erase");
    put_number_if(out, run->gaps[WRIT_REPLAY_RUN_LOCKED],
        "not decided: the key of their contents is not in the key directory");
    put_number_if(out, run->in_part, "decided without their secret members, which are not kept");
    put_number_if(out, run->groups->unknown,
        "without a certain answer: secret members or annotations of the tool decide");
    put_number_if(out, run->apart,
        "not compared: refused for a cause outside of the policy, such as a duplicate or a stop");
    put_number_if(out, run->shadowed, "allowed now by shadow mode alone");
    put_number(out, run->groups->changes[WRIT_REJUDGE_SAME], "unchanged");
}

/* " tool constraint_failed: amount le at /amount" */
static void
put_cause(const struct writ_rejudge_group *group, struct writ_buf *out)
{
    enum writ_reason reason =
        group->change == WRIT_REJUDGE_ALLOWED ? group->was_reason : group->reason;

    writ_print_plain(out, group->upstream);
    writ_buf_byte(out, '/');
    writ_print_plain(out, group->tool);
    writ_buf_str(out, "  agent ");
    writ_print_plain(out, group->agent);
    if (group->tenant.len > 0) {
        writ_buf_str(out, " of ");
        writ_print_plain(out, group->tenant);
    }
    if (group->change == WRIT_REJUDGE_ALLOWED) {
        writ_buf_str(
            out, group->was == WRIT_EFFECT_REVIEW ? "  was under review" : "  was refused");
    }
    writ_buf_str(out, "  ");
    writ_buf_put(out, writ_reason_name(reason));
    if (group->constraint.len > 0) {
        writ_buf_str(out, ": ");
        writ_text_safe(out, group->constraint, TEXT_SHOWN);
    }
    if (group->argument.len > 0) {
        writ_buf_str(out, " at ");
        writ_text_safe(out, group->argument, TEXT_SHOWN);
    }
}

static void
put_place(const struct writ_replay_report *report, const struct writ_rejudge_group *group,
    struct writ_buf *out)
{
    const struct writ_yaml *node = writ_replay_json_place(group);
    struct writ_view file;

    if (node == NULL) {
        return;
    }
    file = writ_standing_file(report->run->now.rejudge.config, node);
    writ_buf_str(out, "  (");
    writ_text_safe(out, file, file.len);
    writ_buf_fmt(out, ":%zu)", node->line);
}

static void
put_group(const struct writ_replay_report *report, const struct writ_rejudge_group *group,
    struct writ_buf *out)
{
    writ_buf_fmt(out, "%10llu  ", (unsigned long long)group->calls);
    put_cause(group, out);
    put_place(report, group, out);
    writ_buf_str(out, "\n            example ");
    writ_print_plain(out, writ_buf_view(&group->example));
    writ_buf_fmt(out, ", %zu bytes", group->bytes);
    if (report->shows_values && group->arguments.len > 0) {
        writ_buf_str(out, ": ");
        writ_text_safe(out, writ_buf_view(&group->arguments), WRIT_REJUDGE_EXAMPLE_MAX);
    }
    writ_buf_byte(out, '\n');
}

static void
put_change(
    const struct writ_replay_report *report, enum writ_rejudge_change change, struct writ_buf *out)
{
    const struct writ_replay_run *run = report->run;
    size_t n = count_groups(run, change), shown = 0;

    writ_buf_byte(out, '\n');
    writ_buf_put(out, writ_rejudge_change_title(change));
    writ_buf_fmt(out, ": %llu\n", (unsigned long long)run->groups->changes[change]);
    for (size_t i = 0; i < run->groups->n && shown < GROUPS_SHOWN; i++) {
        if (run->groups->list[i]->change == change) {
            put_group(report, run->groups->list[i], out);
            shown++;
        }
    }
    if (n > shown) {
        writ_buf_fmt(out, "            and %zu more groups: see --json\n", n - shown);
    }
}

/* The names that a person gave, in one line. */
static void
put_title(const struct writ_replay_report *report, struct writ_buf *out)
{
    const struct writ_replay_run *run = report->run;
    char since[WRIT_TIME_TEXT];

    writ_print_plain(out, report->file);
    writ_buf_str(out, report->against.len > 0 ? " against " : " against the verdicts");
    if (report->against.len > 0) {
        writ_print_plain(out, report->against);
    }
    writ_buf_str(out, " of ");
    writ_print_plain(out, report->path);
    if (run->since_us > 0) {
        writ_time_format(run->since_us, since);
        writ_buf_fmt(out, " since %s", since);
    }
    writ_buf_byte(out, '\n');
}

void
writ_replay_report_text(const struct writ_replay_report *report, struct writ_buf *ret)
{
    const struct writ_replay_run *run = report->run;

    put_title(report, ret);
    put_counts(run, ret);
    if (report->against.len == 0 && (run->policies_n > 1 || run->more_policies)) {
        writ_buf_fmt(ret,
            "The records have verdicts of %zu%s policies: with --against OLD.yaml two files are "
            "compared.\n",
            run->policies_n, run->more_policies ? " and more" : "");
    }
#define CHANGE(NAME, name, title) put_change(report, WRIT_REJUDGE_##NAME, ret);
    WRIT_REJUDGE_CHANGES(CHANGE)
#undef CHANGE
    if (run->groups->others > 0) {
        writ_buf_fmt(ret, "\n%llu changes are in no group: there are more than %d groups\n",
            (unsigned long long)run->groups->others, WRIT_REJUDGE_GROUPS_MAX);
    }
}

/* ---- as JSON */

void
writ_replay_report_json(const struct writ_replay_report *report, struct writ_buf *ret)
{
    const struct writ_replay_run *run = report->run;
    struct writ_write w = writ_write_to(ret);
    char digest[WRIT_DIGEST_TEXT], since[WRIT_TIME_TEXT];

    writ_digest_text(&run->now.rejudge.config->policy_digest, digest);
    writ_time_format(run->since_us, since);
    writ_write_object_begin(&w);
    writ_write_text(&w, "config", report->file);
    writ_write_text(&w, "policy_digest", writ_view_str(digest));
    writ_write_text_or_null(&w, "against",
        writ_view(report->against.len > 0 ? report->against.ptr : NULL, report->against.len));
    writ_write_text(&w, "ledger", report->path);
    writ_write_text_or_null(
        &w, "since", run->since_us > 0 ? writ_view_str(since) : writ_view(NULL, 0));
    writ_write_flag(&w, "failed", report->failed);
    writ_replay_json_counts(run, &w);
    writ_replay_json_changes(run, report->shows_values, &w);
    writ_write_object_end(&w);
    (void)writ_is_ok(writ_write_end(&w, NULL)); /* a failure stays in the buffer */
    writ_buf_byte(ret, '\n');
}
