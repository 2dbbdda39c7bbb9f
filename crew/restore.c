/* Reads snapshots (semantics 12). A snapshot may come from anywhere: every name in it is looked up,
 * every number checked, and a value that does not fit the graph is refused. */
#include "crew/consensual.h"
#include "crew/names.h"
#include "crew/machine.h"
#include "crew/snapshot.h"
#include "crew/vec.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#define REFUSED_MAX  256
#define ATTEMPTS_MAX 1000000000 /* of one agent */

/** The state of a restore: the machine, and the place for its error. */
struct restore {
    struct writ_machine *m;
    struct writ_crew_err *err;
};

/* Names the crew of the snapshot by its crew id in the error. */
static writ_result __attribute__((format(printf, 2, 3)))
refuse(const struct restore *r, const char *fmt, ...)
{
    char what[REFUSED_MAX];
    va_list args;

    va_start(args, fmt);
    (void)vsnprintf(what, sizeof what, fmt, args); /* cut where it is too long */
    va_end(args);
    return writ_failure_set(r->err, WRIT_E_PARSE, WRIT_CREW_MALFORMED,
        "snapshot of crew " WRIT_VIEW_FMT ": %s", WRIT_VIEW_ARG(r->m->options.crew_id), what);
}

static writ_result
exhausted(const struct restore *r)
{
    return writ_failure_memory(r->err);
}

/* ---- pieces */

static WRIT_RESULT
read_agent(const struct restore *r, const struct writ_json *value, size_t *ret)
{
    size_t agent = writ_json_type(value) == WRIT_JSON_STRING
                       ? writ_graph_find(r->m->graph, writ_json_string(value))
                       : WRIT_GRAPH_NONE;

    if (agent == WRIT_GRAPH_NONE) {
        return refuse(r, "it names an agent that the crew does not have");
    }
    *ret = agent;
    return WRIT_DONE;
}

/* The slot of an agent, or of a stranger who was denied something. */
static WRIT_RESULT
read_slot(const struct restore *r, const struct writ_json *value, size_t *ret)
{
    if (writ_json_type(value) != WRIT_JSON_STRING) {
        return refuse(r, "a slot has no name");
    }
    return writ_is_ok(writ_machine_slot_of(r->m, writ_json_string(value), ret)) ? WRIT_DONE
                                                                                : exhausted(r);
}

static WRIT_RESULT
read_id(const struct restore *r, const struct writ_json *value, uint64_t *ret)
{
    return writ_correlation_read(writ_json_string(value), ret)
               ? WRIT_DONE
               : refuse(r, "a correlation id is 16 hex digits");
}

static WRIT_RESULT
read_number(const struct restore *r, const struct writ_json *request, const char *member,
    double least, double *ret)
{
    const struct writ_json *value = writ_json_get(request, writ_view_str(member));

    if (writ_json_type(value) != WRIT_JSON_NUMBER || value->number < least) {
        return refuse(r, "the %s of a pending request is missing, no number or too small", member);
    }
    *ret = value->number;
    return WRIT_DONE;
}

/* A member's value, or the absent one. */
static WRIT_RESULT
read_value(const struct restore *r, const struct writ_json *object, const char *member,
    struct writ_crew_value **ret)
{
    return writ_is_ok(writ_value_of_json(writ_json_get(object, writ_view_str(member)), ret))
               ? WRIT_DONE
               : exhausted(r);
}

static WRIT_RESULT
read_array(const struct restore *r, const struct writ_json *object, const char *member,
    const struct writ_json **ret)
{
    const struct writ_json *value = writ_json_get(object, writ_view_str(member));

    if (writ_json_type(value) != WRIT_JSON_ARRAY) {
        return refuse(r, "%s is missing, or no list", member);
    }
    *ret = value;
    return WRIT_DONE;
}

/* The two elements of a pair. */
static WRIT_RESULT
read_pair(const struct restore *r, const struct writ_json *pair, const struct writ_json **ret_one,
    const struct writ_json **ret_other)
{
    if (writ_json_type(pair) != WRIT_JSON_ARRAY || pair->count != 2) {
        return refuse(r, "a pair has two elements");
    }
    *ret_one = writ_json_first(pair);
    *ret_other = writ_json_next(pair, *ret_one);
    return WRIT_DONE;
}

/* ---- the phase */

