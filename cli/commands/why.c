/* writ why: a recorded decision, and what in the configuration stands behind it. The explanation is
 * that of policy/why, with the arguments that the reader gives, that contents keep, or that a
 * review keeps. No file of the configuration is written. */
#include "base/text.h"
#include "cli/commands/command.h"
#include "cli/commands/archive_option.h"
#include "cli/commands/why_contents.h"
#include "policy/read/load.h"
#include "policy/read/standing.h"
#include "policy/why/why.h"
#include "store/read/reader.h"

#define OUTPUT_MAX ((size_t)16 << 20)
#define ARENA_MAX  ((size_t)256 << 20)
#define NAME_BYTES 300

/* One run of the command. */
struct run {
    const struct writ_cli *cli;
    struct writ_config *config;
    struct writ_arena *arena;
    struct writ_reader *reader;
    struct writ_reader_call call;
    struct writ_decision decision;
    struct writ_extension extension;
    struct writ_why why;
};

static void
run_wipe(struct run *run)
{
    writ_reader_close(run->reader);
    writ_config_drop(run->config);
    writ_arena_free(run->arena);
}

/* ---- what is known */

static WRIT_RESULT
read_record(struct run *run, struct writ_view text, struct writ_decision *decision,
    struct writ_extension *extension, struct writ_err *err)
{
    const struct writ_json *value = NULL;

    WRIT_TRY(writ_json_read(text, &writ_json_limits_default, run->arena, &value, err));
    WRIT_TRY(writ_decision_read(value, run->arena, decision, err));
    return writ_extension_read(&decision->extensions, run->arena, extension, err);
}

static WRIT_RESULT
read_decision(struct run *run, struct writ_err *err)
{
    WRIT_TRY(writ_archive_option_open(run->cli,
        (struct writ_joined_order){
            .path = run->config->store.ptr, .decision_id = writ_cli_operand(run->cli, 0)},
        &run->reader, err));
    WRIT_TRY(
        writ_reader_show(run->reader, writ_cli_operand(run->cli, 0), run->arena, &run->call, err));
    return read_record(run, run->call.decision, &run->decision, &run->extension, err);
}

static WRIT_RESULT
read_given(struct run *run, struct writ_err *err)
{
    struct writ_buf text = writ_buf_in(run->arena, WRIT_WHY_ARGUMENTS_MAX);
    const char *path = writ_cli_get(run->cli, "arguments").ptr;

    WRIT_TRY(writ_cli_read(path, WRIT_WHY_ARGUMENTS_MAX, &text, err));
    return writ_fail_in(
        err, writ_why_arguments(&run->why, writ_buf_view(&text), WRIT_WHY_GIVEN, err), path);
}

static WRIT_RESULT
read_arguments(struct run *run, struct writ_err *err)
{
    struct writ_reader_review review = {.arguments = {NULL, 0}};

    if (writ_cli_has(run->cli, "arguments")) {
        return read_given(run, err);
    }
    if (!writ_is_ok(writ_reader_review(run->reader, writ_member_view(&run->decision.decision_id),
            run->arena, &review, NULL)) ||
        review.arguments.ptr == NULL) {
        return WRIT_DONE;
    }
    return writ_why_arguments(&run->why, review.arguments, WRIT_WHY_REVIEW, err);
}

/* The tools that brought the values, and with --contents the texts around them. */
static WRIT_RESULT
read_sources(struct run *run, struct writ_err *err)
{
    struct writ_source_texts texts = {.reader = run->reader,
        .tenant = run->call.tenant,
        .boundary_id = run->call.boundary_id,
        .leaf = run->call.leaf};

    if (writ_cli_has(run->cli, "contents")) {
        return writ_why_contents_take(run->cli, &texts, &run->why, err);
    }
    WRIT_TRY(read_arguments(run, err));
    return writ_source_texts_find(&texts, &run->why.flow, run->arena, err);
}

static WRIT_RESULT
explain(struct run *run, struct writ_err *err)
{
    struct writ_why_question question = {.decision = &run->decision, .extension = &run->extension};

    run->arena = writ_arena_new(ARENA_MAX);
    if (run->arena == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory");
    }
    WRIT_TRY(writ_load_file(writ_cli_get(run->cli, "config").ptr, NULL, &run->config, err));
    WRIT_TRY(read_decision(run, err));
    question.config = run->config;
    question.tenant = run->call.tenant;
    WRIT_TRY(writ_why_begin(&question, run->arena, &run->why, err));
    WRIT_TRY(read_sources(run, err));
    return writ_why_judge(&run->why, err);
}

