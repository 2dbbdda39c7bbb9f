/* The bookkeeping of a machine: its phase, steps, slots, nested crews and ids.
 *
 * 1. A step is in phase.ids exactly from its request to its terminal event: the first terminal
 *    event removes it, so that a second one finds nothing.
 * 2. A nested crew ends exactly when its own machine ends.
 * 3. A failure half way goes to the event writer; the session is broken then. */
#include "crew/machine.h"

#include "crew/vec.h"

/* ---- making and freeing */

WRIT_RESULT
writ_machine_new(const struct writ_crew_options *options, const struct writ_crew_graph *graph,
    struct writ_crew_memory memory, struct writ_event_writer *writer, struct writ_machine **ret)
{
    struct writ_machine *m = writ_alloc(sizeof *m);
    char *id = writ_alloc(options->crew_id.len + 1);

    if (m == NULL || id == NULL) {
        writ_free(m);
        writ_free(id);
        return (writ_result){WRIT_E_NOMEM};
    }
    m->writer = writer;
    m->options = *options;
    m->options.crew_id = writ_view_place(options->crew_id, id);
    m->limits = options->limits != NULL ? options->limits : &writ_crew_limits_default;
    m->memory = memory;
    m->graph = graph;
    m->status = WRIT_CREW_IDLE;
    m->phase_index = -1;
    m->attempts = writ_alloc(graph->agents_n * sizeof *m->attempts);
    m->attempted = writ_alloc(graph->agents_n * sizeof *m->attempted);
    m->slots = writ_alloc(graph->agents_n * sizeof *m->slots);
    m->slots_cap = graph->agents_n;
    if (m->attempts == NULL || m->attempted == NULL || m->slots == NULL) {
        writ_machine_free(m);
        return (writ_result){WRIT_E_NOMEM};
    }
    *ret = m;
    return WRIT_DONE;
}

static void
step_wipe(struct writ_step *step)
{
    writ_value_replace(&step->input, NULL);
    writ_value_replace(&step->memex, NULL);
    writ_value_replace(&step->role, NULL);
}

void
writ_machine_phase_begin(struct writ_machine *m, size_t role)
{
    uint64_t serial = m->phase.serial + 1;

    writ_machine_phase_end(m);
    m->phase.serial = serial;
    m->phase.running = true;
    m->phase.role = role;
}

void
writ_machine_phase_end(struct writ_machine *m)
{
    struct writ_phase *phase = &m->phase;

    for (size_t at = 0; at < phase->steps_n; at++) {
        step_wipe(&phase->steps[at]);
    }
    for (size_t at = 0; at < phase->outputs_n; at++) {
        writ_crew_value_free(phase->outputs[at].output);
    }
    writ_free(phase->steps);
    writ_free(phase->outputs);
    writ_free(phase->seen);
    writ_idmap_wipe(&phase->ids);
    while (m->strangers_n > 0) {
        writ_crew_value_free(m->strangers[--m->strangers_n]);
    }
    *phase = (struct writ_phase){.serial = phase->serial};
}

void
writ_machine_handle_free(struct writ_handle *handle)
{
    if (handle != NULL) {
        writ_machine_free(handle->inner);
        writ_idmap_wipe(&handle->ids);
        if (handle->hard && handle->memory.self != NULL) {
            handle->memory.ops->free(handle->memory.self);
        }
        writ_free(handle);
    }
}

void
writ_machine_free(struct writ_machine *m)
{
    if (m == NULL) {
        return;
    }
    writ_machine_phase_end(m);
    for (struct writ_handle *handle = m->first, *next; handle != NULL; handle = next) {
        next = handle->next;
        writ_machine_handle_free(handle);
    }
    writ_idmap_wipe(&m->routes);
    writ_crew_value_free(m->input);
    writ_crew_value_free(m->task);
    writ_free(m->attempts);
    writ_free(m->attempted);
    writ_free(m->slots);
    writ_free(m->strangers);
    writ_free((void *)m->options.crew_id.ptr);
    writ_free(m);
}

/* ---- hooks (semantics 9) */

void
writ_machine_hook(
    struct writ_machine *m, size_t role, enum writ_shape_hook stage, struct writ_crew_hook hook)
{
    const struct writ_shape_role *shape = &m->graph->shape->roles[role];
    struct writ_crew_control control = {m};

    if (m->options.hooks == NULL || shape->hooks[stage].len == 0) {
        return;
    }
    hook.name = shape->hooks[stage];
    hook.stage = writ_view_str(writ_shape_hook_name(stage));
    hook.crew_id = m->options.crew_id;
    hook.role_id = shape->name;
    m->options.hooks->call(m->options.hooks->user, &hook, &control);
}

/* ---- steps and slots */

uint32_t
writ_machine_attempt(struct writ_machine *m, size_t agent)
{
    if (m->attempts[agent] == 0) {
        m->attempted[m->attempted_n++] = agent;
    }
    return ++m->attempts[agent];
}