static WRIT_RESULT
restore_attempts(const struct restore *r, const struct writ_json *snapshot)
{
    const struct writ_json *list = NULL, *agent = NULL, *count = NULL;
    struct writ_machine *m = r->m;

    WRIT_TRY(read_array(r, snapshot, "agentAttempts", &list));
    WRIT_JSON_EACH(pair, list)
    {
        size_t at = 0;
        int64_t attempts = 0;
        WRIT_TRY(read_pair(r, pair, &agent, &count));
        WRIT_TRY(read_agent(r, agent, &at));
        if (!writ_is_ok(writ_json_integer(count, 1, ATTEMPTS_MAX, &attempts)) ||
            m->attempts[at] != 0) {
            return refuse(r, "the attempts of an agent are not a count, or are listed twice");
        }
        m->attempts[at] = (uint32_t)attempts;
        m->attempted[m->attempted_n++] = at;
    }
    return WRIT_DONE;
}

/* Answered fixer steps are needed only because a later snapshot lists them again: those from
 * `*next` on, up to the one called `id`. */
static WRIT_RESULT
restore_done(
    const struct restore *r, const struct writ_idmap *fixers, size_t *next, const uint64_t *id)
{
    for (; *next < fixers->n && (id == NULL || fixers->list[*next].id != *id); ++*next) {
        struct writ_step step = {.id = fixers->list[*next].id,
            .agent = 0, /* an answered step keeps none */
            .replaced = fixers->list[*next].value,
            .timeout_ms = -1,
            .done = true};
        if (!writ_is_ok(writ_machine_step(r->m, &step))) {
            return exhausted(r);
        }
        writ_idmap_remove(&r->m->phase.ids, step.id);
    }
    *next += *next < fixers->n;
    return WRIT_DONE;
}

static WRIT_RESULT
restore_step(const struct restore *r, const struct writ_json *pending,
    const struct writ_idmap *fixers, size_t *next)
{
    const struct writ_json *request = writ_json_get(pending, WRIT_LIT("request"));
    const struct writ_json *timeout = writ_json_get(request, WRIT_LIT("timeoutMs"));
    struct writ_step step = {.replaced = WRIT_GRAPH_NONE, .timeout_ms = -1};
    writ_auto_value input = NULL;
    writ_auto_value memex = NULL;
    writ_auto_value role = NULL;

    WRIT_TRY(read_id(r, writ_json_get(request, WRIT_LIT("correlationId")), &step.id));
    WRIT_TRY(read_agent(r, writ_json_get(request, WRIT_LIT("agentId")), &step.agent));
    WRIT_TRY(read_number(r, request, "ts", -HUGE_VAL, &step.ts));
    if (timeout != NULL) {
        WRIT_TRY(read_number(r, request, "timeoutMs", 0, &step.timeout_ms));
    }
    if (writ_idmap_get(&r->m->phase.ids, step.id, NULL)) {
        return refuse(r, "a correlation id stands there twice");
    }
    WRIT_TRY(read_value(r, pending, "input", &input));
    WRIT_TRY(read_value(r, pending, "memexContext", &memex));
    WRIT_TRY(read_value(r, pending, "roleSnapshot", &role));
    if (role == NULL) {
        return refuse(r, "a pending step has no role");
    }
    if (writ_idmap_get(fixers, step.id, &step.replaced)) {
        WRIT_TRY(restore_done(r, fixers, next, &step.id));
    }
    step.input = WRIT_TAKE(input);
    step.memex = WRIT_TAKE(memex);
    step.role = WRIT_TAKE(role);
    return writ_is_ok(writ_machine_step(r->m, &step)) ? WRIT_DONE : exhausted(r);
}

static WRIT_RESULT
restore_output(const struct restore *r, const struct writ_json *pair)
{
    const struct writ_json *slot = NULL, *value = NULL, *stalled;
    struct writ_output output = {0};

    WRIT_TRY(read_pair(r, pair, &slot, &value));
    WRIT_TRY(read_slot(r, slot, &output.slot));
    if (r->m->slots[output.slot].phase == r->m->phase.serial) {
        return refuse(r, "an output stands there twice");
    }
    stalled = writ_json_get(value, WRIT_LIT("stalled"));
    output.fault = writ_json_type(writ_json_get(value, WRIT_LIT("fault"))) == WRIT_JSON_TRUE;
    output.has_stalled = stalled != NULL;
    output.stalled = writ_json_type(stalled) == WRIT_JSON_TRUE;
    WRIT_TRY(read_value(r, value, "output", &output.output));
    writ_machine_output(r->m, output);
    return WRIT_DONE;
}

static WRIT_RESULT
restore_seen(const struct restore *r, const struct writ_json *list)
{
    struct writ_phase *phase = &r->m->phase;

    WRIT_JSON_EACH(value, list)
    {
        uint64_t id = 0;
        WRIT_TRY(read_id(r, value, &id));
        if (!writ_is_ok(writ_vec_room(&phase->seen, &phase->seen_cap, phase->seen_n, sizeof id))) {
            return exhausted(r);
        }
        phase->seen[phase->seen_n++] = id;
    }
    return WRIT_DONE;
}

