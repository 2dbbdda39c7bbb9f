/* Events, written canonically: members in the order of their names. */
#include "crew/event.h"

#include "crew/dispatch.h"

double
writ_event_now(const struct writ_machine *m)
{
    double now = m->options.clock.now(m->options.clock.user);

    if (!__builtin_isfinite(now)) {
        writ_event_writer_fail(m->writer, (writ_result){WRIT_E_INVALID});
        return 0;
    }
    return now;
}

static void
put_id(struct writ_write *w, uint64_t id)
{
    writ_write_name(w, WRIT_LIT("correlationId"));
    writ_event_writer_id(w, id);
}

static void
put_agent(struct writ_write *w, const struct writ_machine *m, size_t agent)
{
    writ_write_text(w, "agentId", writ_machine_agent(m, agent));
}

static void
put_role(struct writ_write *w, const struct writ_machine *m, size_t role)
{
    writ_write_text(w, "roleId", writ_machine_role(m, role));
}

static struct writ_write
begin(struct writ_machine *m)
{
    struct writ_write w = writ_write_to(&m->writer->text);

    w.sorted = true;
    writ_write_object_begin(&w);
    return w;
}

static void
end_at(struct writ_machine *m, struct writ_write *w, double ts, const char *type)
{
    writ_write_number(w, "ts", ts);
    writ_write_text(w, "type", writ_view_str(type));
    writ_write_object_end(w);
    writ_event_writer_fail(m->writer, writ_write_end(w, NULL));
    writ_event_writer_end(m->writer);
}

static void
end(struct writ_machine *m, struct writ_write *w, const char *type)
{
    end_at(m, w, writ_event_now(m), type);
}

const char *
writ_event_reason(enum writ_shape_reason reason)
{
    static const char *const reasons[] = {
#define REASON_TEXT(name, flag, text) [WRIT_SHAPE_REASON_##name] = (text),
        WRIT_SHAPE_REASONS(REASON_TEXT)
#undef REASON_TEXT
    };

    return reasons[reason];
}

/* ---- events */

void
writ_event_started(struct writ_machine *m, struct writ_crew_value *task)
{
    struct writ_write w = begin(m);

    writ_write_text(&w, "crewId", m->options.crew_id);
    writ_event_writer_value(&w, "rootInput", m->input);
    writ_event_writer_value(&w, "task", task);
    end(m, &w, "crew.started");
}

void
writ_event_entered(struct writ_machine *m, size_t role)
{
    struct writ_write w = begin(m);

    put_role(&w, m, role);
    end(m, &w, "role.entered");
}

void
writ_event_requested(struct writ_machine *m, const struct writ_step *step, double ts)
{
    struct writ_write w = begin(m);

    put_agent(&w, m, step->agent);
    put_id(&w, step->id);
    writ_event_writer_value(&w, "input", step->input);
    writ_event_writer_value(&w, "memex_context", step->memex);
    writ_event_writer_value(&w, "role", step->role);
    put_role(&w, m, m->graph->agents[step->agent].role);
    if (step->timeout_ms >= 0) {
        writ_write_number(&w, "timeoutMs", step->timeout_ms);
    }
    end_at(m, &w, ts, "agent.step.requested");
}

void
writ_event_timed_out(struct writ_machine *m, uint64_t id, double ts)
{
    struct writ_write w = begin(m);

    put_id(&w, id);
    end_at(m, &w, ts, "agent.step.timed_out");
}

void
writ_event_fixer(struct writ_machine *m, size_t agent, enum writ_shape_reason reason)
{
    struct writ_write w = begin(m);

    put_agent(&w, m, agent);
    writ_write_text(&w, "reason", writ_view_str(writ_event_reason(reason)));
    end(m, &w, "fixer.invoked");
}

void
writ_event_denied(struct writ_machine *m, struct writ_view from, struct writ_view to,
    enum writ_crew_action action)
{
    struct writ_write w = begin(m);

    writ_write_text(&w, "action", writ_view_str(writ_crew_action_name(action)));
    writ_write_text(&w, "from", from);
    writ_write_text(&w, "to", to);
    end(m, &w, "permission.denied");
}

void
writ_event_resolved(struct writ_machine *m, size_t role, struct writ_crew_value *value)
{
    struct writ_write w = begin(m);

    writ_write_text(&w, "mode", m->graph->shape->roles[role].voting.mode_text);
    writ_event_writer_value(&w, "resolved", value);
    put_role(&w, m, role);
    end(m, &w, "vote.resolved");
}

void
writ_event_checkpoint(struct writ_machine *m, struct writ_view id)
{
    struct writ_write w = begin(m);

    writ_write_text(&w, "checkpointId", id);
    end(m, &w, "checkpoint.taken");
}

void
writ_event_command(struct writ_machine *m, size_t agent, const struct writ_crew_value *command)
{
    struct writ_write w = begin(m);

    put_agent(&w, m, agent);
    writ_event_writer_value(&w, "command", command);
    end(m, &w, "memex.command.emitted");
}

