/* The life of a phase (semantics 5), and crews inside crews (semantics 7, and deviations 2, 3, 7
 * and 7b of crew/README.md).
 *
 * 1. A phase is over when no step of it is in phase.ids and no nested crew of it runs. This is
 *    checked after every answer, but not while the phase begins or ends or an answer is processed
 *    (`held`).
 * 2. A nested crew counts in phase.in_flight of the phase that spawned it, once, until it ends.
 * 3. A failure half way goes to the event writer; nothing here checks it. */
#include "crew/phase.h"

#include "base/utf8.h"
#include "crew/consensual.h"
#include "crew/event.h"

static void request_step(
    struct writ_machine *m, size_t agent, struct writ_crew_value *input, size_t replaced);
static void invoke_fixer(struct writ_machine *m, size_t agent, enum writ_shape_reason reason);

static size_t
role_of(const struct writ_machine *m, size_t agent)
{
    return m->graph->agents[agent].role;
}

/* ---- what a hook asks for (semantics 9) */

void
writ_crew_control_checkpoint(struct writ_crew_control *control, struct writ_view id)
{
    if (writ_utf8_is_valid(id, NULL)) {
        writ_event_checkpoint(control->machine, id);
    }
}

bool
writ_crew_control_request(struct writ_crew_control *control, struct writ_view from,
    struct writ_view to, enum writ_crew_action action)
{
    struct writ_machine *m = control->machine;
    bool allowed = writ_crew_graph_allows(m->graph, from, to, action);

    if (!allowed && m->writer->recursion < m->limits->action_recursion &&
        writ_utf8_is_valid(from, NULL) && writ_utf8_is_valid(to, NULL)) {
        m->writer->recursion++;
        writ_phase_request(m, from, to, action);
        m->writer->recursion--;
    }
    return allowed;
}

/* ---- nested crews */

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

/* Takes the result of a nested crew that has ended. One that elected no candidate is a fault. */
static void
absorb(struct writ_machine *m, struct writ_handle *handle)
{
    size_t agent = handle->agent, replaced = handle->replaced;
    bool awaited = m->phase.running && handle->phase == m->phase.serial;
    bool held = m->phase.held, fault = handle->inner->status == WRIT_CREW_ABORTED;
    writ_auto_value output = NULL;

    if (handle->inner->status != WRIT_CREW_COMPLETED && !fault) {
        return;
    }
    output = fault ? NULL : writ_crew_value_ref(handle->inner->input);
    writ_machine_remove(m, handle);
    if (handle->hard) {
        writ_event_writer_fail(
            m->writer, m->memory.ops->import(m->memory.self, handle->memory.self));
    }
    if (awaited) {
        m->phase.in_flight--;
        writ_machine_output(
            m, (struct writ_output){.slot = replaced != WRIT_GRAPH_NONE ? replaced : agent,
                   .output = writ_crew_value_ref(output),
                   .fault = fault});
    }
    writ_machine_handle_free(handle);
    writ_event_nested_completed(m, agent, output);
    m->phase.held = true;
    writ_machine_hook(m, m->graph->agents[agent].role, WRIT_SHAPE_AFTER_AGENT,
        (struct writ_crew_hook){.agent_id = writ_machine_agent(m, agent),
            .output = writ_crew_value_text(output),
            .fault = fault,
            .stalled = -1});
    if (fault && awaited && replaced == WRIT_GRAPH_NONE) {
        invoke_fixer(m, agent, WRIT_SHAPE_REASON_FAULT);
    }
    m->phase.held = held;
    writ_phase_settle(m);
}

static void
spawn(struct writ_machine *m, size_t agent, struct writ_crew_value *input, size_t replaced)
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
    writ_event_nested_started(m, agent, writ_crew_graph_name(m->graph->roles[role].nested));
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
        writ_machine_handle_free(handle);
        return;
    }
    writ_machine_add(m, handle);
    m->phase.in_flight++;
    writ_phase_start(handle->inner, input, NULL);
    absorb(m, handle);
}

/* ---- requests */