void
writ_machine_publish(struct writ_machine *m, uint64_t id)
{
    for (; m->outer != NULL; m = m->outer) {
        writ_event_writer_fail(m->writer, writ_idmap_put(&m->as->ids, id, 0));
        writ_event_writer_fail(
            m->writer, writ_idmap_put(&m->outer->routes, id, (size_t)(uintptr_t)m->as));
    }
}

void
writ_machine_forget(struct writ_machine *m, uint64_t id)
{
    for (; m->outer != NULL; m = m->outer) {
        writ_idmap_remove(&m->as->ids, id);
        writ_idmap_remove(&m->outer->routes, id);
    }
}

WRIT_RESULT
writ_machine_step(struct writ_machine *m, struct writ_step *step)
{
    struct writ_phase *phase = &m->phase;
    writ_result room =
        writ_vec_room(&phase->steps, &phase->steps_cap, phase->steps_n, sizeof *phase->steps);

    if (writ_is_ok(room)) {
        room = writ_idmap_put(&phase->ids, step->id, phase->steps_n);
    }
    if (!writ_is_ok(room)) {
        step_wipe(step);
        return room;
    }
    phase->steps[phase->steps_n++] = *step;
    return WRIT_DONE;
}

/* Marks a step as done; keeps (1). */
void
writ_machine_step_done(struct writ_machine *m, struct writ_step *step)
{
    struct writ_phase *phase = &m->phase;
    writ_result room =
        writ_vec_room(&phase->seen, &phase->seen_cap, phase->seen_n, sizeof *phase->seen);

    writ_event_writer_fail(m->writer, room);
    if (writ_is_ok(room)) {
        phase->seen[phase->seen_n++] = step->id;
    }
    writ_idmap_remove(&phase->ids, step->id);
    writ_machine_forget(m, step->id);
    step->done = true;
    step_wipe(step);
}

/* ---- slots */

struct writ_view
writ_machine_slot(const struct writ_machine *m, size_t slot)
{
    return slot < m->graph->agents_n
               ? writ_machine_agent(m, slot)
               : writ_crew_value_text(m->strangers[slot - m->graph->agents_n]);
}

WRIT_RESULT
writ_machine_slot_of(struct writ_machine *m, struct writ_view id, size_t *ret)
{
    size_t agent = writ_graph_find(m->graph, id), agents = m->graph->agents_n;

    for (size_t at = 0; agent == WRIT_GRAPH_NONE && at < m->strangers_n; at++) {
        if (writ_view_equal(writ_crew_value_text(m->strangers[at]), id)) {
            agent = agents + at;
        }
    }
    if (agent == WRIT_GRAPH_NONE) {
        agent = agents + m->strangers_n;
        WRIT_TRY(writ_vec_room(&m->slots, &m->slots_cap, agent, sizeof *m->slots));
        WRIT_TRY(writ_vec_room(
            &m->strangers, &m->strangers_cap, m->strangers_n, sizeof(struct writ_crew_value *)));
        WRIT_TRY(writ_value_of_text(id, &m->strangers[m->strangers_n]));
        m->strangers_n++;
        m->slots[agent] = (struct writ_slot){0, 0};
    }
    *ret = agent;
    return WRIT_DONE;
}

const struct writ_output *
writ_machine_output_of(const struct writ_machine *m, size_t slot)
{
    return m->phase.running && m->slots[slot].phase == m->phase.serial
               ? &m->phase.outputs[m->slots[slot].at]
               : NULL;
}

void
writ_machine_output(struct writ_machine *m, struct writ_output output)
{
    struct writ_phase *phase = &m->phase;
    struct writ_slot *slot = &m->slots[output.slot];
    writ_result room;

    if (slot->phase == phase->serial) {
        writ_crew_value_free(phase->outputs[slot->at].output);
        phase->outputs[slot->at] = output;
        return;
    }
    room = writ_vec_room(
        &phase->outputs, &phase->outputs_cap, phase->outputs_n, sizeof *phase->outputs);
    if (!writ_is_ok(room)) {
        writ_event_writer_fail(m->writer, room);
        writ_crew_value_free(output.output);
        return;
    }
    *slot = (struct writ_slot){phase->serial, phase->outputs_n};
    phase->outputs[phase->outputs_n++] = output;
}

/* ---- nested crews */

void
writ_machine_add(struct writ_machine *m, struct writ_handle *handle)
{
    handle->serial = ++m->handle_serial;
    handle->inner->outer = m;
    handle->inner->as = handle;
    handle->previous = m->last;
    if (m->last != NULL) {
        m->last->next = handle;
    } else {
        m->first = handle;
    }
    m->last = handle;
}

void
writ_machine_remove(struct writ_machine *m, struct writ_handle *handle)
{
    for (size_t at = 0; at < handle->ids.n; at++) {
        if (!handle->ids.list[at].gone) {
            writ_idmap_remove(&m->routes, handle->ids.list[at].id);
            writ_machine_forget(m, handle->ids.list[at].id);
        }
    }
    *(handle->previous != NULL ? &handle->previous->next : &m->first) = handle->next;
    *(handle->next != NULL ? &handle->next->previous : &m->last) = handle->previous;
}
