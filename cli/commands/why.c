/* writ why: a recorded decision, and what in the configuration stands behind it. The call is judged
 * again by the same policy code as in the gateway, with the arguments that the review kept or that
 * the reader gives; other arguments are refused by their digest. Nothing is written. */
#include "base/text.h"
#include "cli/commands/command.h"
#include "cli/commands/unified.h"
#include "evidence/json/write.h"
#include "evidence/record/decision.h"
#include "evidence/record/extension.h"
#include "policy/decide/evaluate.h"
#include "policy/decide/policy.h"
#include "policy/model/scopes.h"
#include "policy/read/edit.h"
#include "policy/read/load.h"
#include "policy/read/repair.h"
#include "policy/read/standing.h"
#include "store/read/reader.h"

#define OUTPUT_MAX    ((size_t)16 << 20)
#define ARENA_MAX     ((size_t)256 << 20)
#define ARGUMENTS_MAX ((size_t)64 << 20)
#define BOUND_MAX     300
#define EDITS_MAX     64 /* places that one edit changes */
#define NEAR_MAX      1  /* constraints that refuse the arguments in a rule that is near */

/* From where the arguments of the call are known. */
enum source {
    SOURCE_NONE = 0,
    SOURCE_KEPT,  /* by a review, in the ledger */
    SOURCE_GIVEN, /* by --arguments */
};

/* All facts about one decision. */
struct why {
    const struct writ_cli *cli;
    struct writ_config *config;
    struct writ_arena *arena;
    struct writ_reader *reader;
    struct writ_reader_call call;
    struct writ_decision decision;
    struct writ_extension extension;
    enum writ_reason reason; /* the recorded one */
    bool same_policy;
    char policy_digest[WRIT_DIGEST_TEXT]; /* of the configuration */
    struct writ_agent agent;
    enum source source;
    const struct writ_json *arguments;
    struct writ_verdict now; /* with arguments alone */
    const struct writ_tool_rule *rule;
    struct writ_repair_near nearest; /* no rule: none lets the call pass */
    const struct writ_constraint *constraint;
    struct writ_view argument, constraint_name, accepted, hint;
    struct writ_view edit_file, before, after; /* ptr NULL: no edit is known */
};

static void
why_wipe(struct why *w)
{
    writ_reader_close(w->reader);
    writ_config_drop(w->config);
    writ_arena_free(w->arena);
}

/* ---- what is recorded */

static WRIT_RESULT
read_decision(struct why *w, struct writ_err *err)
{
    const struct writ_json *value = NULL;

    WRIT_TRY(writ_reader_open(w->config->store.ptr, &w->reader, err));
    WRIT_TRY(writ_reader_show(w->reader, writ_cli_operand(w->cli, 0), w->arena, &w->call, err));
    WRIT_TRY(writ_json_read(w->call.decision, &writ_json_limits_default, w->arena, &value, err));
    WRIT_TRY(writ_decision_read(value, w->arena, &w->decision, err));
    WRIT_TRY(writ_extension_read(&w->decision.extensions, w->arena, &w->extension, err));
    w->reason = w->extension.reason.is == WRIT_PRESENT ? writ_reason_find(w->extension.reason.view)
                                                       : WRIT_REASON_POLICY_OK;
    writ_digest_text(&w->config->policy_digest, w->policy_digest);
    w->same_policy = writ_view_is(w->decision.policy_digest.view, w->policy_digest);
    w->argument = writ_member_view(&w->extension.argument);
    w->constraint_name = writ_member_view(&w->extension.constraint);
    return WRIT_DONE;
}

/* OAuth scopes are not recorded: those of the configured agent, if there is one. */
static struct writ_view
scopes_of(const struct why *w, struct writ_view id)
{
    for (size_t i = 0; i < w->config->agents_n; i++) {
        if (writ_view_equal(w->config->agents[i].agent.id, id)) {
            return w->config->agents[i].agent.scopes;
        }
    }
    return writ_view(NULL, 0);
}

