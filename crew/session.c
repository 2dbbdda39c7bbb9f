/* The calls of a crew (writ/crew.h): each runs the machine, then checks for a failure in the
 * middle. After one the session is broken and stays so. */
#include "crew/session.h"

#include "base/utf8.h"
#include "crew/event.h"
#include "crew/event_writer.h"
#include "crew/phase.h"
#include "crew/snapshot.h"

struct writ_crew_session {
    struct writ_machine *machine;
    struct writ_event_writer writer;
    struct writ_arena *arena; /* of the event that is being delivered */
};

const char *
writ_crew_status_name(enum writ_crew_status status)
{
    static const char *const names[] = {
        [WRIT_CREW_IDLE] = "idle",
        [WRIT_CREW_AWAITING_RESPONSES] = "awaiting_responses",
        [WRIT_CREW_COMPLETED] = "completed",
        [WRIT_CREW_ABORTED] = "aborted",
    };

    return names[status];
}

struct writ_machine *
writ_session_machine(struct writ_crew_session *session)
{
    return session->machine;
}

/* ---- a call */

/* Begins one; fails when the session is broken. */
static WRIT_RESULT
call_begin(struct writ_crew_session *session, struct writ_crew_err *err)
{
    if (session->writer.failed != WRIT_E_UNSET) {
        return writ_failure_set(err, WRIT_E_INVALID, WRIT_CREW_BROKEN,
            "an earlier call failed half way: go on from the last snapshot");
    }
    writ_event_writer_clear(&session->writer);
    return WRIT_DONE;
}

WRIT_RESULT
writ_session_events(
    struct writ_crew_session *session, struct writ_crew_events *ret, struct writ_crew_err *err)
{
    struct writ_crew_events events = {NULL, 0};

    if (session->writer.failed == WRIT_E_UNSET) {
        writ_event_writer_fail(&session->writer, writ_event_writer_list(&session->writer, &events));
    }
    if (session->writer.failed != WRIT_E_UNSET) {
        return writ_failure_set(err, session->writer.failed,
            session->writer.failed == WRIT_E_NOMEM ? WRIT_CREW_NO_MEMORY : WRIT_CREW_BROKEN,
            session->writer.failed == WRIT_E_NOMEM
                ? "memory ran out half way: go on from the last snapshot"
                : "the clock gave no finite time, or the crew's memory failed, half way: go on "
                  "from the last snapshot");
    }
    *ret = events;
    return WRIT_DONE;
}

/* ---- opening and closing */

void
writ_session_freep(struct writ_crew_session **session)
{
    writ_crew_session_free(*session);
}

void
writ_crew_session_free(struct writ_crew_session *session)
{
    if (session != NULL) {
        writ_machine_free(session->machine);
        writ_event_writer_wipe(&session->writer);
        writ_arena_free(session->arena);
        writ_free(session);
    }
}

static const struct writ_crew_limits *
limits_of(const struct writ_crew_options *options)
{
    return options->limits != NULL ? options->limits : &writ_crew_limits_default;
}

WRIT_RESULT
writ_crew_session_new(const struct writ_crew_options *options, struct writ_crew_session **ret,
    struct writ_crew_err *err)
{
    WRIT_AUTO(struct writ_crew_session *, writ_session_freep) session = writ_alloc(sizeof *session);
    struct writ_crew_memory memory = {0};

    if (options->crew_id.len == 0 || !writ_utf8_is_valid(options->crew_id, NULL)) {
        return writ_failure_set(err, WRIT_E_INVALID, WRIT_CREW_MALFORMED,
            "a session needs a crew id, which is UTF-8 and not empty");
    }
    if (session == NULL) {
        return writ_failure_memory(err);
    }
    session->writer.text = writ_buf_make(SIZE_MAX);
    session->writer.scratch = writ_buf_make(SIZE_MAX);
    session->arena = writ_value_arena(limits_of(options)->event_bytes);
    memory = options->memory != NULL ? *options->memory : memory;
    if (session->arena == NULL || !writ_is_ok(writ_machine_new(options, options->graph, memory,
                                      &session->writer, &session->machine))) {
        return writ_failure_memory(err);
    }
    *ret = WRIT_TAKE(session);
    return WRIT_DONE;
}