/* Which step replaces which agent, in order. find_replaced handles ids of nested crews. */
static WRIT_RESULT
read_fixers(const struct restore *r, const struct writ_json *phase, struct writ_idmap *ret)
{
    const struct writ_json *list = NULL, *step = NULL, *agent = NULL;

    WRIT_TRY(read_array(r, phase, "fixerSteps", &list));
    WRIT_JSON_EACH(pair, list)
    {
        size_t replaced = 0;
        uint64_t id = 0;
        WRIT_TRY(read_pair(r, pair, &step, &agent));
        WRIT_TRY(read_slot(r, agent, &replaced));
        if (writ_correlation_read(writ_json_string(step), &id) &&
            !writ_is_ok(writ_idmap_put(ret, id, replaced))) {
            return exhausted(r);
        }
    }
    return WRIT_DONE;
}

static WRIT_RESULT
restore_steps(const struct restore *r, const struct writ_json *phase)
{
    WRIT_AUTO(struct writ_idmap, writ_idmap_wipe) fixers = {0};
    const struct writ_json *list = NULL;
    size_t next = 0;

    WRIT_TRY(read_fixers(r, phase, &fixers));
    WRIT_TRY(read_array(r, phase, "pending", &list));
    WRIT_JSON_EACH(pending, list)
    {
        WRIT_TRY(restore_step(r, pending, &fixers, &next));
    }
    r->m->phase.fixers = fixers.n;
    return restore_done(r, &fixers, &next, NULL);
}

/* The role of the present phase, which the snapshot names. */
static bool
find_phase(const struct writ_machine *m, struct writ_view name, size_t *ret)
{
    bool poll = m->graph->consensual && m->phase_index % 2 == 0;

    if (poll) {
        *ret = WRIT_CONSENSUAL_POLL;
        return name.ptr != NULL && name.len == 0;
    }
    *ret = m->graph->consensual ? writ_shape_find(m->graph->shape, name)
                                : m->graph->phases[m->phase_index];
    return *ret < m->graph->shape->roles_n &&
           writ_view_equal(m->graph->shape->roles[*ret].name, name);
}

static WRIT_RESULT
restore_phase(const struct restore *r, const struct writ_json *phase)
{
    const struct writ_json *list = NULL;
    struct writ_machine *m = r->m;
    size_t role = WRIT_GRAPH_NONE;

    if (!find_phase(m, writ_json_string(writ_json_get(phase, WRIT_LIT("roleId"))), &role)) {
        return refuse(r, "the phase is of another role than the shape has at its place");
    }
    writ_machine_phase_begin(m, role);
    WRIT_TRY(restore_steps(r, phase));
    WRIT_TRY(read_array(r, phase, "outputs", &list));
    WRIT_JSON_EACH(pair, list)
    {
        WRIT_TRY(restore_output(r, pair));
    }
    WRIT_TRY(read_array(r, phase, "terminalSeen", &list));
    return restore_seen(r, list);
}

/* ---- nested crews */

/** The nested crews of the phase, by their inner crew ids. */
struct waits {
    struct writ_names pending; /* those that the phase waits for */
    struct writ_names fixers;
    const struct writ_json **replaced; /* by fixer: the agent that it replaces */
};

static WRIT_RESULT
read_waits(const struct restore *r, const struct writ_json *phase, struct writ_arena *arena,
    struct waits *ret)
{
    const struct writ_json *pending =
        writ_json_get_typed(phase, WRIT_LIT("nestedPending"), WRIT_JSON_ARRAY);
    const struct writ_json *fixers =
        writ_json_get_typed(phase, WRIT_LIT("fixerSteps"), WRIT_JSON_ARRAY);
    size_t most = (pending != NULL ? pending->count : 0) + (fixers != NULL ? fixers->count : 0);
    struct writ_view *ids = writ_arena_get(arena, (most + 1) * sizeof *ids);
    size_t n = 0, first;

    ret->replaced = writ_arena_get(arena, (most + 1) * sizeof(const struct writ_json *));
    if (ids == NULL || ret->replaced == NULL) {
        return exhausted(r);
    }
    WRIT_JSON_EACH(id, pending)
    {
        ids[n++] = writ_json_string(id);
    }
    first = n;
    WRIT_JSON_EACH(pair, fixers)
    {
        const struct writ_json *step = NULL, *agent = NULL;
        WRIT_TRY(read_pair(r, pair, &step, &agent));
        ret->replaced[n - first] = agent;
        ids[n++] = writ_json_string(step);
    }
    return writ_is_ok(writ_names_make(&ret->pending, ids, first, arena)) &&
                   writ_is_ok(writ_names_make(&ret->fixers, ids + first, n - first, arena))
               ? WRIT_DONE
               : exhausted(r);
}

