/* reflow_judge.c - see reflow_judge.h. What must hold is true of both states, or of one of them:
 * every record can only add labels, sources and calls. */
#include "policy/replay/reflow_judge.h"

#include "base/text.h"
#include "policy/decide/flow_rules.h"
#include "policy/model/constraint.h"
#include "policy/model/trail.h"

#define MARKS_MAX   ((size_t)1 << 20) /* of one argument or task */
#define POINTER_MAX 8192

/* ---- members */

static struct writ_view
text_of(const struct writ_json *object, const char *name)
{
    struct writ_view text = writ_json_string(writ_json_get(object, writ_view_str(name)));

    return text.ptr != NULL ? text : WRIT_LIT("");
}

/* Marks from base64url. */
static WRIT_RESULT
read_marks(const struct writ_json *object, const char *name, struct writ_arena *arena,
    struct writ_view *ret, struct writ_err *err)
{
    struct writ_view text = text_of(object, name);
    struct writ_buf marks = writ_buf_in(arena, MARKS_MAX);

    if (text.len > 0) {
        WRIT_TRY(writ_base64url_read(text, &marks));
    }
    WRIT_TRY(writ_buf_check(&marks, err));
    *ret = writ_buf_view(&marks);
    return WRIT_DONE;
}

/* ---- labels */

static bool
states_label(const struct writ_json *labels, struct writ_view label)
{
    WRIT_JSON_EACH(one, labels)
    {
        if (writ_view_equal(writ_json_string(one), label)) {
            return true;
        }
    }
    return false;
}

static bool
states_all(const struct writ_json *labels, const struct writ_run *run)
{
    for (size_t i = 0; i < writ_run_labels(run); i++) {
        if (!states_label(labels, writ_run_label(run, i))) {
            return false;
        }
    }
    return true;
}

static bool
has_all(const struct writ_run *run, const struct writ_json *labels)
{
    WRIT_JSON_EACH(label, labels)
    {
        if (!writ_run_has(run, writ_json_string(label))) {
            return false;
        }
    }
    return true;
}

static void
judge_labels(struct writ_reflow_judged *j)
{
    const struct writ_json *labels = writ_json_get(j->flow, WRIT_LIT("run"));

    if (!has_all(j->full, labels) || !states_all(labels, j->must)) {
        j->found(j->ctx, WRIT_REFLOW_LABELS, WRIT_LIT(""));
    }
    j->behind = j->behind || !states_all(labels, j->full);
}

/* ---- the constraint of an argument */

/* Behind the tokens of a path; false: the pointer leads elsewhere. */
static bool
follow(struct writ_view *pointer, const struct writ_views *tokens)
{
    char room[POINTER_MAX];

    for (size_t i = 0; i < tokens->n; i++) {
        struct writ_buf token = writ_buf_over(room, sizeof room);
        writ_buf_byte(&token, '/');
        writ_trail_token(tokens->items[i], &token);
        if (!writ_is_ok(writ_buf_check(&token, NULL)) ||
            !writ_view_has_prefix(*pointer, writ_buf_view(&token)) ||
            (pointer->len > token.len && pointer->ptr[token.len] != '/')) {
            return false;
        }
        *pointer = writ_view_sub(*pointer, token.len, pointer->len);
    }
    return true;
}

/* Counts the constraints `from` that name the value at the pointer. */
static size_t
find_from(
    const struct writ_constraint_set *set, struct writ_view pointer, const struct writ_from **ret)
{
    size_t n = 0;

    for (size_t i = 0; i < set->n; i++) {
        const struct writ_constraint *c = &set->items[i];
        struct writ_view rest = pointer;
        if ((c->op != WRIT_OP_FROM && c->op != WRIT_OP_EACH) ||
            !follow(&rest, &set->paths[c->path].tokens)) {
            continue;
        }
        if (c->op == WRIT_OP_FROM) {
            *ret = c->value.from;
            n++;
        } else if (rest.len > 0) {
            rest = writ_view_sub(rest, 1, rest.len);
            n += find_from(
                c->value.each, writ_view_sub(rest, writ_view_find(rest, '/'), rest.len), ret);
        }
    }
    return n;
}

/* ---- where a value came from */

/* One entry of `arguments` that was asked where it comes from. */
struct value {
    struct writ_view argument, words, joined, at, decision_id, source;
    const struct writ_from *from; /* NULL: not known, or several */
};

static bool
has_marks(struct writ_view marks, const struct value *v)
{
    return writ_mark_contains(marks, v->words) || writ_mark_contains(marks, v->joined);
}

