/* A small crew that offers every kind of event, and the checks after each call. A check that fails
 * aborts, so a fuzzer reports it. */
#include "support/crew/crewkit.h"

#include "base/text.h"

const char writ_crewkit_shape[] =
    "{\"schema_version\":\"1.0\",\"name\":\"C\",\"roles\":["
    "{\"role\":\"a\",\"permissions\":{\"talk_to\":[\"w\"]},\"first_input\":true,\"amount\":1},"
    "{\"role\":\"w\",\"permissions\":{},\"amount\":2,\"execution\":{\"timeout_ms\":5,"
    "\"memex\":{\"view\":\"all\",\"retrieval\":{\"weights\":{\"importance\":1}}},"
    "\"voting\":{\"mode\":\"weighted_consensus\"}}},"
    "{\"role\":\"t\",\"permissions\":{},\"amount\":1,\"nested_crew\":\"inner\","
    "\"execution\":{\"memex\":{\"isolation\":\"hard\"}}},"
    "{\"role\":\"f\",\"permissions\":{},\"amount\":1,\"activation\":{\"on_fault\":true,"
    "\"on_timeout\":true}},"
    "{\"role\":\"z\",\"permissions\":{},\"final_output\":true,\"amount\":1}]}";
const char writ_crewkit_agents[] =
    "{\"schema_version\":\"1.0\",\"name\":\"C\",\"agents\":[{\"role\":\"w\",\"amount\":2}]}";

static const char inner_shape[] =
    "{\"schema_version\":\"1.0\",\"name\":\"IN\",\"roles\":["
    "{\"role\":\"r\",\"permissions\":{},\"first_input\":true,\"final_output\":true,\"amount\":1}]}";

const struct writ_crew_limits writ_crewkit_limits = {
    .text_bytes = 1 << 16,
    .event_bytes = 1 << 14,
    .crew_roles = 50,
    .role_agents = 50,
    .crew_agents = 200,
    .nesting = 3,
    .phase_fixers = 20,
    .action_recursion = 4,
    .snapshot_bytes = 1 << 16,
};

static double
clock_now(void *user)
{
    return *(const double *)user;
}

/* ---- a crew */

static bool
read_shape(struct writ_view text, struct writ_crew_shape **ret)
{
    struct writ_crew_findings *faults = writ_crew_findings_new();
    writ_result read = writ_crew_shape_read(text, &writ_crewkit_limits, faults, ret, NULL);

    WRIT_INVARIANT((read.code == WRIT_E_INVALID) == (writ_crew_findings_count(faults) > 0));
    writ_crew_findings_free(faults);
    return writ_is_ok(read);
}

static bool
read_agents(struct writ_crewkit *kit, struct writ_view text)
{
    struct writ_crew_findings *faults = writ_crew_findings_new();
    writ_auto_buf empty = writ_buf_make(SIZE_MAX);
    writ_result read;

    writ_buf_str(&empty, "{\"schema_version\":\"1.0\",\"agents\":[],\"name\":");
    writ_text_json(&empty, writ_crew_shape_name(kit->shape));
    writ_buf_byte(&empty, '}');
    read = writ_crew_agents_read(text.ptr != NULL ? text : writ_buf_view(&empty),
        &writ_crewkit_limits, faults, &kit->agents, NULL);
    WRIT_INVARIANT((read.code == WRIT_E_INVALID) == (writ_crew_findings_count(faults) > 0));
    writ_crew_findings_free(faults);
    return writ_is_ok(read);
}

bool
writ_crewkit_open(struct writ_crewkit *kit, struct writ_view shape, struct writ_view agents)
{
    struct writ_crew_err err = {0};
    struct writ_crew_registered registered = {WRIT_LIT("inner"), NULL};

    if (!read_shape(shape, &kit->shape) || !read_agents(kit, agents)) {
        return false;
    }
    WRIT_INVARIANT(read_shape(writ_view_str(inner_shape), &kit->inner));
    registered.shape = kit->inner;
    const struct writ_crew_plan plan = {.shape = kit->shape,
        .agents = kit->agents,
        .registry = &registered,
        .registry_n = 1,
        .limits = &writ_crewkit_limits};
    if (!writ_is_ok(writ_crew_graph_build(&plan, &kit->graph, &err))) {
        WRIT_INVARIANT(err.error != WRIT_CREW_NONE && err.err.text[0] != '\0');
        return false;
    }
    return true;
}