enum writ_crew_status
writ_crew_session_status(const struct writ_crew_session *session)
{
    return session->machine->status;
}

/* ---- calls */

WRIT_RESULT
writ_crew_session_start(struct writ_crew_session *session, struct writ_view input,
    struct writ_view task, struct writ_crew_events *ret, struct writ_crew_err *err)
{
    const struct writ_crew_limits *limits = session->machine->limits;
    writ_auto_value input_value = NULL;
    writ_auto_value task_value = NULL;

    WRIT_TRY(call_begin(session, err));
    if (session->machine->status != WRIT_CREW_IDLE) {
        return writ_failure_set(
            err, WRIT_E_INVALID, WRIT_CREW_CANNOT_START, "the session was started before");
    }
    if (input.ptr != NULL) {
        WRIT_TRY(writ_crew_value_read(input, limits, &input_value, err));
    }
    if (task.ptr != NULL) {
        WRIT_TRY(writ_crew_value_read(task, limits, &task_value, err));
    }
    writ_phase_start(session->machine, input_value, task_value);
    return writ_session_events(session, ret, err);
}

/* Reads the members of a terminal event, `output` apart; false: another event. */
static bool
read_terminal(const struct writ_json *event, uint64_t *ret_id, struct writ_terminal *ret,
    const struct writ_json **ret_output)
{
    const struct writ_json *type = writ_json_get(event, WRIT_LIT("type"));

    if (!writ_correlation_read(
            writ_json_string(writ_json_get(event, WRIT_LIT("correlationId"))), ret_id)) {
        return false;
    }
    if (writ_json_is(type, WRIT_LIT("agent.step.completed"))) {
        ret->fault = writ_json_type(writ_json_get(event, WRIT_LIT("fault"))) == WRIT_JSON_TRUE;
        ret->stalled = writ_json_type(writ_json_get(event, WRIT_LIT("stalled"))) == WRIT_JSON_TRUE;
        ret->commands = writ_json_get_typed(event, WRIT_LIT("memex_commands"), WRIT_JSON_ARRAY);
        *ret_output = writ_json_get(event, WRIT_LIT("output"));
        return true;
    }
    ret->fault = writ_json_is(type, WRIT_LIT("agent.step.failed"));
    ret->timed_out = writ_json_is(type, WRIT_LIT("agent.step.timed_out"));
    return ret->fault || ret->timed_out;
}

WRIT_RESULT
writ_session_deliver(
    struct writ_crew_session *session, struct writ_view text, struct writ_crew_err *err)
{
    const struct writ_json *event = NULL, *output = NULL;
    struct writ_terminal terminal = {0};
    writ_auto_value value = NULL;
    uint64_t id = 0;

