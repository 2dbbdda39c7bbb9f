/* Crews inside crews (semantics 7, and deviations 2, 3, 7 and 7b of crew/README.md).
 *
 * 1. A handle ends with its own machine, and with no other one.
 * 2. It counts in phase.in_flight of the phase that spawned it, once, until it ends. */
#include "crew/event_writer.h"
#include "crew/nested.h"

void
writ_nested_free(struct writ_handle *handle)
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
writ_nested_add(struct writ_machine *m, struct writ_handle *handle)
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

/* What is still asked inside is forgotten here and all the way out. */
static void
remove_handle(struct writ_machine *m, struct writ_handle *handle)
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

/* "outer/agent#attempt" */
static WRIT_RESULT
inner_id(struct writ_buf *id, const struct writ_machine *m, size_t agent, uint32_t attempt)
{
    writ_buf_put(id, m->options.crew_id);
    writ_buf_byte(id, '/');
    writ_buf_put(id, writ_machine_agent(m, agent));
    writ_buf_byte(id, '#');
    writ_buf_u64(id, attempt);
    return writ_buf_check(id, NULL);
}

static WRIT_RESULT
open_inner(struct writ_machine *m, size_t agent, uint32_t attempt, struct writ_handle *handle)
{
    const struct writ_graph_role *role = &m->graph->roles[m->graph->agents[agent].role];
    struct writ_crew_options options = m->options;
    writ_auto_buf id = writ_buf_make(SIZE_MAX);

    WRIT_TRY(inner_id(&id, m, agent, attempt));
    options.crew_id = writ_buf_view(&id);
    handle->memory = m->memory;
    if (m->memory.ops != NULL && role->shape->memex_hard) {
        handle->memory.self = NULL;
        handle->hard = true;
        WRIT_TRY(m->memory.ops->fork(m->memory.self, options.crew_id, &handle->memory.self));
    }
    return writ_machine_new(&options, role->nested, handle->memory, m->writer, &handle->inner);
}

void
writ_nested_spawn(
    struct writ_machine *m, size_t agent, struct writ_crew_value *input, size_t replaced)
{
    size_t role = m->graph->agents[agent].role;
    struct writ_handle *handle = writ_alloc(sizeof *handle);
    uint32_t attempt;
    writ_result opened;

    writ_machine_hook(m, role, WRIT_SHAPE_BEFORE_AGENT,
        (struct writ_crew_hook){.agent_id = writ_machine_agent(m, agent),
            .input = writ_crew_value_text(input),
            .fault = -1,
            .stalled = -1});
    attempt = writ_machine_attempt(m, agent);
    writ_event_writer_nested_started(m, agent, writ_crew_graph_name(m->graph->roles[role].nested));
    if (handle == NULL) {
        writ_event_writer_fail(m->writer, (writ_result){WRIT_E_NOMEM});
        return;
    }
    handle->agent = agent;
    handle->replaced = replaced;
    handle->phase = m->phase.serial;
    opened = open_inner(m, agent, attempt, handle);
    if (!writ_is_ok(opened)) {
        writ_event_writer_fail(m->writer, opened);
        writ_nested_free(handle);
        return;
    }
    writ_nested_add(m, handle);
    m->phase.in_flight++;
    writ_machine_start(handle->inner, input, NULL);
    writ_nested_absorb(m, handle);
}

void
writ_nested_absorb(struct writ_machine *m, struct writ_handle *handle)
{
    size_t agent = handle->agent;
    bool awaited = m->phase.running && handle->phase == m->phase.serial;
    bool held = m->phase.held;
    writ_auto_value output = NULL;

    if (handle->inner->status != WRIT_CREW_COMPLETED) {
        return;
    }
    output = writ_crew_value_ref(handle->inner->input);
    remove_handle(m, handle);
    if (handle->hard) {
        writ_event_writer_fail(
            m->writer, m->memory.ops->import(m->memory.self, handle->memory.self));
    }
    if (awaited) {
        m->phase.in_flight--;
        writ_machine_output(
            m, (struct writ_output){
                   .slot = handle->replaced != WRIT_GRAPH_NONE ? handle->replaced : agent,
                   .output = writ_crew_value_ref(output)});
    }
    writ_nested_free(handle);
    writ_event_writer_nested_completed(m, agent, output);
    m->phase.held = true;
    writ_machine_hook(m, m->graph->agents[agent].role, WRIT_SHAPE_AFTER_AGENT,
        (struct writ_crew_hook){.agent_id = writ_machine_agent(m, agent),
            .output = writ_crew_value_text(output),
            .fault = false,
            .stalled = -1});
    m->phase.held = held;
    writ_machine_settle(m);
}