static void
find_rule(struct why *w)
{
    w->agent = (struct writ_agent){.id = writ_member_view(&w->decision.agent_id),
        .subject = writ_member_view(&w->decision.agent_id),
        .tenant = w->call.tenant,
        .role = writ_member_view(&w->decision.agent_role)};
    w->agent.scopes = scopes_of(w, w->agent.id);
    w->rule = writ_policy_find(w->config, &w->agent, writ_member_view(&w->extension.upstream),
        w->decision.tool.view, NULL);
}

/* ---- the arguments of the call */

static WRIT_RESULT
take_arguments(struct why *w, struct writ_view text, enum source source, struct writ_err *err)
{
    struct writ_json_limits limits = writ_json_limits_default;
    struct writ_view hash = writ_member_view(&w->decision.params_hash);
    char found[WRIT_DIGEST_TEXT];
    struct writ_digest digest;

    limits.bytes = ARGUMENTS_MAX;
    WRIT_TRY(writ_json_read(text, &limits, w->arena, &w->arguments, err));
    if (hash.len == 0) {
        WRIT_FAIL(err, WRIT_E_MISMATCH,
            "the decision has no params_hash, so that no arguments can be bound to it");
    }
    WRIT_TRY(writ_digest_json(w->arguments, ARGUMENTS_MAX, &digest, err));
    writ_digest_text(&digest, found);
    if (!writ_view_is(hash, found)) {
        WRIT_FAIL(err, WRIT_E_MISMATCH,
            "the arguments are those of another call: their digest is %s, and the decision has "
            "params_hash " WRIT_VIEW_FMT ". Give the arguments as they were sent",
            found, WRIT_VIEW_ARG(hash));
    }
    w->source = source;
    return WRIT_DONE;
}

static WRIT_RESULT
read_arguments(struct why *w, struct writ_err *err)
{
    struct writ_buf text = writ_buf_in(w->arena, ARGUMENTS_MAX);
    struct writ_reader_review review = {.arguments = {NULL, 0}};

    if (writ_cli_has(w->cli, "arguments")) {
        const char *path = writ_cli_get(w->cli, "arguments").ptr;

        WRIT_TRY(writ_cli_read(path, ARGUMENTS_MAX, &text, err));
        return writ_fail_in(err, take_arguments(w, writ_buf_view(&text), SOURCE_GIVEN, err), path);
    }
    if (!writ_is_ok(
            writ_reader_review(w->reader, w->decision.decision_id.view, w->arena, &review, NULL)) ||
        review.arguments.ptr == NULL) {
        return WRIT_DONE;
    }
    return take_arguments(w, review.arguments, SOURCE_KEPT, err);
}

/* ---- the rule, judged again */

static struct writ_policy_call
call_of(const struct why *w)
{
    return (struct writ_policy_call){.agent = &w->agent,
        .upstream = writ_member_view(&w->extension.upstream),
        .tool = w->decision.tool.view,
        .arguments = w->arguments};
}

static const struct writ_constraint *
failing(const struct why *w, const struct writ_tool_rule *rule)
{
    struct writ_constraint_failure failed;

    (void)writ_evaluate_arguments(rule->arguments, w->arguments, w->arena, &failed);
    return failed.at;
}

static void
judge(struct why *w)
{
    struct writ_policy_call call = call_of(w);

    if (w->arguments != NULL) {
        if (w->rule != NULL && w->agent.scopes.len == 0 &&
            w->reason != WRIT_REASON_INSUFFICIENT_SCOPE) {
            struct writ_buf scopes = writ_buf_in(w->arena, ARGUMENTS_MAX);

            writ_scopes_add_all(&scopes, &w->rule->scopes); /* it was not for them */
            w->agent.scopes = writ_buf_view(&scopes);
        }
        writ_policy_decide(w->config, &call, w->arena, &w->now);
        w->argument = w->now.argument;
        w->constraint_name = w->now.constraint;
        w->accepted = w->now.accepted;
        w->hint = w->now.hint;
    }
    if (w->rule != NULL && w->rule->agreed) {
        w->constraint = w->arguments != NULL
                            ? failing(w, w->rule)
                            : writ_standing_named(w->rule->arguments, w->constraint_name);
    }
    if (w->constraint != NULL && w->accepted.len == 0) {
        w->accepted = w->constraint->accepted;
        w->hint = w->constraint->hint;
    }
    if (w->reason != WRIT_REASON_POLICY_OK) {
        writ_repair_nearest(w->config, &call, w->rule, w->arena, &w->nearest);
        w->nearest.rule = w->nearest.refusals > NEAR_MAX ? NULL : w->nearest.rule;
    }
}

