/* The recorded caller and tool find the rule; with the arguments the policy decides again, and the
 * verdict of now stands in the explanation. The edit is made step by step on the text of one file,
 * and after each step the whole configuration is read and judges the call. */
#include "policy/why/why.h"

#include "base/text.h"
#include "policy/decide/evaluate.h"
#include "policy/decide/exact.h"
#include "policy/model/scopes.h"
#include "policy/read/edit.h"
#include "policy/read/load.h"
#include "policy/read/standing.h"
#include "policy/read/unified.h"
#include "policy/why/apart.h"

#define NAMES_MAX  300
#define ADVICE_MAX 4096
#define EDITS_MAX  64 /* places that one edit changes */
#define NEAR_MAX   1  /* constraints that refuse the arguments in a rule that is near */

/* ---- what is recorded */

/* OAuth scopes are not recorded: those of the configured agent, if there is one. */
static struct writ_view
scopes_of(const struct writ_config *config, struct writ_view id)
{
    for (size_t i = 0; i < config->agents_n; i++) {
        if (writ_view_equal(config->agents[i].agent.id, id)) {
            return config->agents[i].agent.scopes;
        }
    }
    return writ_view(NULL, 0);
}

static struct writ_agent
agent_of(const struct writ_why_question *asked)
{
    struct writ_view id = writ_member_view(&asked->decision->agent_id);

    return (struct writ_agent){.id = id,
        .subject = id,
        .tenant = asked->tenant,
        .role = writ_member_view(&asked->decision->agent_role),
        .scopes = scopes_of(asked->config, id)};
}

WRIT_RESULT
writ_why_begin(const struct writ_why_question *question, struct writ_arena *arena,
    struct writ_why *ret, struct writ_err *err)
{
    const struct writ_extension *extension = question->extension;
    struct writ_why why = {.asked = *question, .arena = arena, .agent = agent_of(question)};

    why.reason = extension->reason.is == WRIT_PRESENT ? writ_reason_find(extension->reason.view)
                                                      : WRIT_REASON_POLICY_OK;
    writ_digest_text(&question->config->policy_digest, why.policy_digest);
    why.same_policy =
        writ_view_is(writ_member_view(&question->decision->policy_digest), why.policy_digest);
    why.argument = writ_member_view(&extension->argument);
    why.constraint_name = writ_member_view(&extension->constraint);
    why.rule = writ_policy_find(question->config, &why.agent,
        writ_member_view(&extension->upstream), writ_member_view(&question->decision->tool), NULL);
    WRIT_TRY(writ_why_flow_read(question->config, extension, why.reason, arena, &why.flow, err));
    *ret = why;
    return WRIT_DONE;
}

/* ---- the arguments of the call */

WRIT_RESULT
writ_why_arguments(
    struct writ_why *why, struct writ_view text, enum writ_why_source source, struct writ_err *err)
{
    struct writ_json_limits limits = writ_json_limits_default;
    struct writ_view hash = writ_member_view(&why->asked.decision->params_hash);
    char found[WRIT_DIGEST_TEXT];
    const struct writ_json *arguments = NULL;
    struct writ_digest digest;

    limits.bytes = limits.string_bytes = WRIT_WHY_ARGUMENTS_MAX;
    limits.values = SIZE_MAX;
    WRIT_TRY(writ_json_read(text, &limits, why->arena, &arguments, err));
    if (hash.len == 0) {
        WRIT_FAIL(err, WRIT_E_MISMATCH,
            "the decision has no params_hash, so that no arguments can be bound to it");
    }
    if (!writ_exact_holds(arguments, NULL)) { /* no call with such a number has a params_hash */
        WRIT_FAIL(err, WRIT_E_MISMATCH,
            "the arguments are those of another call: a number of them is not exact. Give the "
            "arguments as they were sent");
    }
    WRIT_TRY(writ_digest_json(arguments, WRIT_WHY_ARGUMENTS_MAX, &digest, err));
    writ_digest_text(&digest, found);
    if (!writ_view_is(hash, found)) {
        WRIT_FAIL(err, WRIT_E_MISMATCH,
            "the arguments are those of another call: their digest is %s, and the decision has "
            "params_hash " WRIT_VIEW_FMT ". Give the arguments as they were sent",
            found, WRIT_VIEW_ARG(hash));
    }
    why->arguments = arguments;
    why->source = source;
    return WRIT_DONE;
}

void
writ_why_without(struct writ_why *why, enum writ_why_source source)
{
    why->arguments = NULL;
    why->source = source;
}

/* ---- the rule, judged again */

static struct writ_policy_call
call_of(const struct writ_why *why)
{
    return (struct writ_policy_call){.agent = &why->agent,
        .upstream = writ_member_view(&why->asked.extension->upstream),
        .tool = writ_member_view(&why->asked.decision->tool),
        .arguments = why->arguments};
}