/* ---- as text */

static void
put_line(struct writ_buf *ret, const char *name, struct writ_view text)
{
    if (text.len > 0) {
        writ_buf_fmt(ret, "%-13s ", name);
        writ_text_safe(ret, text, text.len);
        writ_buf_byte(ret, '\n');
    }
}

/* "conf/writ.yaml:12" */
static void
put_place(const struct writ_why *why, const struct writ_yaml *node, struct writ_buf *ret)
{
    struct writ_view file = writ_standing_file(why->asked.config, node);

    writ_text_safe(ret, file, file.len);
    writ_buf_fmt(ret, ":%zu", node->key_line);
}

static void
put_rule_line(const struct writ_why *why, struct writ_buf *ret, const char *name,
    const struct writ_tool_rule *rule, struct writ_view more)
{
    writ_auto_buf text = writ_buf_make(OUTPUT_MAX);

    if (rule != NULL) {
        writ_buf_put(&text, rule->ref);
        writ_buf_str(&text, " at ");
        put_place(why, rule->node, &text);
        writ_buf_put(&text, more);
        put_line(ret, name, writ_buf_view(&text));
    }
}

static void
put_constraint(const struct writ_why *why, struct writ_buf *ret)
{
    writ_auto_buf text = writ_buf_make(OUTPUT_MAX), bound = writ_buf_make(OUTPUT_MAX);

    writ_buf_put(&text, why->constraint_name);
    if (why->constraint != NULL) {
        writ_buf_str(&text, " at ");
        put_place(why, why->constraint->node, &text);
        writ_standing_bound(why->constraint, &bound);
    }
    put_line(ret, "constraint", writ_buf_view(&text));
    put_line(ret, "bound", writ_buf_view(&bound));
}

/* " refuses /n alone (n le: a number not above 10)" */
static void
put_refusal(const struct writ_constraint_failure *failure, struct writ_buf *ret)
{
    writ_buf_str(ret, " refuses ");
    writ_text_safe(ret, failure->argument, NAME_BYTES);
    writ_buf_str(ret, " alone (");
    if (failure->constraint.len == 0) {
        writ_buf_str(ret, "it has no constraint there");
    } else {
        writ_text_safe(ret, failure->constraint, NAME_BYTES);
        writ_buf_str(ret, failure->accepted.len > 0 ? ": " : "");
        writ_text_safe(ret, failure->accepted, NAME_BYTES);
    }
    writ_buf_byte(ret, ')');
}

static void
put_nearest(const struct writ_why *why, struct writ_buf *ret)
{
    writ_auto_buf more = writ_buf_make(OUTPUT_MAX), differs = writ_buf_make(OUTPUT_MAX);

    if (why->nearest.rule == NULL) {
        return;
    }
    writ_why_difference(why, why->nearest.rule, &differs);
    if (why->nearest.failure != NULL) {
        put_refusal(why->nearest.failure, &more);
    } else {
        writ_buf_str(&more, why->arguments != NULL ? " allows these arguments" : "");
    }
    writ_buf_str(&more, differs.len > 0 ? ", for " : ", and stands behind the rule that decided");
    writ_buf_put(&more, writ_buf_view(&differs));
    put_rule_line(why, ret, "nearest rule", why->nearest.rule, writ_buf_view(&more));
}

/* Where it came from; then each place in the text there, or why there is none. */
static void
put_value(const struct writ_why_value *value, struct writ_buf *ret)
{
    writ_auto_buf text = writ_buf_make(OUTPUT_MAX);

    writ_why_flow_value_text(value, &text);
    put_line(ret, "came from", writ_buf_view(&text));
    for (size_t i = 0; i < value->text.n; i++) {
        put_line(ret, "text", value->text.places[i].marked);
    }
    if (value->text.n == 0 && value->text.state != WRIT_WHY_TEXT_UNASKED &&
        value->text.state != WRIT_WHY_TEXT_NOWHERE) {
        put_line(ret, "text", writ_why_text_sentence(value->text.state));
    }
}