/* ---- places */

/* "conf/writ.yaml:12" */
static void
put_place(const struct why *w, const struct writ_yaml *node, struct writ_buf *ret)
{
    struct writ_view file = writ_standing_file(w->config, node);

    writ_text_safe(ret, file, file.len);
    writ_buf_fmt(ret, ":%zu", node->key_line);
}

static void
put_names(struct writ_buf *ret, const char *what, const struct writ_views *names, bool differs)
{
    if (!differs) {
        return;
    }
    writ_buf_fmt(ret, "%s%s ", ret->len > 0 ? "; " : "", what);
    for (size_t i = 0; i < names->n && ret->len < BOUND_MAX; i++) {
        writ_buf_str(ret, i > 0 ? ", " : "");
        writ_text_safe(ret, names->items[i], BOUND_MAX);
    }
}

/* "is for roles admin, root; tenants acme" */
static void
put_difference(const struct why *w, const struct writ_tool_rule *rule, struct writ_buf *ret)
{
    put_names(ret, "agents", &rule->agents, !writ_edit_permits(&rule->agents, w->agent.id));
    put_names(ret, "roles", &rule->roles, !writ_edit_permits(&rule->roles, w->agent.role));
    put_names(ret, "tenants", &rule->tenants, !writ_edit_permits(&rule->tenants, w->agent.tenant));
}

/* ---- the smallest edit */

static void
config_freep(struct writ_config **config)
{
    writ_config_drop(*config);
}

/* Judges by the text so far, and edits it. `ret_over`: it allows the call, or no edit is known. */
static WRIT_RESULT
edit_next(struct why *w, struct writ_view *text, bool *ret_allowed, bool *ret_over)
{
    WRIT_AUTO(struct writ_config *, config_freep) config = NULL;
    struct writ_buf next = writ_buf_in(w->arena, WRIT_CONFIG_BYTES_MAX);
    struct writ_policy_call call = call_of(w);
    writ_result result = writ_load_edited(w->config->file.ptr, w->edit_file, *text, &config, NULL);

    *ret_over = true;
    if (!writ_is_ok(result)) {
        return result.code == WRIT_E_NOMEM ? result : WRIT_DONE; /* the edit is not a good one */
    }
    result = writ_repair_step(config, &call, w->edit_file, *text, w->arena, ret_allowed, &next);
    if (writ_is_ok(result) && !*ret_allowed) {
        *text = writ_buf_view(&next);
        *ret_over = false;
    }
    return result.code == WRIT_E_NOMEM ? result : WRIT_DONE;
}

static WRIT_RESULT
find_edit(struct why *w, struct writ_err *err)
{
    struct writ_policy_call call = call_of(w);
    struct writ_buf before = writ_buf_in(w->arena, WRIT_CONFIG_BYTES_MAX);
    bool allowed = false, over = false;
    struct writ_view text;

    if (w->source != SOURCE_GIVEN || w->now.answer == WRIT_POLICY_ALLOW) {
        return WRIT_DONE;
    }
    w->edit_file = writ_repair_file(w->config, &call, w->arena);
    WRIT_TRY(writ_text_file(w->edit_file.ptr, WRIT_CONFIG_BYTES_MAX, &before, err));
    text = writ_buf_view(&before);
    for (size_t i = 0; i < EDITS_MAX && !over; i++) {
        WRIT_TRY(edit_next(w, &text, &allowed, &over));
    }
    if (allowed) {
        w->before = writ_buf_view(&before);
        w->after = text;
    }
    return WRIT_DONE;
}