void
writ_event_nested_started(struct writ_machine *m, size_t agent, struct writ_view name)
{
    struct writ_write w = begin(m);

    put_agent(&w, m, agent);
    writ_write_text(&w, "nestedName", name);
    end(m, &w, "nested.crew.started");
}

void
writ_event_nested_completed(struct writ_machine *m, size_t agent, struct writ_crew_value *output)
{
    struct writ_write w = begin(m);

    put_agent(&w, m, agent);
    writ_event_writer_value(&w, "output", output);
    end(m, &w, "nested.crew.completed");
}

void
writ_event_aborted(struct writ_machine *m, enum writ_crew_abort reason)
{
    struct writ_write w = begin(m);

    static const char *const reasons[] = {[WRIT_CREW_CANCELLED] = "cancelled",
        [WRIT_CREW_TIMEOUT] = "timeout",
        [WRIT_CREW_UNDECIDED] = "undecided"};

    writ_write_text(&w, "reason", writ_view_str(reasons[reason]));
    end(m, &w, "crew.aborted");
}

void
writ_event_completed(struct writ_machine *m)
{
    struct writ_write w = begin(m);

    writ_event_writer_value(&w, "finalOutput", m->input);
    end(m, &w, "crew.completed");
}

/* ---- the consensual process */

static void
put_names(struct writ_write *w, const char *name, const struct writ_view *list, size_t n)
{
    writ_write_name(w, writ_view_str(name));
    writ_write_array_begin(w);
    for (size_t at = 0; at < n; at++) {
        writ_write_string(w, list[at]);
    }
    writ_write_array_end(w);
}

static struct writ_view
engine_of(const struct writ_machine *m)
{
    return m->graph->consensus.ptr != NULL ? m->graph->consensus : WRIT_LIT(WRIT_DISPATCH_ENGINE);
}

void
writ_event_poll(struct writ_machine *m, const struct writ_crew_value *task)
{
    struct writ_write w = begin(m);

    writ_write_name(&w, WRIT_LIT("candidates"));
    writ_write_array_begin(&w);
    for (size_t at = 0; at < m->graph->candidates_n; at++) {
        writ_write_string(
            &w, writ_machine_role(m, m->graph->agents[m->graph->candidates[at]].role));
    }
    writ_write_array_end(&w);
    writ_write_text(&w, "crewId", m->options.crew_id);
    writ_write_text(&w, "engine", engine_of(m));
    writ_event_writer_value(&w, "task", task);
    end(m, &w, "dispatch.started");
}

void
writ_event_ballot(
    struct writ_machine *m, size_t agent, const struct writ_crew_ranking *ranking, bool answered)
{
    struct writ_write w = begin(m);

    put_agent(&w, m, agent);
    if (ranking->list != NULL) {
        put_names(&w, "ranking", ranking->list, ranking->n);
    }
    put_role(&w, m, m->graph->agents[agent].role);
    end_at(m, &w, writ_event_now(m),
        ranking->list != NULL ? "dispatch.ballot"
        : answered            ? "dispatch.ballot.unreadable"
                              : "dispatch.ballot.missing");
}

void
writ_event_elected(struct writ_machine *m, size_t agent, struct writ_view why)
{
    struct writ_write w = begin(m);

    put_agent(&w, m, agent);
    writ_write_text(&w, "crewId", m->options.crew_id);
    if (why.ptr != NULL) {
        writ_write_text(&w, "engine", engine_of(m));
    } else {
        writ_write_flag(&w, "fixed", true);
    }
    put_role(&w, m, m->graph->agents[agent].role);
    writ_write_number(&w, "ts", writ_event_now(m));
    writ_write_text(&w, "type", WRIT_LIT("dispatch.elected"));
    if (why.ptr != NULL) {
        writ_write_text(&w, "why", why);
    }
    writ_write_object_end(&w);
    writ_event_writer_fail(m->writer, writ_write_end(&w, NULL));
    writ_event_writer_end(m->writer);
}

void
writ_event_undecided(struct writ_machine *m, struct writ_view error, struct writ_view why)
{
    struct writ_write w = begin(m);

    writ_write_text(&w, "crewId", m->options.crew_id);
    writ_write_text(&w, "error", error);
    writ_write_number(&w, "ts", writ_event_now(m));
    writ_write_text(&w, "type", WRIT_LIT("dispatch.failed"));
    writ_write_text(&w, "why", why);
    writ_write_object_end(&w);
    writ_event_writer_fail(m->writer, writ_write_end(&w, NULL));
    writ_event_writer_end(m->writer);
}

void
writ_event_pending(struct writ_machine *m, const struct writ_step *step)
{
    struct writ_write w = begin(m);

    put_agent(&w, m, step->agent);
    put_id(&w, step->id);
    put_role(&w, m, m->graph->agents[step->agent].role);
    if (step->timeout_ms >= 0) {
        writ_write_number(&w, "timeoutMs", step->timeout_ms);
    }
    writ_write_number(&w, "ts", step->ts);
    writ_write_object_end(&w);
    writ_event_writer_fail(m->writer, writ_write_end(&w, NULL));
    writ_event_writer_end(m->writer);
}