static const struct writ_constraint *
failing(const struct writ_why *why, const struct writ_tool_rule *rule)
{
    struct writ_constraint_failure failed;

    (void)writ_evaluate_arguments(rule->arguments, why->arguments, why->arena, &failed);
    return failed.at;
}

static void
judge_arguments(struct writ_why *why)
{
    struct writ_policy_call call = call_of(why);

    if (why->rule != NULL && why->agent.scopes.len == 0 &&
        why->reason != WRIT_REASON_INSUFFICIENT_SCOPE) {
        struct writ_buf scopes = writ_buf_in(why->arena, WRIT_WHY_ARGUMENTS_MAX);

        writ_scopes_add_all(&scopes, &why->rule->scopes); /* it was not for them */
        why->agent.scopes = writ_buf_view(&scopes);
    }
    writ_policy_decide(why->asked.config, &call, why->arena, &why->now);
    if (why->now.answer == WRIT_POLICY_ALLOW && writ_why_flow_is_reason(why->reason)) {
        return; /* the run refused it: what is recorded stands */
    }
    why->argument = why->now.argument;
    why->constraint_name = why->now.constraint;
    why->accepted = why->now.accepted;
    why->hint = why->now.hint;
}

static void
find_constraint(struct writ_why *why)
{
    if (why->rule != NULL && why->rule->agreed) {
        why->constraint = why->arguments != NULL && !writ_why_flow_is_reason(why->reason)
                              ? failing(why, why->rule)
                              : writ_standing_named(why->rule->arguments, why->constraint_name);
    }
    if (why->constraint != NULL && why->accepted.len == 0) {
        why->accepted = why->constraint->accepted;
        why->hint = why->constraint->hint;
    }
}

static void
find_nearest(struct writ_why *why)
{
    struct writ_policy_call call = call_of(why);

    if (why->reason != WRIT_REASON_POLICY_OK && !why->asked.own_rule_only) {
        writ_repair_nearest(why->asked.config, &call, why->rule, why->arena, &why->nearest);
        why->nearest.rule = why->nearest.refusals > NEAR_MAX ? NULL : why->nearest.rule;
    }
}

/* ---- the smallest edit */

/* One edit that grows. */
struct edit {
    struct writ_view file, text; /* the file, and its text so far */
    bool allowed, over;          /* it allows the call; no further step is known */
    bool changed;                /* the file has other rules than the configuration */
};

static void
config_freep(struct writ_config **config)
{
    writ_config_drop(*config);
}

/* Judges by the text so far, and edits it. The first text is the file's own. */
static WRIT_RESULT
edit_next(struct writ_why *why, struct edit *edit, bool first)
{
    WRIT_AUTO(struct writ_config *, config_freep) config = NULL;
    const struct writ_config *asked = why->asked.config;
    struct writ_buf next = writ_buf_in(why->arena, WRIT_CONFIG_BYTES_MAX);
    struct writ_policy_call call = call_of(why);
    writ_result result = writ_load_edited(asked->file.ptr, edit->file, edit->text, &config, NULL);

    edit->over = true;
    if (!writ_is_ok(result)) {
        edit->changed = first;
        return result.code == WRIT_E_NOMEM ? result : WRIT_DONE; /* the edit is not a good one */
    }
    if (first && !writ_digest_equal(&config->policy_digest, &asked->policy_digest)) {
        edit->changed = true;
        return WRIT_DONE;
    }
    result =
        writ_repair_step(config, &call, edit->file, edit->text, why->arena, &edit->allowed, &next);
    if (writ_is_ok(result) && !edit->allowed) {
        edit->text = writ_buf_view(&next);
        edit->over = false;
    }
    return result.code == WRIT_E_NOMEM ? result : WRIT_DONE;
}

/* Makes the difference of an edit that allows the call. */
static WRIT_RESULT
tell_edit(
    struct writ_why *why, const struct edit *edit, struct writ_view before, struct writ_err *err)
{
    struct writ_buf text = writ_buf_in(why->arena, WRIT_CONFIG_BYTES_MAX);
    struct writ_unified texts = {.file = edit->file, .before = before, .after = edit->text};

    if (why->asked.rules_only) {
        texts.may_show = writ_apart_lines(before, why->arena);
        if (texts.may_show == NULL) {
            WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for the lines of a file");
        }
    }
    if (!writ_unified_put(&text, &texts, why->arena)) {
        why->note = WRIT_WHY_NOTE_SHARED_LINE;
        return WRIT_DONE;
    }
    WRIT_TRY(writ_buf_check(&text, err));
    why->edit = writ_buf_view(&text);
    return WRIT_DONE;
}

