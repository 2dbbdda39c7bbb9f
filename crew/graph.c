/* Builds the graph of a crew (semantics 2.5). Nested crews are built once per role: their graphs
 * never change, so the agents of the role share one. */
#include "crew/graph.h"

#include "base/text.h"
#include "crew/elect.h"
#include "crew/failure.h"
#include "crew/lint.h"
#include "crew/names.h"
#include "evidence/json/write.h"

/** The crews from the outermost to the one under construction. */
struct chain {
    struct writ_view name;
    const struct chain *outer;
    size_t depth;
};

/** The state of one construction. */
struct build {
    const struct writ_crew_plan *plan;
    const struct writ_crew_limits *limits;
    const struct writ_names *registry;
    size_t *roles; /* of all graphs so far, because a role without agents needs room too */
    struct writ_crew_err *err;
};

/** The agents of a role. */
struct staffing {
    double amount;
    struct writ_view prompt;
};

static writ_result build_graph(const struct build *build, const struct writ_crew_shape *shape,
    const struct writ_crew_agents *agents, const struct chain *outer, struct writ_crew_graph **ret);

/* ---- actions */

static const char *const action_names[] = {
    [WRIT_CREW_TALK_TO] = "talk_to",
    [WRIT_CREW_DELEGATE_TO] = "delegate_to",
    [WRIT_CREW_ESCALATE_TO] = "escalate_to",
};

const char *
writ_crew_action_name(enum writ_crew_action action)
{
    return action_names[action];
}

bool
writ_crew_action_read(struct writ_view text, enum writ_crew_action *ret)
{
    for (size_t at = 0; at < sizeof action_names / sizeof *action_names; at++) {
        if (writ_view_is(text, action_names[at])) {
            *ret = (enum writ_crew_action)at;
            return true;
        }
    }
    return false;
}

/* ---- checks */

static WRIT_RESULT
check_chain(const struct build *build, const struct chain *chain)
{
    for (const struct chain *at = chain->outer; at != NULL; at = at->outer) {
        if (writ_view_equal(at->name, chain->name)) {
            return writ_failure_set(build->err, WRIT_E_INVALID, WRIT_CREW_CYCLIC_NESTED_CREW,
                "crew " WRIT_VIEW_FMT " is nested in itself", WRIT_VIEW_ARG(chain->name));
        }
    }
    if (chain->depth > build->limits->nesting) {
        return writ_failure_set(build->err, WRIT_E_LIMIT, WRIT_CREW_LIMIT_EXCEEDED,
            "more than %zu crews inside each other", build->limits->nesting);
    }
    return WRIT_DONE;
}

static void
findings_freep(struct writ_crew_findings **findings)
{
    writ_crew_findings_free(*findings);
}

static WRIT_RESULT
check_lint(const struct build *build, const struct writ_crew_shape *shape, bool consensual)
{
    WRIT_AUTO(struct writ_crew_findings *, findings_freep) errors = writ_crew_findings_new();

    if (errors == NULL ||
        !writ_is_ok(writ_lint_run(shape, build->plan->engines, consensual, errors, NULL))) {
        return writ_failure_memory(build->err);
    }
    if (writ_crew_findings_count(errors) > 0) {
        const struct writ_crew_finding *first = writ_crew_findings_at(errors, 0);
        return writ_failure_set(build->err, WRIT_E_INVALID, WRIT_CREW_LINT_FAILED,
            "shape " WRIT_VIEW_FMT ": %s%s" WRIT_VIEW_FMT "%s", WRIT_VIEW_ARG(shape->name),
            first->code, first->path.len > 0 ? " at " : "", WRIT_VIEW_ARG(first->path),
            writ_crew_findings_count(errors) > 1 ? ", and more: lint lists them" : "");
    }
    return WRIT_DONE;
}

/* ---- roles */

static void
write_texts(struct writ_write *w, const char *name, struct writ_scan_texts list)
{
    writ_write_name(w, writ_view_str(name));
    writ_write_array_begin(w);
    for (size_t at = 0; at < list.n; at++) {
        writ_write_string(w, list.list[at]);
    }
    writ_write_array_end(w);
}

static void
write_text(struct writ_write *w, const char *name, struct writ_view text)
{
    if (text.ptr != NULL) {
        writ_write_text(w, name, text);
    }
}

