/* A scenario of crew-vector/1: inputs, steps, and the expected result of each step. This file reads
 * and builds; scenario_step.c drives the session, scenario_record.c writes the results and compares
 * them, as canonical texts. */
#include "cli/vectors/scenario.h"

#include "base/text.h"
#include "cli/vectors/scenario_member.h"
#include "cli/vectors/scenario_record.h"
#include "cli/vectors/scenario_step.h"
#include "evidence/json/jcs.h"

#define TEXT_MAX     WRIT_SCENARIO_TEXT_MAX
#define REGISTRY_MAX 64

/** A running scenario. */
struct scenario {
    const struct writ_json *json, *expect;
    struct writ_buf *report;
    bool same;
    struct writ_crew_shape *shape;
    struct writ_crew_agents *agents;
    struct writ_crew_registered registry[REGISTRY_MAX];
    size_t registry_n;
    struct writ_scenario_crew crew;
    struct writ_buf log;
};

static void
compare(struct scenario *s, const char *where, size_t at, const struct writ_json *want,
    struct writ_view got)
{
    bool same = writ_scenario_record_compare(s->report, where, at, want, got);

    s->same = s->same && same;
}

/* ---- before the steps */

static void
findings_freep(struct writ_crew_findings **findings)
{
    writ_crew_findings_free(*findings);
}

static void
compare_faults(struct scenario *s, const char *member, const struct writ_crew_findings *faults)
{
    const struct writ_json *want = writ_json_get(s->expect, writ_view_str(member));
    writ_auto_buf got = writ_buf_make(TEXT_MAX);
    struct writ_write w = writ_write_to(&got);

    writ_scenario_record_findings(&w, faults);
    if (want != NULL || writ_crew_findings_count(faults) > 0) {
        compare(s, member, 0, want, writ_buf_view(&got));
    }
}

/* Compares the faults of an input; another failure to read it is reported as such. */
static void
judge_input(struct scenario *s, const char *member, writ_result read,
    const struct writ_crew_findings *faults, const struct writ_crew_err *err)
{
    compare_faults(s, member, faults);
    if (!writ_is_ok(read) && writ_crew_findings_count(faults) == 0) {
        writ_buf_fmt(s->report, "  %s: %s\n", member, err->err.text);
        s->same = false;
    }
}

static WRIT_RESULT
read_inputs(struct scenario *s, bool *ret_usable, struct writ_err *err)
{
    WRIT_AUTO(struct writ_crew_findings *, findings_freep) shape_faults = writ_crew_findings_new();
    WRIT_AUTO(struct writ_crew_findings *, findings_freep) agents_faults = writ_crew_findings_new();
    writ_auto_buf text = writ_buf_make(TEXT_MAX);
    struct writ_crew_err below = {0};
    writ_result shape, agents;

    if (shape_faults == NULL || agents_faults == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory");
    }
    shape = writ_crew_shape_read(
        writ_scenario_member_json(&text, s->json, "shape"), NULL, shape_faults, &s->shape, &below);
    judge_input(s, "shape_errors", shape, shape_faults, &below);
    agents = writ_crew_agents_read(writ_scenario_member_json(&text, s->json, "agents"), NULL,
        agents_faults, &s->agents, &below);
    judge_input(s, "agents_errors", agents, agents_faults, &below);
    *ret_usable = writ_is_ok(shape) && writ_is_ok(agents);
    return WRIT_DONE;
}

static WRIT_RESULT
read_registry(struct scenario *s, struct writ_err *err)
{
    writ_auto_buf text = writ_buf_make(TEXT_MAX);
    struct writ_crew_err below = {0};

    WRIT_JSON_EACH(key, writ_json_get(s->json, WRIT_LIT("registry")))
    {
        struct writ_crew_shape *shape = NULL;
        writ_buf_clear(&text);
        if (s->registry_n == REGISTRY_MAX ||
            !writ_is_ok(writ_jcs_put_rounded(&text, writ_json_value(key), NULL)) ||
            !writ_is_ok(writ_crew_shape_read(writ_buf_view(&text), NULL, NULL, &shape, &below))) {
            WRIT_FAIL(err, WRIT_E_PARSE, "a registered shape cannot be read: %s", below.err.text);
        }
        s->registry[s->registry_n++] = (struct writ_crew_registered){writ_json_string(key), shape};
    }
    return WRIT_DONE;
}