/* The part of the agent's memory that its role selects (semantics 8). */
static struct writ_crew_value *
sample_memory(struct writ_machine *m, size_t agent)
{
    const struct writ_shape_role *role = &m->graph->shape->roles[role_of(m, agent)];
    const struct writ_crew_scope scope = {
        writ_machine_agent(m, agent), m->options.crew_id, role->name, role->memex_view};
    struct writ_crew_value *sampled = NULL;

    if (m->memory.ops == NULL || !role->memex) {
        return NULL;
    }
    writ_event_writer_fail(m->writer, m->memory.ops->retrieve(m->memory.self, &scope,
                                          writ_crew_value_text(role->retrieval), &sampled));
    return sampled;
}

static void
request_agent(struct writ_machine *m, size_t agent, struct writ_crew_value *input, size_t replaced)
{
    size_t role = role_of(m, agent);
    const struct writ_shape_role *shape = &m->graph->shape->roles[role];
    struct writ_step step = {.agent = agent, .replaced = replaced};

    writ_machine_hook(m, role, WRIT_SHAPE_BEFORE_AGENT,
        (struct writ_crew_hook){.agent_id = writ_machine_agent(m, agent),
            .input = writ_crew_value_text(input),
            .fault = -1,
            .stalled = -1});
    writ_event_writer_fail(
        m->writer, writ_correlation_id(&m->writer->scratch, m->options.crew_id, shape->name,
                       writ_machine_agent(m, agent), writ_machine_attempt(m, agent), &step.id));
    step.timeout_ms = shape->timeout_ms >= 0           ? shape->timeout_ms
                      : m->options.has_default_timeout ? m->options.default_timeout_ms
                                                       : -1;
    step.ts = writ_event_now(m);
    step.input = writ_crew_value_ref(input);
    step.role = writ_crew_value_ref(m->graph->roles[role].snapshot);
    step.memex = sample_memory(m, agent);
    writ_event_requested(m, &step, writ_event_now(m));
    writ_machine_publish(m, step.id);
    writ_event_writer_fail(m->writer, writ_machine_step(m, &step));
}

static void
request_step(struct writ_machine *m, size_t agent, struct writ_crew_value *input, size_t replaced)
{
    if (m->graph->roles[role_of(m, agent)].nested != NULL) {
        spawn(m, agent, input, replaced);
    } else {
        request_agent(m, agent, input, replaced);
    }
}

/* ---- fixers */

/* The input of a fixer (semantics 4). NULL: no memory. */
static struct writ_crew_value *
fixer_input(struct writ_machine *m, size_t slot, enum writ_shape_reason reason)
{
    const struct writ_output *last = writ_machine_output_of(m, slot);
    writ_auto_buf buf = writ_buf_make(SIZE_MAX);
    struct writ_write w = writ_write_to(&buf);
    struct writ_crew_value *input = NULL;

    w.sorted = true;
    writ_write_object_begin(&w);
    writ_write_text(&w, "failedAgentId", writ_machine_slot(m, slot));
    writ_write_text(&w, "failedRoleId", writ_machine_role(m, m->phase.role));
    writ_event_writer_value(&w, "lastOutput", last != NULL ? last->output : NULL);
    writ_write_text(&w, "reason", writ_view_str(writ_event_reason(reason)));
    writ_event_writer_value(&w, "upstreamInput", m->input);
    writ_write_object_end(&w);
    writ_event_writer_fail(m->writer, writ_write_end(&w, NULL));
    writ_event_writer_fail(m->writer, writ_value_of_text(writ_buf_view(&buf), &input));
    return input;
}

static void
invoke_fixer(struct writ_machine *m, size_t slot, enum writ_shape_reason reason)
{
    size_t fixer = m->phase.running ? m->graph->fixers[reason] : WRIT_GRAPH_NONE;
    writ_auto_value input = NULL;

    if (m->phase.role == WRIT_CONSENSUAL_POLL) {
        return; /* no agent votes for another one */
    }
    if (fixer == WRIT_GRAPH_NONE || m->phase.fixers >= m->limits->phase_fixers) {
        return;
    }
    m->phase.fixers++;
    input = fixer_input(m, slot, reason);
    writ_event_fixer(m, fixer, reason);
    request_step(m, fixer, input, slot);
}

/* An id that is not an agent's may be denied something, too; the fixer's answer then takes no vote.
 */
