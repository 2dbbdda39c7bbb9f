/* The consensual process (semantics 16): tasks, the question to each candidate, and the election.
 * phase.c runs it; nothing here asks an agent. */
#include "crew/consensual.h"

#include "base/utf8.h"
#include "crew/dispatch.h"
#include "crew/event.h"

/* ---- tasks */

static WRIT_RESULT
parse(const struct writ_crew_value *value, struct writ_arena *arena, const struct writ_json **ret)
{
    struct writ_view text = writ_crew_value_text(value);

    *ret = NULL;
    return text.ptr != NULL ? writ_value_parse_snapshot(text, text.len, arena, ret, NULL)
                            : WRIT_DONE;
}

WRIT_RESULT
writ_consensual_count(struct writ_machine *m)
{
    writ_auto_arena arena = writ_value_arena(writ_crew_value_text(m->task).len);
    const struct writ_json *list = NULL;

    if (arena == NULL || !writ_is_ok(parse(m->task, arena, &list))) {
        return (writ_result){WRIT_E_NOMEM};
    }
    m->tasks_listed = writ_json_type(list) == WRIT_JSON_ARRAY;
    m->tasks_n = m->tasks_listed ? list->count : 1;
    return WRIT_DONE;
}

size_t
writ_consensual_phases(const struct writ_machine *m)
{
    return m->graph->consensual ? 2 * m->tasks_n : m->graph->phases_n;
}

/* A string is its own description; an object may have one; else the whole value is shown. */
static WRIT_RESULT
describe(const struct writ_json *value, struct writ_arena *arena, struct writ_view *ret)
{
    struct writ_view text = writ_json_string(value);
    writ_auto_value whole = NULL;

    if (text.ptr == NULL) {
        text = writ_json_string(writ_json_get(value, WRIT_LIT("description")));
    }
    if (text.ptr == NULL && value != NULL) {
        WRIT_TRY(writ_value_of_json(value, &whole));
        text = writ_view_copy(writ_crew_value_text(whole), arena);
        if (text.ptr == NULL) {
            return (writ_result){WRIT_E_NOMEM};
        }
    }
    *ret = text.ptr != NULL ? text : WRIT_LIT("");
    return WRIT_DONE;
}

WRIT_RESULT
writ_consensual_task(
    const struct writ_machine *m, struct writ_arena *arena, struct writ_consensual_task *ret)
{
    struct writ_consensual_task task = {0};

    if (!writ_is_ok(parse(m->task, arena, &task.value))) {
        return (writ_result){WRIT_E_NOMEM};
    }
    if (m->tasks_listed) {
        task.value = writ_json_element(task.value, (size_t)m->phase_index / 2);
    }
    task.handler = writ_json_string(writ_json_get(task.value, WRIT_LIT("handler")));
    WRIT_TRY(describe(task.value, arena, &task.description));
    *ret = task;
    return WRIT_DONE;
}

/* ---- questions */

static struct writ_view
role_at(const struct writ_machine *m, size_t candidate)
{
    return writ_machine_role(m, m->graph->agents[m->graph->candidates[candidate]].role);
}