/* ---- what is missing, or otherwise to know */

static const char *
note_of_deny(const struct why *w)
{
    if (w->source == SOURCE_KEPT) {
        return "An edit would contain values of the call: pass --arguments FILE to see it.";
    }
    return w->after.ptr == NULL ? "No small edit allows this call." : "";
}

static const char *
note(const struct why *w)
{
    if (w->arguments != NULL && w->now.answer == WRIT_POLICY_DENY) {
        return note_of_deny(w);
    }
    if (w->reason == WRIT_REASON_POLICY_OK) {
        return "The policy allowed the call.";
    }
    if ((writ_reason_groups(w->reason) & WRIT_REASON_IN_POLICY) == 0) {
        return "The rule is not what refused the call: see the reason.";
    }
    if (w->source == SOURCE_NONE) {
        return "Without the arguments nothing more is known: pass them with --arguments FILE, as "
               "they were sent.";
    }
    return w->same_policy ? "The rule allows these arguments: what refused the call is outside of "
                            "it, such as a budget that was used up."
                          : "The configuration as it is now allows the call.";
}

/* ---- as JSON */

static void
write_place(const struct why *w, struct writ_write *wr, const struct writ_yaml *node)
{
    writ_auto_buf pointer = writ_buf_make(OUTPUT_MAX);

    writ_yaml_pointer(node, &pointer);
    writ_write_text(wr, "file", writ_standing_file(w->config, node));
    writ_write_count(wr, "line", node->key_line);
    writ_write_text(wr, "pointer", writ_buf_view(&pointer));
}

/* Open: the caller adds members and ends the object. */
static void
begin_rule(const struct why *w, struct writ_write *wr, const struct writ_tool_rule *rule)
{
    writ_write_object_begin(wr);
    writ_write_text(wr, "ref", rule->ref);
    write_place(w, wr, rule->node);
}

static void
write_rule(const struct why *w, struct writ_write *wr)
{
    writ_write_name(wr, WRIT_LIT("rule"));
    if (w->rule == NULL) {
        writ_write_null(wr);
        return;
    }
    begin_rule(w, wr, w->rule);
    writ_write_object_end(wr);
}

static void
write_nearest(const struct why *w, struct writ_write *wr)
{
    const struct writ_constraint_failure none = {.at = NULL};
    const struct writ_constraint_failure *failure =
        w->nearest.failure != NULL ? w->nearest.failure : &none;
    writ_auto_buf text = writ_buf_make(OUTPUT_MAX);

    writ_write_name(wr, WRIT_LIT("nearest"));
    if (w->nearest.rule == NULL) {
        writ_write_null(wr);
        return;
    }
    begin_rule(w, wr, w->nearest.rule);
    put_difference(w, w->nearest.rule, &text);
    writ_write_text(wr, "is_for", writ_buf_view(&text));
    writ_write_text_or_null(wr, "argument", failure->argument);
    writ_write_text_or_null(wr, "constraint", failure->constraint);
    writ_write_text_or_null(wr, "accepted", failure->accepted);
    writ_write_object_end(wr);
}

static void
write_constraint(const struct why *w, struct writ_write *wr)
{
    writ_auto_buf bound = writ_buf_make(OUTPUT_MAX);

    writ_write_name(wr, WRIT_LIT("constraint"));
    if (w->constraint == NULL) {
        writ_write_null(wr);
        return;
    }
    writ_standing_bound(w->constraint, &bound);
    writ_write_object_begin(wr);
    writ_write_text(wr, "name", w->constraint_name);
    write_place(w, wr, w->constraint->node);
    writ_write_text(wr, "bound", writ_buf_view(&bound));
    writ_write_object_end(wr);
}