static void
arbitrate(struct writ_machine *m, struct writ_view from)
{
    size_t slot = 0;

    if (m->phase.running &&
        m->graph->fixers[WRIT_SHAPE_REASON_PERMISSION_DENIED] != WRIT_GRAPH_NONE) {
        writ_result found = writ_machine_slot_of(m, from, &slot);
        writ_event_writer_fail(m->writer, found);
        if (writ_is_ok(found)) {
            invoke_fixer(m, slot, WRIT_SHAPE_REASON_PERMISSION_DENIED);
        }
    }
}

bool
writ_phase_request(struct writ_machine *m, struct writ_view from, struct writ_view to,
    enum writ_crew_action action)
{
    size_t asking = writ_graph_find(m->graph, from);

    if (writ_crew_graph_allows(m->graph, from, to, action)) {
        return true;
    }
    writ_event_denied(m, from, to, action);
    if (asking != WRIT_GRAPH_NONE) {
        writ_machine_hook(m, role_of(m, asking), WRIT_SHAPE_ON_PERMISSION_DENIED,
            (struct writ_crew_hook){
                .agent_id = writ_machine_agent(m, asking), .fault = -1, .stalled = -1});
    }
    arbitrate(m, from);
    return false;
}

bool
writ_phase_act(struct writ_machine *m, uint64_t id, struct writ_view to,
    enum writ_crew_action action, bool *ret_allowed)
{
    size_t found = 0;

    if (m->status != WRIT_CREW_AWAITING_RESPONSES) {
        return false;
    }
    if (writ_idmap_get(&m->routes, id, &found)) {
        /* NOLINTNEXTLINE(performance-no-int-to-ptr): as it was put in */
        struct writ_handle *handle = (struct writ_handle *)(uintptr_t)found;
        found = writ_phase_act(handle->inner, id, to, action, ret_allowed);
        absorb(m, handle);
        return found;
    }
    if (!writ_idmap_get(&m->phase.ids, id, &found)) {
        return false;
    }
    *ret_allowed =
        writ_phase_request(m, writ_machine_agent(m, m->phase.steps[found].agent), to, action);
    return true;
}

/* ---- answers */

static void
run_commands(struct writ_machine *m, size_t agent, const struct writ_json *commands)
{
    const struct writ_crew_scope scope = {writ_machine_agent(m, agent), m->options.crew_id,
        writ_machine_role(m, role_of(m, agent)), {NULL, 0}};

    WRIT_JSON_EACH(command, commands)
    {
        writ_auto_value value = NULL;
        writ_event_writer_fail(m->writer, writ_value_of_json(command, &value));
        writ_event_command(m, agent, value);
        if (m->memory.ops != NULL && value != NULL) {
            writ_event_writer_fail(m->writer,
                m->memory.ops->apply(m->memory.self, &scope, writ_crew_value_text(value)));
        }
    }
}

static void
run_answer_hooks(
    struct writ_machine *m, size_t agent, bool fixing, const struct writ_terminal *terminal)
{
    struct writ_crew_hook hook = {.agent_id = writ_machine_agent(m, agent),
        .output = writ_crew_value_text(terminal->output),
        .fault = -1,
        .stalled = -1};
    size_t role = role_of(m, agent);

    if (!fixing && terminal->fault) {
        hook.fault = true;
        writ_machine_hook(m, role, WRIT_SHAPE_ON_FAULT, hook);
    } else if (!fixing && terminal->stalled) {
        hook.stalled = true;
        writ_machine_hook(m, role, WRIT_SHAPE_ON_STALL, hook);
    } else if (!fixing && terminal->timed_out) {
        hook.output = writ_view(NULL, 0);
        writ_machine_hook(m, role, WRIT_SHAPE_ON_TIMEOUT, hook);
    }
    hook.output = writ_crew_value_text(terminal->output);
    hook.fault = terminal->fault;
    hook.stalled = terminal->stalled;
    writ_machine_hook(m, role, WRIT_SHAPE_AFTER_AGENT, hook);
}

/* Processes an answer, from its memory commands to the fixer that it may need. */
static void
take_answer(
    struct writ_machine *m, size_t agent, size_t replaced, const struct writ_terminal *terminal)
{
    bool fixing = replaced != WRIT_GRAPH_NONE;