/* Finds the agent that a nested crew replaces, when it is a fixer. */
static WRIT_RESULT
find_replaced(
    const struct restore *r, const struct waits *waits, struct writ_view inner_id, size_t *ret)
{
    size_t at = writ_names_find(&waits->fixers, inner_id);

    *ret = WRIT_GRAPH_NONE;
    return at < waits->fixers.n ? read_slot(r, waits->replaced[at], ret) : WRIT_DONE;
}

static WRIT_RESULT
restore_inner(const struct restore *r, struct writ_handle *handle, const struct writ_json *entry)
{
    const struct writ_json *inner = writ_json_get(entry, WRIT_LIT("innerSnapshot"));
    const struct writ_json *memory = writ_json_get(entry, WRIT_LIT("innerAdapterSnapshot"));
    struct writ_machine *m = r->m;
    const struct writ_graph_role *role = &m->graph->roles[m->graph->agents[handle->agent].role];
    struct writ_crew_options options = m->options;

    options.crew_id = writ_json_string(writ_json_get(inner, WRIT_LIT("crewId")));
    if (options.crew_id.len == 0) {
        return refuse(r, "a nested crew has no crew id");
    }
    handle->memory = m->memory;
    if (m->memory.ops != NULL && role->shape->memex_hard) {
        writ_auto_value value = NULL;
        handle->memory.self = NULL;
        handle->hard = true;
        if (memory == NULL) {
            return writ_failure_set(r->err, WRIT_E_INVALID, WRIT_CREW_CANNOT_RESTORE_NESTED,
                "the memory of a nested crew is not in the snapshot");
        }
        writ_result restored = writ_value_of_json(memory, &value);
        if (writ_is_ok(restored)) {
            restored = m->memory.ops->restore(
                m->memory.self, writ_crew_value_text(value), options.crew_id, &handle->memory.self);
        }
        if (!writ_is_ok(restored)) {
            return restored.code == WRIT_E_NOMEM
                       ? exhausted(r)
                       : refuse(r, "the memory of nested crew " WRIT_VIEW_FMT " cannot be restored",
                             WRIT_VIEW_ARG(options.crew_id));
        }
    }
    if (!writ_is_ok(
            writ_machine_new(&options, role->nested, handle->memory, m->writer, &handle->inner))) {
        return exhausted(r);
    }
    return writ_snapshot_restore(handle->inner, inner, r->err);
}

static void
handle_freep(struct writ_handle **handle)
{
    writ_machine_handle_free(*handle);
}

static WRIT_RESULT
restore_ids(const struct restore *r, struct writ_handle *handle, const struct writ_json *entry)
{
    const struct writ_json *list = NULL;

    WRIT_TRY(read_array(r, entry, "innerCids", &list));
    WRIT_JSON_EACH(value, list)
    {
        uint64_t id = 0;
        WRIT_TRY(read_id(r, value, &id));
        if (!writ_is_ok(writ_idmap_put(&handle->ids, id, 0)) ||
            !writ_is_ok(writ_idmap_put(&r->m->routes, id, (size_t)(uintptr_t)handle))) {
            return exhausted(r);
        }
    }
    return WRIT_DONE;
}

static WRIT_RESULT
restore_handle(const struct restore *r, const struct writ_json *entry, const struct waits *waits)
{
    WRIT_AUTO(struct writ_handle *, handle_freep) handle = writ_alloc(sizeof *handle);
    struct writ_machine *m = r->m;
    struct writ_handle *added;

    if (handle == NULL) {
        return exhausted(r);
    }
    handle->agent =
        writ_graph_find(m->graph, writ_json_string(writ_json_get(entry, WRIT_LIT("outerAgentId"))));
    if (handle->agent == WRIT_GRAPH_NONE ||
        m->graph->roles[m->graph->agents[handle->agent].role].nested == NULL) {
        return writ_failure_set(r->err, WRIT_E_INVALID, WRIT_CREW_CANNOT_RESTORE_NESTED,
            "an agent with a nested crew is gone, or nests none any more");
    }
    WRIT_TRY(restore_inner(r, handle, entry));
    WRIT_TRY(find_replaced(r, waits, handle->inner->options.crew_id, &handle->replaced));
    if (handle->inner->status == WRIT_CREW_AWAITING_RESPONSES &&
        writ_names_find(&waits->pending, handle->inner->options.crew_id) < waits->pending.n) {
        handle->phase = m->phase.serial;
        m->phase.in_flight++;
        m->phase.fixers += handle->replaced != WRIT_GRAPH_NONE;
    }
    added = handle;
    writ_machine_add(m, WRIT_TAKE(handle));
    return restore_ids(r, added, entry);
}