/* The role as requests show it (semantics 4), canonical. */
static WRIT_RESULT
snapshot_role(const struct writ_shape_role *role, struct writ_view system_prompt,
    struct writ_crew_value **ret)
{
    writ_auto_buf buf = writ_buf_make(SIZE_MAX);
    struct writ_write w = writ_write_to(&buf);

    w.sorted = true;
    writ_write_object_begin(&w);
    writ_write_name(&w, WRIT_LIT("capabilities"));
    writ_write_object_begin(&w);
    write_text(&w, "model", role->model);
    writ_write_flag(&w, "thinking_allowed", role->thinking_allowed);
    if (role->has_tools) {
        write_texts(&w, "tools", role->tools);
    }
    writ_write_object_end(&w);
    write_text(&w, "description", role->description);
    write_text(&w, "name", role->name);
    writ_write_name(&w, WRIT_LIT("permissions"));
    writ_write_object_begin(&w);
    write_texts(&w, "delegate_to", role->lists[WRIT_CREW_DELEGATE_TO]);
    write_texts(&w, "escalate_to", role->lists[WRIT_CREW_ESCALATE_TO]);
    write_texts(&w, "talk_to", role->lists[WRIT_CREW_TALK_TO]);
    writ_write_object_end(&w);
    write_text(&w, "system_prompt", system_prompt);
    writ_write_object_end(&w);
    WRIT_TRY(writ_write_end(&w, NULL));
    return writ_value_of_text(writ_buf_view(&buf), ret);
}

/* The settings of the agents file for each role: the last entry counts, separately for each
 * member. */
static WRIT_RESULT
amend(const struct build *build, const struct writ_crew_shape *shape,
    const struct writ_crew_agents *agents, struct staffing *staff)
{
    for (size_t at = 0; at < shape->roles_n; at++) {
        const struct writ_shape_role *role = &shape->roles[at];
        staff[at] = (struct staffing){role->amount >= 0 ? role->amount : 0, role->system_prompt};
    }
    for (size_t at = 0; agents != NULL && at < agents->n; at++) {
        const struct writ_shape_agents *entry = &agents->list[at];
        size_t role = writ_shape_find(shape, entry->role);
        if (role == shape->roles_n) {
            return writ_failure_set(build->err, WRIT_E_INVALID, WRIT_CREW_UNKNOWN_ROLE,
                "the agents file names role " WRIT_VIEW_FMT ", which the shape does not have",
                WRIT_VIEW_ARG(entry->role));
        }
        staff[role].amount = entry->amount;
        if (entry->system_prompt.ptr != NULL) {
            staff[role].prompt = entry->system_prompt;
        }
    }
    return WRIT_DONE;
}

static WRIT_RESULT
nest(const struct build *build, const struct writ_shape_role *role, const struct chain *chain,
    struct writ_crew_graph **ret)
{
    size_t at = writ_names_find(build->registry, role->nested_crew);

    if (at == build->plan->registry_n) {
        return writ_failure_set(build->err, WRIT_E_INVALID, WRIT_CREW_UNKNOWN_NESTED_CREW,
            "role " WRIT_VIEW_FMT " nests crew " WRIT_VIEW_FMT ", which is not registered",
            WRIT_VIEW_ARG(role->name), WRIT_VIEW_ARG(role->nested_crew));
    }
    return build_graph(build, build->plan->registry[at].shape, NULL, chain, ret);
}