static WRIT_RESULT
find_edit(struct writ_why *why, struct writ_err *err)
{
    struct writ_policy_call call = call_of(why);
    struct writ_buf before = writ_buf_in(why->arena, WRIT_CONFIG_BYTES_MAX);
    struct edit edit = {.file = writ_repair_file(why->asked.config, &call, why->arena)};

    edit.changed = !writ_is_ok(writ_text_file(edit.file.ptr, WRIT_CONFIG_BYTES_MAX, &before, NULL));
    edit.over = edit.changed;
    edit.text = writ_buf_view(&before);
    for (size_t i = 0; i < EDITS_MAX && !edit.over; i++) {
        WRIT_TRY(edit_next(why, &edit, i == 0));
    }
    if (edit.allowed) {
        return tell_edit(why, &edit, writ_buf_view(&before), err);
    }
    why->note = edit.changed ? WRIT_WHY_NOTE_FILE_CHANGED : WRIT_WHY_NOTE_NO_EDIT;
    return WRIT_DONE;
}

/* ---- what is missing, or otherwise to know */

static const enum writ_why_note source_notes[] = {
#define SOURCE_NOTE(NAME, word, note) [WRIT_WHY_##NAME] = WRIT_WHY_NOTE_##note,
    WRIT_WHY_SOURCES(SOURCE_NOTE)
#undef SOURCE_NOTE
};

bool
writ_why_in_policy(const struct writ_why *why)
{
    return why->reason != WRIT_REASON_POLICY_OK &&
           (writ_reason_groups(why->reason) & WRIT_REASON_IN_POLICY) != 0;
}

static enum writ_why_note
note_of(const struct writ_why *why)
{
    if (why->reason == WRIT_REASON_POLICY_OK) {
        return WRIT_WHY_NOTE_ALLOWED;
    }
    if (!writ_why_in_policy(why)) {
        return WRIT_WHY_NOTE_NOT_THE_RULE;
    }
    if (writ_why_flow_is_reason(why->reason)) {
        return WRIT_WHY_NOTE_RUN;
    }
    if (why->arguments == NULL) {
        return source_notes[why->source];
    }
    return why->same_policy ? WRIT_WHY_NOTE_OUTSIDE : WRIT_WHY_NOTE_ALLOWS_NOW;
}

/* What a person may change, where the run stood against the call. */
static void
advise(struct writ_why *why)
{
    struct writ_buf text = writ_buf_in(why->arena, ADVICE_MAX),
                    name = writ_buf_in(why->arena, ADVICE_MAX);

    writ_buf_put(&name, writ_member_view(&why->asked.extension->upstream));
    writ_buf_byte(&name, '/');
    writ_buf_put(&name, writ_member_view(&why->asked.decision->tool));
    writ_why_flow_advice(&why->flow, why->reason, why->argument, writ_buf_view(&name), &text);
    why->advice = writ_buf_view(&text);
}

WRIT_RESULT
writ_why_judge(struct writ_why *why, struct writ_err *err)
{
    advise(why);
    if (why->arguments != NULL) {
        judge_arguments(why);
    }
    find_constraint(why);
    find_nearest(why);
    if (why->arguments == NULL || why->now.answer == WRIT_POLICY_ALLOW) {
        why->note = note_of(why);
        return WRIT_DONE;
    }
    if (why->source == WRIT_WHY_REVIEW) {
        why->note = WRIT_WHY_NOTE_OF_REVIEW;
        return WRIT_DONE;
    }
    if (why->asked.own_rule_only) {
        why->note = WRIT_WHY_NOTE_OTHER_TENANTS;
        return WRIT_DONE;
    }
    return find_edit(why, err);
}

struct writ_view
writ_why_note_text(const struct writ_why *why)
{
    static const struct writ_view texts[] = {
#define NOTE_TEXT(NAME, text, advice) [WRIT_WHY_NOTE_##NAME] = WRIT_LIT(text),
        WRIT_WHY_NOTES(NOTE_TEXT)
#undef NOTE_TEXT
    };

    return texts[why->note];
}

struct writ_view
writ_why_note_advice(const struct writ_why *why)
{
    static const struct writ_view texts[] = {
#define NOTE_ADVICE(NAME, text, advice) [WRIT_WHY_NOTE_##NAME] = WRIT_LIT(advice),
        WRIT_WHY_NOTES(NOTE_ADVICE)
#undef NOTE_ADVICE
    };

    return texts[why->note];
}

/* ---- whom a rule is for */

static void
put_names(struct writ_buf *ret, const char *what, const struct writ_views *names, bool differs)
{
    if (!differs) {
        return;
    }
    writ_buf_fmt(ret, "%s%s ", ret->len > 0 ? "; " : "", what);
    for (size_t i = 0; i < names->n && ret->len < NAMES_MAX; i++) {
        writ_buf_str(ret, i > 0 ? ", " : "");
        writ_text_safe(ret, names->items[i], NAMES_MAX);
    }
}

void
writ_why_difference(
    const struct writ_why *why, const struct writ_tool_rule *rule, struct writ_buf *ret)
{
    const struct writ_agent *agent = &why->agent;

    put_names(ret, "agents", &rule->agents, !writ_edit_permits(&rule->agents, agent->id));
    put_names(ret, "roles", &rule->roles, !writ_edit_permits(&rule->roles, agent->role));
    put_names(ret, "tenants", &rule->tenants, !writ_edit_permits(&rule->tenants, agent->tenant));
}