static void
put_json(struct why *w, struct writ_buf *ret)
{
    static const char *const sources[] = {
        [SOURCE_NONE] = "unknown", [SOURCE_KEPT] = "kept", [SOURCE_GIVEN] = "given"};
    writ_auto_buf edit = writ_buf_make(OUTPUT_MAX);
    struct writ_write wr = writ_write_to(ret);

    if (w->after.ptr != NULL) {
        writ_unified_put(&edit, w->edit_file, w->before, w->after, w->arena);
    }
    writ_write_object_begin(&wr);
    writ_write_text(&wr, "decision_id", w->decision.decision_id.view);
    writ_write_text(&wr, "decision", w->decision.decision.view);
    writ_write_text(&wr, "reason", writ_reason_name(w->reason));
    writ_write_text(&wr, "sentence", writ_reason_sentence(w->reason));
    writ_write_text(&wr, "agent_id", w->agent.id);
    writ_write_text_or_null(&wr, "agent_role", w->agent.role);
    writ_write_text_or_null(&wr, "tenant", w->agent.tenant);
    writ_write_text_or_null(&wr, "upstream", writ_member_view(&w->extension.upstream));
    writ_write_text(&wr, "tool", w->decision.tool.view);
    writ_write_text_or_null(&wr, "policy_digest", writ_member_view(&w->decision.policy_digest));
    writ_write_text(&wr, "config_policy_digest", writ_view_str(w->policy_digest));
    writ_write_flag(&wr, "same_policy", w->same_policy);
    writ_write_text(&wr, "arguments", writ_view_str(sources[w->source]));
    writ_write_text_or_null(&wr, "reason_now",
        w->arguments != NULL ? writ_reason_name(w->now.reason) : writ_view(NULL, 0));
    write_rule(w, &wr);
    writ_write_text_or_null(&wr, "argument", w->argument);
    write_constraint(w, &wr);
    writ_write_text_or_null(&wr, "accepted", w->accepted);
    writ_write_text_or_null(&wr, "hint", w->hint);
    write_nearest(w, &wr);
    writ_write_text_or_null(
        &wr, "edit", w->after.ptr != NULL ? writ_buf_view(&edit) : writ_view(NULL, 0));
    writ_write_text(&wr, "note", writ_view_str(note(w)));
    writ_write_object_end(&wr);
    (void)writ_is_ok(writ_write_end(&wr, NULL)); /* a failure stays in the buffer */
    writ_buf_byte(ret, '\n');
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

static void
put_rule_line(const struct why *w, struct writ_buf *ret, const char *name,
    const struct writ_tool_rule *rule, struct writ_view more)
{
    writ_auto_buf text = writ_buf_make(OUTPUT_MAX);

    if (rule != NULL) {
        writ_buf_put(&text, rule->ref);
        writ_buf_str(&text, " at ");
        put_place(w, rule->node, &text);
        writ_buf_put(&text, more);
        put_line(ret, name, writ_buf_view(&text));
    }
}

static void
put_constraint(const struct why *w, struct writ_buf *ret)
{
    writ_auto_buf text = writ_buf_make(OUTPUT_MAX), bound = writ_buf_make(OUTPUT_MAX);

    writ_buf_put(&text, w->constraint_name);
    if (w->constraint != NULL) {
        writ_buf_str(&text, " at ");
        put_place(w, w->constraint->node, &text);
        writ_standing_bound(w->constraint, &bound);
    }
    put_line(ret, "constraint", writ_buf_view(&text));
    put_line(ret, "bound", writ_buf_view(&bound));
}

/* " refuses /n alone (n le: a number not above 10)" */
static void
put_refusal(const struct writ_constraint_failure *failure, struct writ_buf *ret)
{
    writ_buf_str(ret, " refuses ");
    writ_text_safe(ret, failure->argument, BOUND_MAX);
    writ_buf_str(ret, " alone (");
    if (failure->constraint.len == 0) {
        writ_buf_str(ret, "it has no constraint there");
    } else {
        writ_text_safe(ret, failure->constraint, BOUND_MAX);
        writ_buf_str(ret, failure->accepted.len > 0 ? ": " : "");
        writ_text_safe(ret, failure->accepted, BOUND_MAX);
    }
    writ_buf_byte(ret, ')');
}

static void
put_nearest(const struct why *w, struct writ_buf *ret)
{
    writ_auto_buf more = writ_buf_make(OUTPUT_MAX), differs = writ_buf_make(OUTPUT_MAX);

    if (w->nearest.rule == NULL) {
        return;
    }
    put_difference(w, w->nearest.rule, &differs);
    if (w->nearest.failure != NULL) {
        put_refusal(w->nearest.failure, &more);
    } else {
        writ_buf_str(&more, w->arguments != NULL ? " allows these arguments" : "");
    }
    writ_buf_str(&more, differs.len > 0 ? ", for " : ", and stands behind the rule that decided");
    writ_buf_put(&more, writ_buf_view(&differs));
    put_rule_line(w, ret, "nearest rule", w->nearest.rule, writ_buf_view(&more));
}

static void
put_text(struct why *w, struct writ_buf *ret)
{
    struct writ_view name = writ_reason_name(w->reason), sentence = writ_reason_sentence(w->reason);

    writ_buf_put(ret, w->decision.decision.view);
    writ_buf_fmt(ret, ": " WRIT_VIEW_FMT " (" WRIT_VIEW_FMT ")%s\n", WRIT_VIEW_ARG(name),
        WRIT_VIEW_ARG(sentence),
        w->extension.shadow.is == WRIT_PRESENT ? ", in shadow: the call ran" : "");
    put_line(ret, "agent", w->agent.id);
    put_line(ret, "role", w->agent.role);
    put_line(ret, "tenant", w->agent.tenant);
    put_line(ret, "upstream", writ_member_view(&w->extension.upstream));
    put_line(ret, "tool", w->decision.tool.view);
    put_line(ret, "policy",
        w->same_policy ? WRIT_LIT("the configuration is that of the decision")
                       : WRIT_LIT("the configuration has another policy_digest than the decision: "
                                  "what follows is about the configuration as it is now"));
    if (w->arguments != NULL && w->now.reason != w->reason) {
        put_line(ret, "now", writ_reason_name(w->now.reason));
    }
    put_rule_line(w, ret, "rule", w->rule, writ_view(NULL, 0));
    if (w->rule == NULL) {
        put_line(ret, "rule", WRIT_LIT("none is for this caller and tool"));
    }
    put_line(ret, "argument", w->argument);
    put_constraint(w, ret);
    put_line(ret, "accepted", w->accepted);
    put_line(ret, "hint", w->hint.len > 0 ? w->hint : writ_reason_hint(w->reason));
    put_nearest(w, ret);
    put_line(ret, "note", writ_view_str(note(w)));
    if (w->after.ptr != NULL) {
        writ_buf_str(ret,
            "This edit allows the call, and calls like it: read it first. Nothing was written:\n");
        writ_unified_put(ret, w->edit_file, w->before, w->after, w->arena);
    }
}

static WRIT_RESULT
explain(struct why *w, struct writ_err *err)
{
    w->arena = writ_arena_new(ARENA_MAX);
    if (w->arena == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory");
    }
    WRIT_TRY(writ_load_file(writ_cli_get(w->cli, "config").ptr, NULL, &w->config, err));
    WRIT_TRY(read_decision(w, err));
    find_rule(w);
    WRIT_TRY(read_arguments(w, err));
    judge(w);
    return find_edit(w, err);
}

enum writ_exit
writ_command_why(const struct writ_cli *cli)
{
    WRIT_AUTO(struct why, why_wipe) w = {.cli = cli};
    writ_auto_buf output = writ_buf_make(OUTPUT_MAX);
    struct writ_err err = {0};
    writ_result result = explain(&w, &err);

    if (writ_is_ok(result)) {
        if (cli->json) {
            put_json(&w, &output);
        } else {
            put_text(&w, &output);
        }
        result = writ_buf_check(&output, &err);
    }
    if (!writ_is_ok(result)) {
        return writ_cli_fail(cli, result, &err);
    }
    writ_cli_put(writ_buf_view(&output));
    return WRIT_EXIT_OK;
}