static void
compare_lint(struct scenario *s)
{
    struct writ_crew_findings *errors = writ_crew_findings_new();
    struct writ_crew_findings *warnings = writ_crew_findings_new();
    writ_auto_buf got = writ_buf_make(TEXT_MAX);
    struct writ_write w = writ_write_to(&got);

    if (errors != NULL && warnings != NULL &&
        writ_is_ok(writ_crew_shape_lint(s->shape, NULL, errors, warnings))) {
        writ_write_object_begin(&w);
        writ_write_name(&w, WRIT_LIT("errors"));
        writ_scenario_record_findings(&w, errors);
        writ_write_name(&w, WRIT_LIT("warnings"));
        writ_scenario_record_findings(&w, warnings);
        writ_write_object_end(&w);
    }
    compare(s, "lint", 0, writ_json_get(s->expect, WRIT_LIT("lint")), writ_buf_view(&got));
    writ_crew_findings_free(errors);
    writ_crew_findings_free(warnings);
}

/* Builds the graph and compares it, or the reason of the failure. False: no graph was built. */
static bool
build(struct scenario *s)
{
    const struct writ_crew_plan plan = {.shape = s->shape,
        .agents = s->agents,
        .registry = s->registry,
        .registry_n = s->registry_n};
    const struct writ_json *error = writ_json_get(s->expect, WRIT_LIT("build_error"));
    struct writ_crew_err err = {0};
    writ_auto_buf got = writ_buf_make(TEXT_MAX);
    struct writ_write w = writ_write_to(&got);

    if (!writ_is_ok(writ_crew_graph_build(&plan, &s->crew.graph, &err))) {
        writ_scenario_record_error(&w, writ_crew_error_name(err.error));
        compare(s, "build_error", 0, error, writ_buf_view(&got));
        return false;
    }
    writ_scenario_record_graph(&w, s->crew.graph);
    compare(s, error != NULL ? "build_error" : "graph", 0,
        error != NULL ? error : writ_json_get(s->expect, WRIT_LIT("graph")), writ_buf_view(&got));
    return true;
}

/* ---- the session */

static WRIT_RESULT
open_memory(struct scenario *s, const struct writ_json *memory)
{
    writ_auto_buf text = writ_buf_make(TEXT_MAX);

    WRIT_TRY(writ_crew_memory_new(s->crew.options.crew_id, &s->crew.memory));
    s->crew.options.memory = &s->crew.memory;
    WRIT_JSON_EACH(entry, writ_json_get(memory, WRIT_LIT("seed")))
    {
        const struct writ_json *context = writ_json_get(entry, WRIT_LIT("context"));
        const struct writ_crew_scope scope = {writ_scenario_member_text(context, "agentId"),
            writ_scenario_member_text(context, "crewId"),
            writ_scenario_member_text(context, "roleId"), {NULL, 0}};
        WRIT_TRY(s->crew.memory.ops->apply(
            s->crew.memory.self, &scope, writ_scenario_member_json(&text, entry, "command")));
    }
    return WRIT_DONE;
}

static WRIT_RESULT
open_session(struct scenario *s, struct writ_err *err)
{
    const struct writ_json *options = writ_json_get(s->json, WRIT_LIT("options"));
    const struct writ_json *memory = writ_json_get(options, WRIT_LIT("memory"));
    struct writ_crew_err below = {0};

    s->crew.hook_actions = writ_json_get(options, WRIT_LIT("hooks"));
    s->crew.now = writ_scenario_member_number(options, "clock");
    s->crew.hooks = (struct writ_crew_hooks){writ_scenario_step_hook, &s->crew};
    s->crew.options = (struct writ_crew_options){
        .crew_id = writ_scenario_member_text(options, "crewId"),
        .graph = s->crew.graph,
        .clock = {writ_scenario_step_clock, &s->crew},
        .hooks = s->crew.hook_actions != NULL ? &s->crew.hooks : NULL,
        .has_default_timeout = writ_json_get(options, WRIT_LIT("defaultTimeoutMs")) != NULL,
        .default_timeout_ms = writ_scenario_member_number(options, "defaultTimeoutMs"),
        .auto_checkpoint = writ_json_get(options, WRIT_LIT("autoCheckpoint")) != NULL,
    };
    if (memory != NULL) {
        WRIT_TRY(open_memory(s, memory));
    }
    if (!writ_is_ok(writ_crew_session_new(&s->crew.options, &s->crew.session, &below))) {
        return writ_fail(err, WRIT_E_PARSE, "no session: %s", below.err.text);
    }
    return WRIT_DONE;
}