    m->phase.held = true; /* a nested fixer may end at once, here or in a hook */
    run_commands(m, agent, terminal->commands);
    writ_machine_output(
        m, (struct writ_output){fixing ? replaced : agent, writ_crew_value_ref(terminal->output),
               terminal->fault || terminal->timed_out, true, terminal->stalled});
    run_answer_hooks(m, agent, fixing, terminal);
    if (!fixing && (terminal->fault || terminal->stalled || terminal->timed_out)) {
        invoke_fixer(m, agent,
            terminal->timed_out ? WRIT_SHAPE_REASON_TIMEOUT
            : terminal->stalled ? WRIT_SHAPE_REASON_STALL
                                : WRIT_SHAPE_REASON_FAULT);
    }
    m->phase.held = false;
}

void
writ_phase_deliver(struct writ_machine *m, uint64_t id, const struct writ_terminal *terminal)
{
    size_t found = 0;

    if (m->status != WRIT_CREW_AWAITING_RESPONSES) {
        return;
    }
    if (writ_idmap_get(&m->routes, id, &found)) {
        /* NOLINTNEXTLINE(performance-no-int-to-ptr): as it was put in */
        struct writ_handle *handle = (struct writ_handle *)(uintptr_t)found;
        writ_idmap_remove(&m->routes, id);
        writ_idmap_remove(&handle->ids, id);
        writ_phase_deliver(handle->inner, id, terminal);
        absorb(m, handle);
    } else if (writ_idmap_get(&m->phase.ids, id, &found)) {
        size_t agent = m->phase.steps[found].agent, replaced = m->phase.steps[found].replaced;
        writ_machine_step_done(m, &m->phase.steps[found]);
        take_answer(m, agent, replaced, terminal);
        writ_phase_settle(m);
    }
}

/* ---- phases */

/* The vote of the running phase. NULL: no value. */
static struct writ_crew_value *
count_votes(struct writ_machine *m)
{
    const struct writ_graph_role *role = &m->graph->roles[m->phase.role];
    struct writ_crew_entry *entries = writ_alloc(role->count * sizeof *entries);
    struct writ_crew_verdict verdict = {0};
    struct writ_crew_value *value = NULL;
    size_t n = 0;

    for (size_t agent = role->first; entries != NULL && agent < role->first + role->count;
         agent++) {
        const struct writ_output *output = writ_machine_output_of(m, agent);
        if (output != NULL) {
            entries[n++] = (struct writ_crew_entry){writ_machine_agent(m, agent), role->shape->name,
                writ_crew_value_text(output->output), output->fault,
                output->has_stalled && output->stalled};
        }
    }
    if (entries == NULL) {
        writ_event_writer_fail(m->writer, (writ_result){WRIT_E_NOMEM});
    } else {
        writ_result counted = writ_crew_vote(
            &role->shape->voting, m->graph->engines, entries, n, role->count, &verdict, NULL);
        if (counted.code != WRIT_E_INVALID) { /* ballots that cannot be counted: no value */
            writ_event_writer_fail(m->writer, counted);
        }
        value = writ_crew_value_ref(verdict.value);
    }
    writ_crew_verdict_wipe(&verdict);
    writ_free(entries);
    return value;
}

static void
take_checkpoints(struct writ_machine *m)
{
    const struct writ_shape_role *role = &m->graph->shape->roles[m->phase.role];

    for (size_t at = 0; at < role->checkpoints.n; at++) {
        writ_event_checkpoint(m, role->checkpoints.list[at]);
        writ_machine_hook(m, m->phase.role, WRIT_SHAPE_ON_CHECKPOINT,
            (struct writ_crew_hook){.fault = -1, .stalled = -1});
    }
    if (m->options.auto_checkpoint) {
        writ_auto_buf id = writ_buf_make(SIZE_MAX);
        writ_buf_str(&id, "phase:");
        writ_buf_put(&id, role->name);
        writ_buf_byte(&id, ':');
        writ_buf_i64(&id, m->phase_index);
        writ_event_writer_fail(m->writer, writ_buf_check(&id, NULL));
        writ_event_checkpoint(m, writ_buf_view(&id));
    }
}

static void
resolve_phase(struct writ_machine *m)
{
    struct writ_crew_value *value = count_votes(m);

    m->phase.held = true;
    writ_event_resolved(m, m->phase.role, value);
    writ_machine_hook(m, m->phase.role, WRIT_SHAPE_AFTER_ROLE,
        (struct writ_crew_hook){.output = writ_crew_value_text(value), .fault = -1, .stalled = -1});
    take_checkpoints(m);
    writ_value_replace(&m->input, value);
}