static bool
has_value(const struct writ_run *run, unsigned sources, const struct value *v)
{
    return writ_run_find(run, sources, v->words) != NULL ||
           writ_run_find(run, sources, v->joined) != NULL;
}

/* Whether the task that is stated with this call has the value. */
static bool
in_stated_task(const struct writ_reflow_judged *j, const struct value *v)
{
    struct writ_view marks;

    return writ_is_ok(read_marks(
               writ_json_get(j->flow, WRIT_LIT("task")), "marks", j->arena, &marks, NULL)) &&
           has_marks(marks, v);
}

/* The value must stand at the place that the decision names. */
static bool
is_there(const struct writ_reflow_judged *j, const struct value *v, unsigned source)
{
    for (const struct writ_run_marks *m = writ_run_places(j->full); m != NULL; m = m->next) {
        if ((unsigned)m->source == source && writ_view_equal(m->decision_id, v->decision_id) &&
            writ_view_equal(m->at, v->at) && has_marks(m->marks, v)) {
            return true;
        }
    }
    return source == WRIT_SOURCE_TASK && in_stated_task(j, v);
}

/* The sources that must not have the value: those that come before what the decision names. */
static unsigned
excluded_by(const struct value *v, unsigned source)
{
    if (source == 0) {
        return ~0U;
    }
    return v->from != NULL && (v->from->sources & source) == 0 ? v->from->sources : 0;
}

static void
judge_value(struct writ_reflow_judged *j, const struct value *v)
{
    unsigned source = writ_run_source_named(v->source);
    unsigned excluded = excluded_by(v, source);

    if (source == WRIT_SOURCE_OPERATOR) {
        j->report->operators++;
        return;
    }
    j->report->sources++;
    if (source == 0 && !writ_view_is(v->source, "unknown")) {
        j->found(j->ctx, WRIT_REFLOW_FOUND, v->argument);
        return;
    }
    if (source != 0 && !is_there(j, v, source)) {
        j->found(j->ctx, WRIT_REFLOW_FOUND, v->argument);
    }
    if (has_value(j->must, excluded, v) ||
        ((excluded & WRIT_SOURCE_TASK) != 0 && in_stated_task(j, v))) {
        j->found(j->ctx, WRIT_REFLOW_LEFT_OUT, v->argument);
    } else if (has_value(j->full, excluded, v)) {
        j->behind = true;
    }
}

/* ---- the verdict */

/* What the rules about the run say. */
struct verdict {
    enum writ_reason reason; /* NONE: nothing against it */
    bool approval;           /* it needs one */
    bool unknown;            /* what decides is not in the record */
};

static void
require(struct verdict *v, const struct writ_approval *approval, enum writ_reason otherwise)
{
    if (approval != NULL) {
        v->approval = true;
    } else if (v->reason == WRIT_REASON_NONE) {
        v->reason = otherwise;
    }
}

static void
judge_task(const struct writ_reflow_judged *j, const struct writ_run *run, struct writ_view name,
    struct verdict *v)
{
    const struct writ_tasks *tasks = j->config->tasks;
    const struct writ_json *stated = writ_json_pointer(j->flow, WRIT_LIT("/task/tools"));

    if ((tasks != NULL && writ_flow_rules_match(&tasks->always, name)) ||
        (writ_run_grants(run, writ_flow_rules_name, name) && writ_flow_rules_task(stated, name))) {
        return;
    }
    require(v, tasks != NULL ? tasks->approval : NULL, WRIT_REASON_TASK_NOT_GRANTED);
}

/* An argument that rules compare, as the record has it. */
static bool
recorded_marks(void *ctx, struct writ_view argument, struct writ_buf *ret)
{
    const struct writ_reflow_judged *j = ctx;
    struct writ_view pointer = writ_flow_rules_pointer(argument, j->arena);

    WRIT_JSON_EACH(one, writ_json_get(j->flow, WRIT_LIT("arguments")))
    {
        if (writ_json_get(one, WRIT_LIT("found")) == NULL &&
            writ_view_equal(text_of(one, "argument"), pointer)) {
            writ_buf_put(ret, text_of(one, "marks"));
            return true;
        }
    }
    return false;
}

static void
judge_flows(struct writ_reflow_judged *j, const struct writ_run *run, struct writ_view name,
    const struct writ_views *labels, struct verdict *v)
{
    const struct writ_flow_rules_asked asked = {.run = run,
        .name = name,
        .labels = labels,
        .now_us = j->past->issued_us,
        .arena = j->arena,
        .marks = recorded_marks,
        .ctx = j};

    for (size_t i = 0; i < j->config->flows_n; i++) {
        if (writ_flow_rules_apply(&asked, &j->config->flows[i])) {
            require(v, j->config->flows[i].approval, WRIT_REASON_FLOW_NOT_PERMITTED);
        }
    }
}