static WRIT_RESULT
build_role(const struct build *build, struct writ_crew_graph *graph, size_t at,
    const struct staffing *staff, const struct chain *chain)
{
    const struct writ_shape_role *role = &graph->shape->roles[at];
    struct writ_graph_role *to = &graph->roles[at];
    double amount = staff->amount;
    /* each of them has a ballot, however high the limit is set */
    size_t role_agents = build->limits->role_agents < WRIT_CREW_BALLOTS_MAX
                             ? build->limits->role_agents
                             : WRIT_CREW_BALLOTS_MAX;
    size_t each = 1;

    if (role->max_allowed >= 0 && amount > role->max_allowed) {
        return writ_failure_set(build->err, WRIT_E_INVALID, WRIT_CREW_EXCEEDS_MAX_ALLOWED,
            "role " WRIT_VIEW_FMT " has %.0f agents; its max_allowed is %.0f",
            WRIT_VIEW_ARG(role->name), amount, role->max_allowed);
    }
    if (amount > (double)role_agents) {
        return writ_failure_set(build->err, WRIT_E_LIMIT, WRIT_CREW_LIMIT_EXCEEDED,
            "role " WRIT_VIEW_FMT " has more than %zu agents", WRIT_VIEW_ARG(role->name),
            role_agents);
    }
    *to =
        (struct writ_graph_role){.shape = role, .first = graph->agents_n, .count = (size_t)amount};
    graph->agents_n += to->count;
    if (!writ_is_ok(snapshot_role(role, staff->prompt, &to->snapshot))) {
        return writ_failure_memory(build->err);
    }
    if (to->count > 0 && role->nested_crew.len > 0) {
        WRIT_TRY(nest(build, role, chain, &to->nested));
        each += to->nested->total;
    }
    if (to->count > (build->limits->crew_agents - graph->total) / each) {
        return writ_failure_set(build->err, WRIT_E_LIMIT, WRIT_CREW_LIMIT_EXCEEDED,
            "more than %zu agents in all", build->limits->crew_agents);
    }
    graph->total += to->count * each;
    return WRIT_DONE;
}

/* ---- agents and phases */

static WRIT_RESULT
name_agents(struct writ_crew_graph *graph)
{
    writ_auto_buf id = writ_buf_make(SIZE_MAX);
    size_t n = 0;

    graph->agents = writ_arena_get(graph->arena, (graph->agents_n + 1) * sizeof *graph->agents);
    for (size_t role = 0; graph->agents != NULL && role < graph->shape->roles_n; role++) {
        for (size_t at = 1; at <= graph->roles[role].count; at++) {
            writ_buf_clear(&id);
            writ_buf_put(&id, graph->shape->roles[role].name);
            writ_buf_byte(&id, '-');
            writ_buf_u64(&id, at);
            WRIT_TRY(writ_buf_check(&id, NULL));
            graph->agents[n] =
                (struct writ_graph_agent){writ_view_copy(writ_buf_view(&id), graph->arena), role};
            if (graph->agents[n++].id.ptr == NULL) {
                return (writ_result){WRIT_E_NOMEM};
            }
        }
    }
    return graph->agents != NULL ? WRIT_DONE : (writ_result){WRIT_E_NOMEM};
}

/* For each reason the first role that it activates (semantics 5), and the first agent of that
 * role. */
static void
find_fixers(struct writ_crew_graph *graph)
{
    for (size_t reason = 0; reason < WRIT_SHAPE_REASONS_N; reason++) {
        size_t role = 0;
        while (role < graph->shape->roles_n && !graph->shape->roles[role].activates[reason]) {
            role++;
        }
        graph->fixers[reason] = role < graph->shape->roles_n && graph->roles[role].count > 0
                                    ? graph->roles[role].first
                                    : WRIT_GRAPH_NONE;
    }
}