    writ_arena_reset(session->arena);
    WRIT_TRY(
        writ_value_parse(text, session->machine->limits->event_bytes, session->arena, &event, err));
    if (writ_json_type(event) != WRIT_JSON_OBJECT) {
        return writ_failure_set(
            err, WRIT_E_PARSE, WRIT_CREW_MALFORMED, "an event is a JSON object");
    }
    if (read_terminal(event, &id, &terminal, &output)) {
        if (!writ_is_ok(writ_value_of_json(output, &value))) {
            return writ_failure_memory(err);
        }
        terminal.output = value;
        writ_phase_deliver(session->machine, id, &terminal);
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_crew_session_deliver(struct writ_crew_session *session, struct writ_view event,
    struct writ_crew_events *ret, struct writ_crew_err *err)
{
    WRIT_TRY(call_begin(session, err));
    WRIT_TRY(writ_session_deliver(session, event, err));
    return writ_session_events(session, ret, err);
}

WRIT_RESULT
writ_crew_session_tick(struct writ_crew_session *session, double now, struct writ_crew_events *ret,
    struct writ_crew_err *err)
{
    WRIT_TRY(call_begin(session, err));
    if (!__builtin_isfinite(now)) {
        return writ_failure_set(
            err, WRIT_E_INVALID, WRIT_CREW_NON_FINITE, "the time is not a finite number");
    }
    writ_phase_tick(session->machine, now);
    return writ_session_events(session, ret, err);
}

WRIT_RESULT
writ_crew_session_cancel(struct writ_crew_session *session, enum writ_crew_abort reason,
    struct writ_crew_events *ret, struct writ_crew_err *err)
{
    struct writ_machine *m = session->machine;

    WRIT_TRY(call_begin(session, err));
    if (m->status == WRIT_CREW_IDLE || m->status == WRIT_CREW_AWAITING_RESPONSES) {
        m->status = WRIT_CREW_ABORTED;
        writ_machine_phase_end(m);
        writ_event_aborted(m, reason);
    }
    return writ_session_events(session, ret, err);
}

WRIT_RESULT
writ_crew_session_request(struct writ_crew_session *session, struct writ_view from,
    struct writ_view to, enum writ_crew_action action, bool *ret_allowed,
    struct writ_crew_events *ret, struct writ_crew_err *err)
{
    bool allowed;

    WRIT_TRY(call_begin(session, err));
    if (!writ_utf8_is_valid(from, NULL) || !writ_utf8_is_valid(to, NULL)) {
        return writ_failure_set(
            err, WRIT_E_INVALID, WRIT_CREW_MALFORMED, "the id of an agent is not UTF-8");
    }
    allowed = writ_phase_request(session->machine, from, to, action);
    WRIT_TRY(writ_session_events(session, ret, err));
    *ret_allowed = allowed;
    return WRIT_DONE;
}

WRIT_RESULT
writ_crew_session_act(struct writ_crew_session *session, struct writ_view correlation_id,
    struct writ_view to, enum writ_crew_action action, bool *ret_allowed,
    struct writ_crew_events *ret, struct writ_crew_err *err)
{
    bool allowed = false;
    uint64_t id = 0;

    WRIT_TRY(call_begin(session, err));
    if (!writ_utf8_is_valid(to, NULL)) {
        return writ_failure_set(
            err, WRIT_E_INVALID, WRIT_CREW_MALFORMED, "the id of an agent is not UTF-8");
    }
    if (!writ_correlation_read(correlation_id, &id) ||
        !writ_phase_act(session->machine, id, to, action, &allowed)) {
        return writ_failure_set(
            err, WRIT_E_ABSENT, WRIT_CREW_MALFORMED, "no step with this correlation id is open");
    }
    WRIT_TRY(writ_session_events(session, ret, err));
    *ret_allowed = allowed;
    return WRIT_DONE;
}

static void
put_pending(struct writ_machine *m)
{
    if (!m->phase.running) {
        return;
    }
    for (size_t at = 0; at < m->phase.steps_n; at++) {
        if (!m->phase.steps[at].done) {
            writ_event_pending(m, &m->phase.steps[at]);
        }
    }
    for (struct writ_handle *handle = m->first; handle != NULL; handle = handle->next) {
        put_pending(handle->inner);
    }
}

WRIT_RESULT
writ_crew_session_snapshot(
    struct writ_crew_session *session, struct writ_crew_value **ret, struct writ_crew_err *err)
{
    struct writ_crew_events none;
    writ_auto_value taken = NULL;

    WRIT_TRY(call_begin(session, err));
    if (!writ_is_ok(writ_snapshot_take(session->machine, &taken))) {
        return writ_failure_memory(err);
    }
    WRIT_TRY(writ_session_events(session, &none, err)); /* a clock that fails */
    *ret = WRIT_TAKE(taken);
    return WRIT_DONE;
}

WRIT_RESULT
writ_crew_session_pending(
    struct writ_crew_session *session, struct writ_crew_events *ret, struct writ_crew_err *err)
{
    WRIT_TRY(call_begin(session, err));
    put_pending(session->machine);
    return writ_session_events(session, ret, err);
}