WRIT_RESULT
writ_consensual_ballot(const struct writ_machine *m, const struct writ_consensual_task *task,
    size_t candidate, struct writ_crew_value **ret)
{
    size_t n = m->graph->candidates_n;
    writ_auto_arena arena = writ_arena_new(SIZE_MAX);
    writ_auto_buf buf = writ_buf_make(SIZE_MAX);
    struct writ_write w = writ_write_to(&buf);
    struct writ_view *others = arena != NULL ? writ_arena_get(arena, n * sizeof *others) : NULL;
    struct writ_crew_text prompt = {NULL, 0};
    size_t others_n = 0;
    writ_result made;

    if (others == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    w.sorted = true;
    writ_write_object_begin(&w);
    writ_write_name(&w, WRIT_LIT("ballot"));
    writ_write_array_begin(&w);
    for (size_t at = 0; at < n; at++) {
        if (at != candidate) {
            others[others_n] = role_at(m, at);
            writ_write_string(&w, others[others_n++]);
        }
    }
    writ_write_array_end(&w);
    WRIT_TRY(writ_crew_prompt(task->description, others, others_n, &prompt));
    writ_write_text(&w, "prompt", writ_view(prompt.ptr, prompt.len));
    writ_write_object_end(&w);
    made = writ_write_end(&w, NULL);
    writ_crew_text_wipe(&prompt);
    WRIT_TRY(made);
    return writ_value_of_text(writ_buf_view(&buf), ret);
}

WRIT_RESULT
writ_consensual_input(const struct writ_machine *m, const struct writ_consensual_task *task,
    struct writ_crew_value **ret)
{
    writ_auto_buf buf = writ_buf_make(SIZE_MAX);
    struct writ_write w = writ_write_to(&buf);
    writ_auto_value value = NULL;

    WRIT_TRY(writ_value_of_json(task->value, &value));
    w.sorted = true;
    writ_write_object_begin(&w);
    writ_event_writer_value(&w, "input", m->input);
    writ_event_writer_value(&w, "task", value);
    writ_write_object_end(&w);
    WRIT_TRY(writ_write_end(&w, NULL));
    return writ_value_of_text(writ_buf_view(&buf), ret);
}

/* ---- the election */

/** The answers of a poll, in the order of the candidates. */
struct answers {
    struct writ_view *roles, *texts; /* absent: the agent gave none */
};

/* The answer of a candidate as text: a string without its quotes, else JSON. */
static WRIT_RESULT
answer_of(
    const struct writ_machine *m, size_t candidate, struct writ_arena *arena, struct writ_view *ret)
{
    const struct writ_output *output = writ_machine_output_of(m, m->graph->candidates[candidate]);
    const struct writ_json *value = NULL;
    struct writ_view text;

    *ret = writ_view(NULL, 0);
    if (output == NULL || output->fault || output->stalled || output->output == NULL) {
        return WRIT_DONE;
    }
    WRIT_TRY(parse(output->output, arena, &value));
    text = writ_json_string(value);
    *ret = text.ptr != NULL ? text : writ_crew_value_text(output->output);
    return WRIT_DONE;
}

static WRIT_RESULT
collect(const struct writ_machine *m, struct writ_arena *arena, struct answers *ret)
{
    size_t n = m->graph->candidates_n;

    ret->roles = writ_arena_get(arena, (n + 1) * sizeof *ret->roles);
    ret->texts = writ_arena_get(arena, (n + 1) * sizeof *ret->texts);
    if (ret->roles == NULL || ret->texts == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    for (size_t at = 0; at < n; at++) {
        ret->roles[at] = role_at(m, at);
        WRIT_TRY(answer_of(m, at, arena, &ret->texts[at]));
    }
    return WRIT_DONE;
}

static bool
is_utf8(const struct writ_crew_text *why)
{
    return writ_utf8_is_valid(writ_view(why->ptr, why->len), NULL);
}

/* No candidate is elected: no quorum, or an engine that decides nothing. */
static bool
give_up(struct writ_machine *m, const struct writ_crew_err *err)
{
    struct writ_view why = writ_view_str(err->err.text);

    writ_event_undecided(m, writ_view_str(writ_crew_error_name(err->error)),
        writ_utf8_is_valid(why, NULL) ? why : WRIT_LIT("the reason is not UTF-8"));
    return false;
}

bool
writ_consensual_elect(struct writ_machine *m, size_t *ret_role)
{
    writ_auto_arena arena = writ_arena_new(SIZE_MAX);
    const struct writ_crew_graph *graph = m->graph;
    const struct writ_crew_ranking *ballots = NULL;
    struct writ_crew_err err = {0};
    struct writ_crew_text why = {NULL, 0};
    struct answers answers;
    size_t winner = 0;
    writ_result counted;

    if (arena == NULL || !writ_is_ok(collect(m, arena, &answers))) {
        writ_event_writer_fail(m->writer, (writ_result){WRIT_E_NOMEM});
        return false;
    }
    counted = writ_dispatch_read(
        answers.roles, answers.texts, graph->candidates_n, arena, &ballots, &err);
    if (writ_is_ok(counted)) {
        for (size_t at = 0; at < graph->candidates_n; at++) {
            writ_event_ballot(
                m, graph->candidates[at], &ballots[at], answers.texts[at].ptr != NULL);
        }
        counted = writ_dispatch_elect(answers.roles, ballots, graph->candidates_n, graph->consensus,
            graph->engines, &winner, &why, &err);
    }
    if (counted.code == WRIT_E_NOMEM) {
        writ_event_writer_fail(m->writer, counted);
        return false;
    }
    if (!writ_is_ok(counted)) {
        return give_up(m, &err);
    }
    writ_event_elected(m, graph->candidates[winner],
        is_utf8(&why) ? writ_view(why.ptr, why.len) : WRIT_LIT("the explanation is not UTF-8"));
    writ_crew_text_wipe(&why);
    *ret_role = graph->agents[graph->candidates[winner]].role;
    return true;
}