/* Entry, then the roles that are neither and need no activation, then exit (semantics 5). */
static WRIT_RESULT
order_phases(struct writ_crew_graph *graph)
{
    const struct writ_crew_shape *shape = graph->shape;
    size_t last = 0;

    graph->phases = writ_arena_get(graph->arena, (shape->roles_n + 2) * sizeof *graph->phases);
    if (graph->phases == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    graph->phases_n = 1; /* lint found one entry and one exit */
    for (size_t at = 0; at < shape->roles_n; at++) {
        const struct writ_shape_role *role = &shape->roles[at];
        if (role->first_input) {
            graph->phases[0] = at;
        }
        if (role->final_output) {
            last = at;
        }
        if (!role->first_input && !role->final_output && !role->activation) {
            graph->phases[graph->phases_n++] = at;
        }
    }
    graph->phases[graph->phases_n++] = last;
    return WRIT_DONE;
}

/* Every agent that is not a fixer. Ballots name roles, so a role has one agent. */
static WRIT_RESULT
find_candidates(const struct build *build, struct writ_crew_graph *graph)
{
    const struct writ_crew_shape *shape = graph->shape;

    graph->candidates =
        writ_arena_get(graph->arena, (graph->agents_n + 1) * sizeof *graph->candidates);
    if (graph->candidates == NULL) {
        return writ_failure_memory(build->err);
    }
    for (size_t at = 0; at < shape->roles_n; at++) {
        const struct writ_graph_role *role = &graph->roles[at];
        if (role->count == 0 || role->shape->activation) {
            continue;
        }
        if (role->count > 1) {
            return writ_failure_set(build->err, WRIT_E_INVALID, WRIT_CREW_DUPLICATE_ROLE,
                "role " WRIT_VIEW_FMT " has %zu agents: in a consensual crew each agent has a role "
                "of its own",
                WRIT_VIEW_ARG(role->shape->name), role->count);
        }
        graph->candidates[graph->candidates_n++] = role->first;
    }
    if (graph->candidates_n == 0) {
        return writ_failure_set(build->err, WRIT_E_INVALID, WRIT_CREW_LINT_FAILED,
            "a consensual crew has no agent that could do a task");
    }
    if (graph->candidates_n > WRIT_CREW_OPTIONS_MAX) {
        return writ_failure_set(build->err, WRIT_E_LIMIT, WRIT_CREW_LIMIT_EXCEEDED,
            "%zu agents to choose from; there may be %d", graph->candidates_n,
            WRIT_CREW_OPTIONS_MAX);
    }
    return WRIT_DONE;
}

/* Keeps the name of the engine: that of the plan lives for the call alone. */
static WRIT_RESULT
keep_engine(const struct build *build, struct writ_crew_graph *graph)
{
    struct writ_view name = graph->consensus;

    if (name.ptr == NULL) {
        return WRIT_DONE;
    }
    if (!writ_elect_knows(name, graph->engines)) {
        return writ_failure_set(build->err, WRIT_E_INVALID, WRIT_CREW_UNKNOWN_ENGINE,
            "there is no engine " WRIT_VIEW_FMT " that elects", WRIT_VIEW_ARG(name));
    }
    graph->consensus = writ_view_copy(name, graph->arena);
    return graph->consensus.ptr != NULL ? WRIT_DONE : writ_failure_memory(build->err);
}

/* ---- the graph */

static void
graph_freep(struct writ_crew_graph **graph)
{
    writ_crew_graph_free(*graph);
}

void
writ_crew_graph_free(struct writ_crew_graph *graph)
{
    if (graph == NULL) {
        return;
    }
    for (size_t at = 0; graph->roles != NULL && at < graph->shape->roles_n; at++) {
        writ_crew_value_free(graph->roles[at].snapshot);
        writ_crew_graph_free(graph->roles[at].nested);
    }
    writ_free(graph->roles);
    writ_arena_free(graph->arena);
    writ_free(graph);
}

static writ_result
build_graph(const struct build *build, const struct writ_crew_shape *shape,
    const struct writ_crew_agents *agents, const struct chain *outer, struct writ_crew_graph **ret)
{
    WRIT_AUTO(struct writ_crew_graph *, graph_freep) graph = NULL;
    const struct chain chain = {shape->name, outer, outer != NULL ? outer->depth + 1 : 1};
    bool consensual = shape->consensual || (outer == NULL && build->plan->consensual);
    struct staffing *staff;

    WRIT_TRY(check_chain(build, &chain));
    WRIT_TRY(check_lint(build, shape, consensual));
    if (shape->roles_n > build->limits->crew_roles - *build->roles) {
        return writ_failure_set(build->err, WRIT_E_LIMIT, WRIT_CREW_LIMIT_EXCEEDED,
            "more than %zu roles in all", build->limits->crew_roles);
    }
    *build->roles += shape->roles_n;
    graph = writ_alloc(sizeof *graph);
    if (graph == NULL) {
        return writ_failure_memory(build->err);
    }
    graph->shape = shape;
    graph->engines = build->plan->engines;
    graph->consensual = consensual;
    graph->consensus = outer == NULL && build->plan->consensus.ptr != NULL ? build->plan->consensus
                                                                           : shape->consensus;
    graph->arena = writ_arena_new(SIZE_MAX);
    graph->roles = writ_alloc(shape->roles_n * sizeof *graph->roles);
    staff =
        graph->arena != NULL ? writ_arena_get(graph->arena, shape->roles_n * sizeof *staff) : NULL;
    if (staff == NULL || graph->roles == NULL) {
        return writ_failure_memory(build->err);
    }
    WRIT_TRY(amend(build, shape, agents, staff));
    for (size_t at = 0; at < shape->roles_n; at++) {
        WRIT_TRY(build_role(build, graph, at, &staff[at], &chain));
    }
    if (!writ_is_ok(name_agents(graph)) || (!consensual && !writ_is_ok(order_phases(graph)))) {
        return writ_failure_memory(build->err);
    }
    if (consensual) {
        WRIT_TRY(find_candidates(build, graph));
        WRIT_TRY(keep_engine(build, graph));
    }
    find_fixers(graph);
    *ret = WRIT_TAKE(graph);
    return WRIT_DONE;
}

static WRIT_RESULT
index_registry(const struct writ_crew_plan *plan, struct writ_arena *arena, struct writ_names *ret)
{
    struct writ_view *keys = writ_arena_get(arena, (plan->registry_n + 1) * sizeof *keys);

    if (keys == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    for (size_t at = 0; at < plan->registry_n; at++) {
        keys[at] = plan->registry[at].key;
    }
    return writ_names_make(ret, keys, plan->registry_n, arena);
}

WRIT_RESULT
writ_crew_graph_build(
    const struct writ_crew_plan *plan, struct writ_crew_graph **ret, struct writ_crew_err *err)
{
    writ_auto_arena arena = writ_arena_new(SIZE_MAX);
    struct writ_names registry = {0};
    size_t roles = 0;
    const struct build build = {.plan = plan,
        .limits = plan->limits != NULL ? plan->limits : &writ_crew_limits_default,
        .registry = &registry,
        .roles = &roles,
        .err = err};

    if (!writ_view_equal(plan->shape->name, plan->agents->name)) {
        return writ_failure_set(err, WRIT_E_INVALID, WRIT_CREW_NAME_MISMATCH,
            "the shape is called " WRIT_VIEW_FMT ", the agents file " WRIT_VIEW_FMT,
            WRIT_VIEW_ARG(plan->shape->name), WRIT_VIEW_ARG(plan->agents->name));
    }
    if (arena == NULL || !writ_is_ok(index_registry(plan, arena, &registry))) {
        return writ_failure_memory(err);
    }
    return build_graph(&build, plan->shape, plan->agents, NULL, ret);
}

/* ---- lookups */

struct writ_view
writ_crew_graph_name(const struct writ_crew_graph *graph)
{
    return graph->shape->name;
}

size_t
writ_crew_graph_count(const struct writ_crew_graph *graph)
{
    return graph->agents_n;
}

struct writ_crew_agent
writ_crew_graph_agent(const struct writ_crew_graph *graph, size_t at)
{
    const struct writ_graph_role *role;

    WRIT_INVARIANT(at < graph->agents_n);
    role = &graph->roles[graph->agents[at].role];
    return (struct writ_crew_agent){graph->agents[at].id, role->shape->name, role->nested};
}

size_t
writ_graph_find(const struct writ_crew_graph *graph, struct writ_view id)
{
    size_t dash = id.len, role;
    uint64_t number = 0;

    while (dash > 0 && id.ptr[dash - 1] != '-') {
        dash--;
    }
    if (dash == 0) {
        return WRIT_GRAPH_NONE;
    }
    role = writ_shape_find(graph->shape, writ_view_sub(id, 0, dash - 1));
    if (role == graph->shape->roles_n || !writ_is_ok(writ_text_u64(writ_view_sub(id, dash, id.len),
                                             1, graph->roles[role].count, &number))) {
        return WRIT_GRAPH_NONE;
    }
    return graph->roles[role].first + number - 1;
}

bool
writ_crew_graph_allows(const struct writ_crew_graph *graph, struct writ_view from,
    struct writ_view to, enum writ_crew_action action)
{
    size_t asking = writ_graph_find(graph, from), asked = writ_graph_find(graph, to);
    struct writ_scan_texts list;
    struct writ_view role;

    if (asking == WRIT_GRAPH_NONE || asked == WRIT_GRAPH_NONE) {
        return false;
    }
    list = graph->roles[graph->agents[asking].role].shape->lists[action];
    role = graph->roles[graph->agents[asked].role].shape->name;
    for (size_t at = 0; at < list.n; at++) {
        if (writ_view_equal(list.list[at], role)) {
            return true;
        }
    }
    return false;
}