static bool
is_about_runs(enum writ_reason reason)
{
    return reason == WRIT_REASON_SOURCE_NOT_PERMITTED || reason == WRIT_REASON_FLOW_NOT_PERMITTED ||
           reason == WRIT_REASON_TASK_NOT_GRANTED;
}

/* Whether the decision can be this verdict, with whatever else speaks against the call. */
static bool
agrees(const struct writ_past *past, const struct verdict *v)
{
    if (v->reason != WRIT_REASON_NONE) {
        return past->reason == v->reason && past->effect != WRIT_EFFECT_REVIEW;
    }
    if (is_about_runs(past->reason)) {
        return false;
    }
    return !v->approval || past->effect != WRIT_EFFECT_ALLOWED || past->approved || past->shadow ||
           past->continues;
}

static struct verdict
verdict_by(struct writ_reflow_judged *j, const struct writ_run *run,
    const struct writ_views *labels, const struct verdict *values)
{
    char room[WRIT_FLOW_RULES_NAME_MAX];
    struct writ_buf buf = writ_buf_over(room, sizeof room);
    struct writ_view name = writ_flow_rules_name_of(j->past->upstream, j->past->tool, &buf);
    struct verdict v = {.reason = WRIT_REASON_NONE};

    judge_task(j, run, name, &v);
    if (v.reason == WRIT_REASON_NONE) {
        v.reason = values->reason;
    }
    v.approval = v.approval || values->approval;
    judge_flows(j, run, name, labels, &v);
    return v;
}

static void
judge_verdict(struct writ_reflow_judged *j, const struct verdict *values)
{
    const struct writ_json *stated = writ_json_get(j->flow, WRIT_LIT("run"));
    struct writ_view items[WRIT_RUN_LABELS];
    struct writ_views labels = {items, 0};
    struct verdict full, must;

    WRIT_JSON_EACH(label, stated)
    {
        if (labels.n < WRIT_RUN_LABELS) {
            items[labels.n++] = writ_json_string(label);
        }
    }
    full = verdict_by(j, j->full, &labels, values);
    must = verdict_by(j, j->must, &labels, values);
    j->report->verdicts++;
    if (!agrees(j->past, &full)) {
        j->behind = true;
        if (!agrees(j->past, &must)) {
            j->found(j->ctx, WRIT_REFLOW_VERDICT, WRIT_LIT(""));
        }
    }
}

/* ---- all of it */

static WRIT_RESULT
read_value(const struct writ_reflow_judged *j, const struct writ_json *one, struct value *ret,
    struct writ_err *err)
{
    const struct writ_json *found = writ_json_get(one, WRIT_LIT("found"));
    const struct writ_from *from = NULL;

    *ret = (struct value){.argument = text_of(one, "argument"),
        .at = text_of(found, "at"),
        .decision_id = text_of(found, "decision_id"),
        .source = text_of(found, "source")};
    WRIT_TRY(read_marks(one, "marks", j->arena, &ret->words, err));
    WRIT_TRY(read_marks(one, "joined", j->arena, &ret->joined, err));
    if (j->rule != NULL && find_from(j->rule->arguments, ret->argument, &from) == 1) {
        ret->from = from;
    }
    return WRIT_DONE;
}

static WRIT_RESULT
judge_values(struct writ_reflow_judged *j, struct verdict *ret, struct writ_err *err)
{
    WRIT_JSON_EACH(one, writ_json_get(j->flow, WRIT_LIT("arguments")))
    {
        struct value v;
        if (writ_json_get(one, WRIT_LIT("found")) == NULL) {
            continue;
        }
        WRIT_TRY(read_value(j, one, &v, err));
        judge_value(j, &v);
        if (v.from == NULL) {
            ret->unknown = true;
        } else if ((v.from->sources & writ_run_source_named(v.source)) == 0) {
            require(ret, v.from->approval, WRIT_REASON_SOURCE_NOT_PERMITTED);
        }
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_reflow_judge(struct writ_reflow_judged *j, struct writ_err *err)
{
    struct verdict values = {.reason = WRIT_REASON_NONE};

    judge_labels(j);
    WRIT_TRY(judge_values(j, &values, err));
    if (j->rule == NULL || values.unknown || j->past->reason == WRIT_REASON_RUN_STATE_UNKNOWN ||
        j->past->reason == WRIT_REASON_TASK_NOT_PERMITTED) {
        j->report->unjudged++;
    } else {
        judge_verdict(j, &values);
    }
    return WRIT_DONE;
}
