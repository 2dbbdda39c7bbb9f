/* Snapshots, written canonically (semantics 11). Nested crews are known by their inner crew ids: in
 * nestedPending, and among the fixer steps when they are fixers (deviations 7 and 7b). */
#include "crew/snapshot.h"

#include "crew/consensual.h"
#include "crew/event.h"
#include "crew/event_writer.h"

static writ_result put_snapshot(struct writ_machine *m, struct writ_buf *buf);

/* ---- the phase */

static void
put_fixer(struct writ_write *w, struct writ_view replaced)
{
    writ_write_string(w, replaced);
    writ_write_array_end(w);
}

static void
put_fixers(struct writ_write *w, const struct writ_machine *m)
{
    const struct writ_phase *phase = &m->phase;

    writ_write_name(w, WRIT_LIT("fixerSteps"));
    writ_write_array_begin(w);
    for (size_t at = 0; at < phase->steps_n; at++) {
        if (phase->steps[at].replaced != WRIT_GRAPH_NONE) {
            writ_write_array_begin(w);
            writ_event_writer_id(w, phase->steps[at].id);
            put_fixer(w, writ_machine_slot(m, phase->steps[at].replaced));
        }
    }
    for (const struct writ_handle *handle = m->first; handle != NULL; handle = handle->next) {
        if (handle->phase == phase->serial && handle->replaced != WRIT_GRAPH_NONE) {
            writ_write_array_begin(w);
            writ_write_string(w, handle->inner->options.crew_id);
            put_fixer(w, writ_machine_slot(m, handle->replaced));
        }
    }
    writ_write_array_end(w);
}

static void
put_in_flight(struct writ_write *w, const struct writ_machine *m)
{
    writ_write_name(w, WRIT_LIT("nestedPending"));
    writ_write_array_begin(w);
    for (const struct writ_handle *handle = m->first; handle != NULL; handle = handle->next) {
        if (handle->phase == m->phase.serial) {
            writ_write_string(w, handle->inner->options.crew_id);
        }
    }
    writ_write_array_end(w);
}

static void
put_outputs(struct writ_write *w, const struct writ_machine *m)
{
    writ_write_name(w, WRIT_LIT("outputs"));
    writ_write_array_begin(w);
    for (size_t at = 0; at < m->phase.outputs_n; at++) {
        const struct writ_output *output = &m->phase.outputs[at];
        writ_write_array_begin(w);
        writ_write_string(w, writ_machine_slot(m, output->slot));
        writ_write_object_begin(w);
        writ_write_text(w, "agentId", writ_machine_slot(m, output->slot));
        writ_write_flag(w, "fault", output->fault);
        writ_event_writer_value(w, "output", output->output);
        if (output->has_stalled) {
            writ_write_flag(w, "stalled", output->stalled);
        }
        writ_write_object_end(w);
        writ_write_array_end(w);
    }
    writ_write_array_end(w);
}

static void
put_step(struct writ_write *w, const struct writ_machine *m, const struct writ_step *step)
{
    writ_write_object_begin(w);
    writ_event_writer_value(w, "input", step->input);
    writ_event_writer_value(w, "memexContext", step->memex);
    writ_write_name(w, WRIT_LIT("request"));
    writ_write_object_begin(w);
    writ_write_text(w, "agentId", writ_machine_agent(m, step->agent));
    writ_write_name(w, WRIT_LIT("correlationId"));
    writ_event_writer_id(w, step->id);
    writ_write_text(w, "roleId", writ_machine_role(m, m->graph->agents[step->agent].role));
    if (step->timeout_ms >= 0) {
        writ_write_number(w, "timeoutMs", step->timeout_ms);
    }
    writ_write_number(w, "ts", step->ts);
    writ_write_object_end(w);
    writ_event_writer_value(w, "roleSnapshot", step->role);
    writ_write_object_end(w);
}

