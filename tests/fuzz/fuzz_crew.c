/* A crew in hostile hands. The input is lines: the first is a shape (empty: one of ours), the
 * others are calls: an inbound event, "T" and a time, "S" and a snapshot to resume from, "A" for an
 * answer to what has waited longest.
 *
 * Whatever the input: a shape is refused or lints; a clean shape builds or is refused with a
 * reason; every event that comes out is canonical; a snapshot that is resumed gives the same
 * snapshot. */
#include "support/fuzz.h"

#include "base/bytes.h"
#include "base/number.h"
#include "base/text.h"
#include "writ/crew.h"

static const char own_shape[] =
    "{\"schema_version\":\"1.0\",\"name\":\"C\",\"roles\":["
    "{\"role\":\"a\",\"permissions\":{},\"first_input\":true,\"amount\":1},"
    "{\"role\":\"w\",\"permissions\":{},\"amount\":2,\"execution\":{\"timeout_ms\":5,"
    "\"voting\":{\"mode\":\"weighted_consensus\"}}},"
    "{\"role\":\"t\",\"permissions\":{},\"amount\":1,\"nested_crew\":\"inner\"},"
    "{\"role\":\"f\",\"permissions\":{},\"amount\":1,\"activation\":{\"on_fault\":true,"
    "\"on_timeout\":true}},"
    "{\"role\":\"z\",\"permissions\":{},\"final_output\":true,\"amount\":1}]}";
static const char inner_shape[] =
    "{\"schema_version\":\"1.0\",\"name\":\"IN\",\"roles\":["
    "{\"role\":\"r\",\"permissions\":{},\"first_input\":true,\"final_output\":true,\"amount\":1}]}";

/* Small ones, so that a small input cannot ask for much. */
static const struct writ_crew_limits limits = {
    .text_bytes = 1 << 16,
    .event_bytes = 1 << 14,
    .role_agents = 50,
    .crew_agents = 200,
    .nesting = 3,
    .phase_fixers = 20,
    .action_recursion = 4,
    .snapshot_bytes = 1 << 16,
};

static double
now(void *user)
{
    return *(const double *)user;
}

static void
check_events(const struct writ_crew_events *events)
{
    for (size_t at = 0; at < events->n; at++) {
        struct writ_crew_value *value = NULL;
        WRIT_INVARIANT(writ_is_ok(writ_crew_value_read(events->list[at], NULL, &value, NULL)));
        WRIT_INVARIANT(writ_view_equal(writ_crew_value_text(value), events->list[at]));
        writ_crew_value_free(value);
    }
}

static void
check_snapshot(struct writ_crew_session **session, const struct writ_crew_options *options,
    struct writ_view text)
{
    struct writ_crew_session *resumed = NULL, *again = NULL;
    struct writ_crew_value *one = NULL, *other = NULL;
    struct writ_crew_events events;

    if (!writ_is_ok(writ_crew_session_resume(
            options, text, NULL, 0, WRIT_CREW_RESUME_RE_EMIT, &resumed, &events, NULL))) {
        return;
    }
    check_events(&events);
    WRIT_INVARIANT(writ_is_ok(writ_crew_session_snapshot(resumed, &one, NULL)));
    if (writ_crew_value_text(one).len <= limits.snapshot_bytes) {
        WRIT_INVARIANT(writ_is_ok(writ_crew_session_resume(options, writ_crew_value_text(one), NULL,
            0, WRIT_CREW_RESUME_RE_EMIT, &again, &events, NULL)));
        WRIT_INVARIANT(writ_is_ok(writ_crew_session_snapshot(again, &other, NULL)));
        WRIT_INVARIANT(writ_view_equal(writ_crew_value_text(one), writ_crew_value_text(other)));
    }
    writ_crew_value_free(one);
    writ_crew_value_free(other);
    writ_crew_session_free(again);
    writ_crew_session_free(*session);
    *session = resumed;
}

static void
answer_first(struct writ_crew_session *session)
{
    struct writ_crew_events events;
    struct writ_view id;
    char event[128];

    if (!writ_is_ok(writ_crew_session_pending(session, &events, NULL)) || events.n == 0) {
        return;
    }
    id = writ_view_sub(events.list[0],
        writ_view_search(events.list[0], WRIT_LIT("\"correlationId\":\"")) + 17, 16);
    struct writ_buf buf = writ_buf_over(event, sizeof event);
    writ_buf_fmt(&buf,
        "{\"type\":\"agent.step.completed\",\"output\":1,\"correlationId\":\"" WRIT_VIEW_FMT "\"}",
        WRIT_VIEW_ARG(id));
    WRIT_INVARIANT(
        writ_is_ok(writ_crew_session_deliver(session, writ_buf_view(&buf), &events, NULL)));
    check_events(&events);
}