static void
put_flow(const struct writ_why *why, struct writ_buf *ret)
{
    writ_auto_buf text = writ_buf_make(OUTPUT_MAX);

    for (size_t i = 0; i < why->flow.values_n; i++) {
        put_value(&why->flow.values[i], ret);
    }
    if (why->flow.rule != NULL) {
        writ_buf_put(&text, why->flow.rule->ref);
        writ_buf_str(&text, " at ");
        put_place(why, why->flow.rule->node, &text);
        writ_buf_str(&text, ": ");
        writ_why_flow_condition(why->flow.rule, &text);
        put_line(ret, "flow rule", writ_buf_view(&text));
    }
    for (size_t i = 0; i < why->flow.labels_n; i++) {
        writ_buf_clear(&text);
        writ_why_label_text(&why->flow.labels[i], &text);
        put_line(ret, "label", writ_buf_view(&text));
    }
    put_line(ret, "advice", why->advice);
}

static void
put_caller(const struct writ_why *why, struct writ_buf *ret)
{
    put_line(ret, "agent", why->agent.id);
    put_line(ret, "role", why->agent.role);
    put_line(ret, "tenant", why->agent.tenant);
    put_line(ret, "upstream", writ_member_view(&why->asked.extension->upstream));
    put_line(ret, "tool", writ_member_view(&why->asked.decision->tool));
    put_line(ret, "policy",
        why->same_policy ? WRIT_LIT("the configuration is that of the decision")
                         : WRIT_LIT("the configuration has another policy_digest than the "
                                    "decision: what follows is about the configuration as it is "
                                    "now"));
}

static void
put_note(const struct writ_why *why, struct writ_buf *ret)
{
    writ_auto_buf text = writ_buf_make(OUTPUT_MAX);
    struct writ_view advice = writ_why_note_advice(why);

    writ_buf_put(&text, writ_why_note_text(why));
    writ_buf_str(&text, advice.len > 0 ? " " : "");
    writ_buf_put(&text, advice);
    put_line(ret, "note", writ_buf_view(&text));
}

static void
put_text(const struct writ_why *why, struct writ_buf *ret)
{
    struct writ_view sentence = writ_reason_sentence(why->reason);

    writ_buf_put(ret, writ_member_view(&why->asked.decision->decision));
    writ_buf_fmt(ret, ": " WRIT_VIEW_FMT " (" WRIT_VIEW_FMT ")%s\n",
        WRIT_VIEW_ARG(writ_reason_name(why->reason)), WRIT_VIEW_ARG(sentence),
        why->asked.extension->shadow.is == WRIT_PRESENT ? ", in shadow: the call ran" : "");
    put_caller(why, ret);
    if (why->arguments != NULL && why->now.reason != why->reason) {
        put_line(ret, "now", writ_reason_name(why->now.reason));
    }
    put_rule_line(why, ret, "rule", why->rule, writ_view(NULL, 0));
    if (why->rule == NULL) {
        put_line(ret, "rule", WRIT_LIT("none is for this caller and tool"));
    }
    put_line(ret, "argument", why->argument);
    put_constraint(why, ret);
    put_line(ret, "accepted", why->accepted);
    put_line(ret, "hint", why->hint.len > 0 ? why->hint : writ_reason_hint(why->reason));
    put_nearest(why, ret);
    put_flow(why, ret);
    put_note(why, ret);
    if (why->edit.ptr != NULL) {
        writ_buf_str(ret,
            "This edit allows the call, and calls like it: read it first. Nothing was written:\n");
        writ_buf_put(ret, why->edit);
    }
}

static void
put_json(const struct writ_why *why, struct writ_buf *ret)
{
    struct writ_write w = writ_write_to(ret);

    writ_why_json(why, &w);
    (void)writ_is_ok(writ_write_end(&w, NULL)); /* a failure stays in the buffer */
    writ_buf_byte(ret, '\n');
}

enum writ_exit
writ_command_why(const struct writ_cli *cli)
{
    WRIT_AUTO(struct run, run_wipe) run = {.cli = cli};
    writ_auto_buf output = writ_buf_make(OUTPUT_MAX);
    struct writ_err err = {0};
    writ_result result;

    if (!writ_why_contents_check(cli)) {
        return WRIT_EXIT_USAGE;
    }
    result = explain(&run, &err);
    if (writ_is_ok(result)) {
        if (cli->json) {
            put_json(&run.why, &output);
        } else {
            put_text(&run.why, &output);
        }
        result = writ_buf_check(&output, &err);
    }
    if (!writ_is_ok(result)) {
        return writ_cli_fail(cli, result, &err);
    }
    writ_cli_put(writ_buf_view(&output));
    return WRIT_EXIT_OK;
}