/* ---- steps */

static void
add_to_log(struct scenario *s, const struct writ_scenario_step *step)
{
    for (size_t at = 0; step->has_events && at < step->events.n; at++) {
        writ_buf_str(&s->log, s->log.len > 0 ? "," : "[");
        writ_text_json(&s->log, step->events.list[at]);
    }
}

/* A parser may refuse a value without a canonical form, or with another one (the format's
 * README). */
static bool
may_refuse(const struct writ_scenario_step *step, const struct writ_json *want)
{
    struct writ_view result = writ_scenario_member_text(want, "result");

    return step->error != NULL &&
           writ_json_is(writ_json_get(step->json, WRIT_LIT("op")), WRIT_LIT("canonicalize")) &&
           (result.ptr == NULL || writ_view_search(result, WRIT_LIT("\\ud")) < result.len);
}

static void
run_step(struct scenario *s, size_t at, const struct writ_json *json, const struct writ_json *want)
{
    writ_auto_buf record = writ_buf_make(TEXT_MAX);
    WRIT_AUTO(struct writ_scenario_step, writ_scenario_step_wipe)
    step = {.json = json, .result = writ_buf_make(TEXT_MAX)};

    writ_scenario_step_run(&s->crew, &step);
    writ_scenario_record_step(&s->crew, &step, &record);
    add_to_log(s, &step);
    if (!may_refuse(&step, want)) {
        compare(s, "step", at, want, writ_buf_view(&record));
    }
}

static void
run_steps(struct scenario *s)
{
    const struct writ_json *wanted = writ_json_get(s->expect, WRIT_LIT("steps"));
    const struct writ_json *want = writ_json_first(wanted);
    size_t at = 0;

    WRIT_JSON_EACH(step, writ_json_get(s->json, WRIT_LIT("steps")))
    {
        run_step(s, at++, step, want);
        want = want != NULL ? writ_json_next(wanted, want) : NULL;
    }
    writ_buf_str(&s->log, s->log.len > 0 ? "]" : "[]");
    compare(s, "log", 0, writ_json_get(s->expect, WRIT_LIT("log")), writ_buf_view(&s->log));
}

/* ---- the whole */

static void
scenario_wipe(struct scenario *s)
{
    writ_crew_session_free(s->crew.session);
    if (s->crew.memory.ops != NULL) {
        s->crew.memory.ops->free(s->crew.memory.self);
    }
    writ_crew_graph_free(s->crew.graph);
    while (s->registry_n > 0) {
        writ_crew_shape_free((struct writ_crew_shape *)s->registry[--s->registry_n].shape);
    }
    writ_crew_agents_free(s->agents);
    writ_crew_shape_free(s->shape);
    writ_crew_checkpoints_free(s->crew.labels);
    writ_crew_checkpoints_free(s->crew.store);
    writ_buf_wipe(&s->crew.hook_calls);
    writ_buf_wipe(&s->log);
}

WRIT_RESULT
writ_scenario_run(
    const struct writ_json *scenario, struct writ_buf *report, bool *ret_same, struct writ_err *err)
{
    WRIT_AUTO(struct scenario, scenario_wipe)
    s = {.json = scenario,
        .expect = writ_json_get(scenario, WRIT_LIT("expect")),
        .report = report,
        .same = true};
    bool usable = false;

    if (!writ_json_is(writ_json_get(scenario, WRIT_LIT("format")), WRIT_LIT("crew-vector/1"))) {
        WRIT_FAIL(err, WRIT_E_PARSE, "not a scenario: its format is not crew-vector/1");
    }
    s.crew.hook_calls = writ_buf_make(TEXT_MAX);
    s.log = writ_buf_make(TEXT_MAX);
    s.crew.labels = writ_crew_checkpoints_new();
    s.crew.store = writ_crew_checkpoints_new();
    if (s.crew.labels == NULL || s.crew.store == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory");
    }
    WRIT_TRY(read_inputs(&s, &usable, err));
    if (usable) {
        WRIT_TRY(read_registry(&s, err));
        compare_lint(&s);
        if (build(&s)) {
            WRIT_TRY(open_session(&s, err));
            run_steps(&s);
        }
    }
    *ret_same = s.same;
    return WRIT_DONE;
}