static void
run_line(struct writ_crew_session **session, const struct writ_crew_options *options,
    struct writ_view line)
{
    struct writ_crew_events events = {NULL, 0};
    struct writ_view rest = writ_view_sub(line, 1, line.len);
    double time = 0;

    if (writ_view_has_prefix(line, WRIT_LIT("T"))) {
        if (writ_is_ok(writ_number_read(rest, &time)) &&
            writ_is_ok(writ_crew_session_tick(*session, time, &events, NULL))) {
            check_events(&events);
        }
    } else if (writ_view_has_prefix(line, WRIT_LIT("S"))) {
        check_snapshot(session, options, rest);
    } else if (writ_view_is(line, "A")) {
        answer_first(*session);
    } else if (writ_is_ok(writ_crew_session_deliver(*session, line, &events, NULL))) {
        check_events(&events);
    }
}

static void
run_crew(const struct writ_crew_graph *graph, struct writ_view input)
{
    double time = 0;
    struct writ_crew_memory memory;
    struct writ_crew_options options = {.crew_id = WRIT_LIT("c"),
        .graph = graph,
        .clock = {now, &time},
        .limits = &limits,
        .auto_checkpoint = true};
    struct writ_crew_session *session = NULL;
    struct writ_crew_events events;

    WRIT_INVARIANT(writ_is_ok(writ_crew_memory_new(options.crew_id, &memory)));
    options.memory = &memory;
    WRIT_INVARIANT(writ_is_ok(writ_crew_session_new(&options, &session, NULL)));
    WRIT_INVARIANT(writ_is_ok(
        writ_crew_session_start(session, WRIT_LIT("1"), writ_view(NULL, 0), &events, NULL)));
    check_events(&events);
    while (input.len > 0) {
        size_t end = writ_view_find(input, '\n');
        run_line(&session, &options, writ_view_sub(input, 0, end));
        input = writ_view_sub(input, end + 1, input.len);
    }
    writ_crew_session_free(session);
    memory.ops->free(memory.self);
}

static void
run_shape(struct writ_crew_shape *shape, struct writ_crew_shape *inner, struct writ_view input)
{
    const struct writ_crew_registered registered = {WRIT_LIT("inner"), inner};
    struct writ_crew_agents *agents = NULL;
    struct writ_crew_graph *graph = NULL;
    struct writ_crew_err err = {0};
    writ_auto_buf text = writ_buf_make(SIZE_MAX);

    writ_buf_str(&text, "{\"schema_version\":\"1.0\",\"agents\":[],\"name\":");
    writ_text_json(&text, writ_crew_shape_name(shape));
    writ_buf_byte(&text, '}');
    WRIT_INVARIANT(
        writ_is_ok(writ_crew_agents_read(writ_buf_view(&text), NULL, NULL, &agents, NULL)));
    const struct writ_crew_plan plan = {.shape = shape,
        .agents = agents,
        .registry = &registered,
        .registry_n = 1,
        .limits = &limits};
    if (writ_is_ok(writ_crew_graph_build(&plan, &graph, &err))) {
        run_crew(graph, input);
    } else {
        WRIT_INVARIANT(err.error != WRIT_CREW_NONE && err.err.text[0] != '\0');
    }
    writ_crew_graph_free(graph);
    writ_crew_agents_free(agents);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct writ_view input = writ_view(data, size);
    size_t end = writ_view_find(input, '\n');
    struct writ_view first = writ_view_sub(input, 0, end);
    struct writ_crew_findings *faults = writ_crew_findings_new();
    struct writ_crew_shape *shape = NULL, *inner = NULL;
    writ_result read = writ_crew_shape_read(
        first.len > 0 ? first : writ_view_str(own_shape), &limits, faults, &shape, NULL);

    WRIT_INVARIANT((read.code == WRIT_E_INVALID) == (writ_crew_findings_count(faults) > 0));
    WRIT_INVARIANT(
        writ_is_ok(writ_crew_shape_read(writ_view_str(inner_shape), NULL, NULL, &inner, NULL)));
    if (writ_is_ok(read)) {
        run_shape(shape, inner, writ_view_sub(input, end + 1, input.len));
    }
    writ_crew_shape_free(inner);
    writ_crew_shape_free(shape);
    writ_crew_findings_free(faults);
    return 0;
}