static void
put_phase(struct writ_write *w, const struct writ_machine *m)
{
    writ_write_name(w, WRIT_LIT("currentPhase"));
    if (!m->phase.running) {
        writ_write_null(w);
        return;
    }
    writ_write_object_begin(w);
    put_fixers(w, m);
    put_in_flight(w, m);
    put_outputs(w, m);
    writ_write_name(w, WRIT_LIT("pending"));
    writ_write_array_begin(w);
    for (size_t at = 0; at < m->phase.steps_n; at++) {
        if (!m->phase.steps[at].done) {
            put_step(w, m, &m->phase.steps[at]);
        }
    }
    writ_write_array_end(w);
    writ_write_text(w, "roleId",
        m->phase.role == WRIT_CONSENSUAL_POLL ? WRIT_LIT("") : writ_machine_role(m, m->phase.role));
    writ_write_name(w, WRIT_LIT("terminalSeen"));
    writ_write_array_begin(w);
    for (size_t at = 0; at < m->phase.seen_n; at++) {
        writ_event_writer_id(w, m->phase.seen[at]);
    }
    writ_write_array_end(w);
    writ_write_object_end(w);
}

/* ---- nested crews */

static WRIT_RESULT
put_handle(struct writ_write *w, const struct writ_machine *m, const struct writ_handle *handle)
{
    WRIT_AUTO(struct writ_crew_value *, writ_value_freep) memory = NULL;
    writ_auto_buf inner = writ_buf_make(SIZE_MAX);

    WRIT_TRY(put_snapshot(handle->inner, &inner));
    if (handle->hard) {
        WRIT_TRY(handle->memory.ops->snapshot(handle->memory.self, &memory));
    }
    writ_write_object_begin(w);
    writ_event_writer_value(w, "innerAdapterSnapshot", memory);
    writ_write_name(w, WRIT_LIT("innerCids"));
    writ_write_array_begin(w);
    for (size_t at = 0; at < handle->ids.n; at++) {
        if (!handle->ids.list[at].gone) {
            writ_event_writer_id(w, handle->ids.list[at].id);
        }
    }
    writ_write_array_end(w);
    writ_write_name(w, WRIT_LIT("innerSnapshot"));
    writ_write_raw(w, writ_buf_view(&inner));
    writ_write_text(w, "outerAgentId", writ_machine_agent(m, handle->agent));
    writ_write_text(w, "outerRoleId", writ_machine_role(m, m->graph->agents[handle->agent].role));
    writ_write_object_end(w);
    return WRIT_DONE;
}

/* ---- the machine */

static void
put_attempts(struct writ_write *w, const struct writ_machine *m)
{
    writ_write_name(w, WRIT_LIT("agentAttempts"));
    writ_write_array_begin(w);
    for (size_t at = 0; at < m->attempted_n; at++) {
        writ_write_array_begin(w);
        writ_write_string(w, writ_machine_agent(m, m->attempted[at]));
        writ_write_u64(w, m->attempts[m->attempted[at]]);
        writ_write_array_end(w);
    }
    writ_write_array_end(w);
}

static writ_result
put_snapshot(struct writ_machine *m, struct writ_buf *buf)
{
    struct writ_write w = writ_write_to(buf);

    w.sorted = true;
    writ_write_object_begin(&w);
    put_attempts(&w, m);
    writ_write_text(&w, "crewId", m->options.crew_id);
    writ_event_writer_value(&w, "currentInput", m->input);
    put_phase(&w, m);
    writ_write_name(&w, WRIT_LIT("nested"));
    writ_write_array_begin(&w);
    for (const struct writ_handle *handle = m->first; handle != NULL; handle = handle->next) {
        WRIT_TRY(put_handle(&w, m, handle));
    }
    writ_write_array_end(&w);
    writ_write_integer(&w, "phaseIndex", m->phase_index);
    writ_write_text(&w, "schema_version", WRIT_LIT("1.0"));
    writ_write_text(&w, "status", writ_view_str(writ_crew_status_name(m->status)));
    writ_event_writer_value(&w, "task", m->task);
    if (m->graph->consensual) {
        writ_write_flag(&w, "tasksListed", m->tasks_listed);
    }
    writ_write_number(&w, "ts", writ_event_now(m));
    writ_write_object_end(&w);
    return writ_write_end(&w, NULL);
}

WRIT_RESULT
writ_snapshot_take(struct writ_machine *m, struct writ_crew_value **ret)
{
    writ_auto_buf buf = writ_buf_make(SIZE_MAX);

    WRIT_TRY(put_snapshot(m, &buf));
    return writ_value_of_text(writ_buf_view(&buf), ret);
}