void
writ_crewkit_start(struct writ_crewkit *kit)
{
    struct writ_crew_events events;

    kit->options = (struct writ_crew_options){.crew_id = WRIT_LIT("c"),
        .graph = kit->graph,
        .clock = {clock_now, &kit->now},
        .memory = &kit->memory,
        .limits = &writ_crewkit_limits,
        .auto_checkpoint = true};
    WRIT_INVARIANT(writ_is_ok(writ_crew_memory_new(kit->options.crew_id, &kit->memory)));
    WRIT_INVARIANT(writ_is_ok(writ_crew_session_new(&kit->options, &kit->session, NULL)));
    WRIT_INVARIANT(writ_is_ok(
        writ_crew_session_start(kit->session, WRIT_LIT("1"), writ_view(NULL, 0), &events, NULL)));
    writ_crewkit_check(&events);
}

void
writ_crewkit_wipe(struct writ_crewkit *kit)
{
    writ_crew_session_free(kit->session);
    if (kit->memory.ops != NULL) {
        kit->memory.ops->free(kit->memory.self);
    }
    writ_crew_graph_free(kit->graph);
    writ_crew_agents_free(kit->agents);
    writ_crew_shape_free(kit->inner);
    writ_crew_shape_free(kit->shape);
}

/* ---- what must hold */

void
writ_crewkit_check(const struct writ_crew_events *events)
{
    for (size_t at = 0; at < events->n; at++) {
        struct writ_crew_value *value = NULL;
        WRIT_INVARIANT(writ_is_ok(writ_crew_value_read(events->list[at], NULL, &value, NULL)));
        WRIT_INVARIANT(writ_view_equal(writ_crew_value_text(value), events->list[at]));
        writ_crew_value_free(value);
    }
}

void
writ_crewkit_resume(struct writ_crewkit *kit, struct writ_view snapshot)
{
    struct writ_crew_session *resumed = NULL, *again = NULL;
    struct writ_crew_value *one = NULL, *other = NULL;
    struct writ_crew_events events;

    if (!writ_is_ok(writ_crew_session_resume(
            &kit->options, snapshot, NULL, 0, WRIT_CREW_RESUME_RE_EMIT, &resumed, &events, NULL))) {
        return;
    }
    writ_crewkit_check(&events);
    WRIT_INVARIANT(writ_is_ok(writ_crew_session_snapshot(resumed, &one, NULL)));
    if (writ_crew_value_text(one).len <= writ_crewkit_limits.snapshot_bytes) {
        WRIT_INVARIANT(writ_is_ok(writ_crew_session_resume(&kit->options, writ_crew_value_text(one),
            NULL, 0, WRIT_CREW_RESUME_RE_EMIT, &again, &events, NULL)));
        WRIT_INVARIANT(writ_is_ok(writ_crew_session_snapshot(again, &other, NULL)));
        WRIT_INVARIANT(writ_view_equal(writ_crew_value_text(one), writ_crew_value_text(other)));
    }
    writ_crew_value_free(one);
    writ_crew_value_free(other);
    writ_crew_session_free(again);
    writ_crew_session_free(kit->session);
    kit->session = resumed;
}

bool
writ_crewkit_pending(struct writ_crewkit *kit, char ret[16])
{
    struct writ_crew_events events;

    if (!writ_is_ok(writ_crew_session_pending(kit->session, &events, NULL)) || events.n == 0) {
        return false;
    }
    writ_view_place(
        writ_view_sub(events.list[0],
            writ_view_search(events.list[0], WRIT_LIT("\"correlationId\":\"")) + 17, 16),
        ret);
    return true;
}