static bool
is_drained(const struct writ_machine *m)
{
    return m->phase.ids.live == 0 && m->phase.in_flight == 0; /* keeps (1) */
}

static void
open_phase(struct writ_machine *m, size_t role)
{
    const struct writ_graph_role *agents = &m->graph->roles[role];

    writ_machine_phase_begin(m, role);
    m->phase.held = true;
    writ_event_entered(m, role);
    writ_machine_hook(m, role, WRIT_SHAPE_BEFORE_ROLE,
        (struct writ_crew_hook){
            .input = writ_crew_value_text(m->input), .fault = -1, .stalled = -1});
    for (size_t at = 0; at < agents->count && m->writer->failed == WRIT_E_UNSET; at++) {
        request_step(m, agents->first + at, m->input, WRIT_GRAPH_NONE);
    }
    m->phase.held = false;
}

/* ---- the consensual process */

static void
abort_undecided(struct writ_machine *m)
{
    if (m->writer->failed == WRIT_E_UNSET) {
        m->status = WRIT_CREW_ABORTED;
        writ_machine_phase_end(m);
        writ_event_aborted(m, WRIT_CREW_UNDECIDED);
    }
}

/* Asks every candidate for a ranking of the others. */
static void
open_poll(struct writ_machine *m, const struct writ_consensual_task *task)
{
    writ_auto_value value = NULL;

    writ_machine_phase_begin(m, WRIT_CONSENSUAL_POLL);
    m->phase.held = true;
    writ_event_writer_fail(m->writer, writ_value_of_json(task->value, &value));
    writ_event_poll(m, value);
    for (size_t at = 0; at < m->graph->candidates_n && m->writer->failed == WRIT_E_UNSET; at++) {
        writ_auto_value question = NULL;
        writ_event_writer_fail(m->writer, writ_consensual_ballot(m, task, at, &question));
        if (question != NULL) {
            request_step(m, m->graph->candidates[at], question, WRIT_GRAPH_NONE);
        }
    }
    m->phase.held = false;
}

/* The phase that only one agent can do: that of a handler which the task names, or of the only
 * candidate. WRIT_GRAPH_NONE: the candidates choose. */
static size_t
find_handler(const struct writ_machine *m, const struct writ_consensual_task *task)
{
    if (task->handler.ptr != NULL) {
        return writ_shape_find(m->graph->shape, task->handler);
    }
    return m->graph->candidates_n == 1 ? m->graph->agents[m->graph->candidates[0]].role
                                       : WRIT_GRAPH_NONE;
}

/* The elected role does the task. */
static void
open_work(struct writ_machine *m)
{
    writ_auto_arena arena = writ_value_arena(writ_crew_value_text(m->task).len);
    struct writ_consensual_task task = {0};
    struct writ_crew_value *input = NULL;
    writ_result made =
        arena != NULL ? writ_consensual_task(m, arena, &task) : (writ_result){WRIT_E_NOMEM};

    if (writ_is_ok(made)) {
        made = writ_consensual_input(m, &task, &input);
    }
    writ_event_writer_fail(m->writer, made);
    if (input != NULL) {
        writ_value_replace(&m->input, input);
        open_phase(m, m->elected);
    }
}

/* Begins a task: with a poll, or without one when its handler is known. */
static void
open_task(struct writ_machine *m)
{
    writ_auto_arena arena = writ_value_arena(writ_crew_value_text(m->task).len);
    struct writ_consensual_task task = {0};
    writ_result read =
        arena != NULL ? writ_consensual_task(m, arena, &task) : (writ_result){WRIT_E_NOMEM};

    writ_event_writer_fail(m->writer, read);
    if (!writ_is_ok(read)) {
        return;
    }
    writ_machine_phase_end(m);
    m->elected = find_handler(m, &task);
    if (m->elected == WRIT_GRAPH_NONE) {
        open_poll(m, &task);
    } else if (m->elected == m->graph->shape->roles_n || m->graph->roles[m->elected].count == 0) {
        writ_event_undecided(m, writ_view_str(writ_crew_error_name(WRIT_CREW_UNKNOWN_ROLE)),
            WRIT_LIT("the handler of the task is not a role with an agent"));
        abort_undecided(m);
    } else {
        writ_event_elected(m, m->graph->roles[m->elected].first,
            task.handler.ptr != NULL ? writ_view(NULL, 0) : WRIT_LIT("the only candidate"));
    }
}