static WRIT_RESULT
restore_nested(
    const struct restore *r, const struct writ_json *snapshot, const struct writ_json *phase)
{
    writ_auto_arena arena = writ_arena_new(SIZE_MAX);
    const struct writ_json *list = NULL;
    struct waits waits = {0};

    if (arena == NULL) {
        return exhausted(r);
    }
    WRIT_TRY(read_array(r, snapshot, "nested", &list));
    WRIT_TRY(read_waits(r, phase, arena, &waits));
    WRIT_JSON_EACH(entry, list)
    {
        WRIT_TRY(restore_handle(r, entry, &waits));
    }
    return WRIT_DONE;
}

/* ---- the machine */

static WRIT_RESULT
restore_status(const struct restore *r, const struct writ_json *snapshot)
{
    const struct writ_json *status = writ_json_get(snapshot, WRIT_LIT("status"));
    struct writ_machine *m = r->m;
    ptrdiff_t phases = (ptrdiff_t)writ_consensual_phases(m);
    int64_t index = 0;

    for (size_t at = WRIT_CREW_IDLE; at <= WRIT_CREW_ABORTED; at++) {
        if (writ_json_is(status, writ_view_str(writ_crew_status_name((enum writ_crew_status)at)))) {
            m->status = (enum writ_crew_status)at;
            status = NULL;
        }
    }
    if (status != NULL ||
        !writ_is_ok(writ_json_integer(
            writ_json_get(snapshot, WRIT_LIT("phaseIndex")), -1, phases, &index))) {
        return refuse(r, "no status or no phase that this crew can be in");
    }
    m->phase_index = (ptrdiff_t)index;
    if ((m->status == WRIT_CREW_AWAITING_RESPONSES && (index < 0 || index == phases)) ||
        (m->status == WRIT_CREW_IDLE && index != -1) ||
        (m->status == WRIT_CREW_COMPLETED && index != phases)) {
        return refuse(r, "the phase does not go with the status");
    }
    return WRIT_DONE;
}

static WRIT_RESULT
restore_tasks(const struct restore *r, const struct writ_json *snapshot)
{
    struct writ_machine *m = r->m;

    m->tasks_n = 1;
    return m->graph->consensual && writ_json_is_true(snapshot, WRIT_LIT("tasksListed")) &&
                   !writ_is_ok(writ_consensual_count(m))
               ? exhausted(r)
               : WRIT_DONE;
}

WRIT_RESULT
writ_snapshot_restore(
    struct writ_machine *m, const struct writ_json *snapshot, struct writ_crew_err *err)
{
    const struct restore r = {m, err};
    const struct writ_json *phase = writ_json_get(snapshot, WRIT_LIT("currentPhase"));

    if (!writ_json_is(writ_json_get(snapshot, WRIT_LIT("schema_version")), WRIT_LIT("1.0"))) {
        return refuse(&r, "schema_version is not 1.0");
    }
    if (!writ_json_is(writ_json_get(snapshot, WRIT_LIT("crewId")), m->options.crew_id)) {
        return writ_failure_set(
            err, WRIT_E_INVALID, WRIT_CREW_CREW_ID_MISMATCH, "the snapshot is of another crew");
    }
    WRIT_TRY(read_value(&r, snapshot, "task", &m->task));
    WRIT_TRY(restore_tasks(&r, snapshot));
    WRIT_TRY(restore_status(&r, snapshot));
    WRIT_TRY(restore_attempts(&r, snapshot));
    WRIT_TRY(read_value(&r, snapshot, "currentInput", &m->input));
    if ((m->status == WRIT_CREW_AWAITING_RESPONSES) !=
        (writ_json_type(phase) == WRIT_JSON_OBJECT)) {
        return refuse(&r, "a crew has a phase exactly while it awaits responses");
    }
    if (m->status == WRIT_CREW_AWAITING_RESPONSES) {
        WRIT_TRY(restore_phase(&r, phase));
    }
    WRIT_TRY(restore_nested(&r, snapshot, phase));
    if (m->phase.running && m->phase.ids.live == 0 && m->phase.in_flight == 0) {
        return refuse(&r, "a crew that awaits responses waits for nothing");
    }
    return m->writer->failed == WRIT_E_UNSET ? WRIT_DONE : exhausted(&r);
}