static void
close_poll(struct writ_machine *m)
{
    m->phase.held = true;
    if (!writ_consensual_elect(m, &m->elected)) {
        abort_undecided(m);
    }
}

/* ---- from phase to phase */

static bool
goes_on(const struct writ_machine *m)
{
    return m->status == WRIT_CREW_AWAITING_RESPONSES && m->writer->failed == WRIT_E_UNSET;
}

/* Ends the phase that has nothing to wait for. A task with a known handler had none. */
static void
close_phase(struct writ_machine *m)
{
    if (!m->phase.running) {
        return;
    }
    if (m->phase.role == WRIT_CONSENSUAL_POLL) {
        close_poll(m);
    } else {
        resolve_phase(m);
    }
}

static void
enter_phase(struct writ_machine *m)
{
    if (++m->phase_index == (ptrdiff_t)writ_consensual_phases(m)) {
        writ_machine_phase_end(m);
        m->status = WRIT_CREW_COMPLETED;
        writ_event_completed(m);
    } else if (!m->graph->consensual) {
        open_phase(m, m->graph->phases[m->phase_index]);
    } else if (m->phase_index % 2 == 0) {
        open_task(m);
    } else {
        open_work(m);
    }
}

/* Enters phases until one of them has something to wait for, or none is left. */
static void
enter_phases(struct writ_machine *m)
{
    while (goes_on(m)) {
        enter_phase(m);
        if (!goes_on(m) || !is_drained(m)) {
            return;
        }
        close_phase(m);
    }
}

void
writ_phase_settle(struct writ_machine *m)
{
    if (m->phase.running && !m->phase.held && is_drained(m) && m->writer->failed == WRIT_E_UNSET) {
        close_phase(m);
        enter_phases(m);
    }
}

/* What a nested crew is given is its task: one, whatever the value is. */
static WRIT_RESULT
take_tasks(struct writ_machine *m)
{
    m->tasks_n = 1;
    if (m->task != NULL) {
        return writ_consensual_count(m);
    }
    m->task = m->input;
    m->input = NULL;
    return WRIT_DONE;
}

void
writ_phase_start(
    struct writ_machine *m, struct writ_crew_value *input, struct writ_crew_value *task)
{
    m->status = WRIT_CREW_AWAITING_RESPONSES;
    writ_value_replace(&m->input, writ_crew_value_ref(input));
    writ_value_replace(&m->task, writ_crew_value_ref(task));
    writ_event_started(m, task);
    if (m->graph->consensual) {
        writ_event_writer_fail(m->writer, take_tasks(m));
    }
    enter_phases(m);
}

/* ---- time */

static bool
expire_own(struct writ_machine *m, double now)
{
    size_t n = m->phase.steps_n; /* requests that are added meanwhile are not visited */
    bool any = false;

    for (size_t at = 0; at < n; at++) {
        struct writ_step *step = &m->phase.steps[at];
        const struct writ_terminal terminal = {.timed_out = true};
        size_t agent = step->agent, replaced = step->replaced;

        if (step->done || step->timeout_ms < 0 || step->ts + step->timeout_ms > now) {
            continue;
        }
        any = true;
        writ_event_timed_out(m, step->id, now);
        writ_machine_step_done(m, step);
        take_answer(m, agent, replaced, &terminal);
    }
    return any;
}

void
writ_phase_tick(struct writ_machine *m, double now)
{
    uint64_t last = m->handle_serial; /* crews that are added meanwhile are not visited */

    if (m->status != WRIT_CREW_AWAITING_RESPONSES) {
        return;
    }
    if (expire_own(m, now)) {
        writ_phase_settle(m);
    }
    for (struct writ_handle *handle = m->first, *next;
         handle != NULL && handle->serial <= last && m->status == WRIT_CREW_AWAITING_RESPONSES;
         handle = next) {
        next = handle->next;
        writ_phase_tick(handle->inner, now);
        absorb(m, handle);
    }
}
