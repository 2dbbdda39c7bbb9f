/* The n-th allocation fails inside each entry point of the crew library: the result is "no memory"
 * or the very same outcome, never another one. Sessions with every feature are in unit.crew.
 *
 * Each operation writes its result into a buffer that never allocates. */
#include "base/bytes.h"
#include "support/unit.h"
#include "writ/crew.h"

#define OUT_MAX ((size_t)1 << 20)

typedef writ_result operation(struct writ_buf *out);

static void
put(struct writ_buf *out, struct writ_view text)
{
    writ_buf_put(out, text);
    writ_buf_byte(out, '\n');
}

static void
put_findings(struct writ_buf *out, const struct writ_crew_findings *findings)
{
    for (size_t at = 0; findings != NULL && at < writ_crew_findings_count(findings); at++) {
        const struct writ_crew_finding *finding = writ_crew_findings_at(findings, at);
        writ_buf_fmt(out, "%s ", finding->code);
        put(out, finding->path);
    }
}

static void
put_events(struct writ_buf *out, struct writ_crew_events events)
{
    for (size_t at = 0; at < events.n; at++) {
        put(out, events.list[at]);
    }
}

static void
put_value(struct writ_buf *out, struct writ_crew_value *value)
{
    put(out, writ_crew_value_text(value));
    writ_crew_value_free(value);
}

static void
put_why(struct writ_buf *out, struct writ_crew_text *why)
{
    put(out, writ_view(why->ptr, why->len));
    writ_crew_text_wipe(why);
}

/* ---- reading */

#define HEAD "\"schema_version\":\"1.0\",\"name\":\"C\""
static const char bad_shape[] =
    "{" HEAD ",\"description\":1,\"roles\":[{\"role\":\"\",\"permissions\":{\"talk_to\":[1]},"
    "\"execution\":{\"voting\":{\"quorom\":1,\"weights\":{\"a/b\":-1}}}}]}";
static const char odd_shape[] =
    "{" HEAD ",\"roles\":[{\"role\":\"a\",\"permissions\":{\"talk_to\":[\"x\"],"
    "\"delegate_to\":[\"a\",\"y\"],\"escalate_to\":[\"a\"]}},{\"role\":\"a\",\"permissions\":{}}]}";
static const char bad_agents[] = "{" HEAD ",\"agents\":[{\"role\":\"\",\"amount\":-1},1]}";
static const char good_shape[] =
    "{" HEAD ",\"roles\":[{\"role\":\"a\",\"permissions\":{\"talk_to\":[\"t\"]},"
    "\"first_input\":true,\"hooks\":{\"before_agent\":\"h\"},\"execution\":{\"timeout_ms\":5,"
    "\"memex\":{\"view\":\"all\",\"retrieval\":{\"budget\":2}},\"checkpoints\":[\"c\"]}},"
    "{\"role\":\"t\",\"permissions\":{},\"amount\":2,\"nested_crew\":\"k\",\"execution\":{"
    "\"memex\":{\"isolation\":\"hard\"},\"voting\":{\"weights\":{\"t-1\":2},\"quorum\":\"1/2\"}}},"
    "{\"role\":\"f\",\"permissions\":{},\"amount\":1,\"activation\":{\"on_timeout\":true,"
    "\"on_permission_denied\":true}},"
    "{\"role\":\"z\",\"permissions\":{},\"final_output\":true,\"amount\":1}]}";
static const char good_agents[] =
    "{" HEAD ",\"agents\":[{\"role\":\"a\",\"amount\":2,\"system_prompt\":\"p\"}]}";
static const char inner_shape[] =
    "{\"schema_version\":\"1.0\",\"name\":\"K\",\"roles\":[{\"role\":\"i\",\"permissions\":{},"
    "\"first_input\":true,\"final_output\":true,\"amount\":1}]}";

static writ_result
refuse_shape(struct writ_buf *out)
{
    struct writ_crew_findings *faults = writ_crew_findings_new();
    struct writ_crew_shape *shape = NULL;
    writ_result result = {WRIT_E_NOMEM};

    if (faults != NULL) {
        result = writ_crew_shape_read(writ_view_str(bad_shape), NULL, faults, &shape, NULL);
    }
    ck_assert_ptr_null(shape);
    put_findings(out, faults);
    writ_crew_findings_free(faults);
    return result.code == WRIT_E_INVALID ? WRIT_DONE : result;
}

static writ_result
refuse_agents(struct writ_buf *out)
{
    struct writ_crew_findings *faults = writ_crew_findings_new();
    struct writ_crew_agents *agents = NULL;
    writ_result result = {WRIT_E_NOMEM};

    if (faults != NULL) {
        result = writ_crew_agents_read(writ_view_str(bad_agents), NULL, faults, &agents, NULL);
    }
    ck_assert_ptr_null(agents);
    put_findings(out, faults);
    writ_crew_findings_free(faults);
    return result.code == WRIT_E_INVALID ? WRIT_DONE : result;
}

static writ_result
lint_shape(struct writ_buf *out)
{
    struct writ_crew_findings *errors = writ_crew_findings_new();
    struct writ_crew_findings *warnings = writ_crew_findings_new();
    struct writ_crew_shape *shape = NULL;
    writ_result result = {WRIT_E_NOMEM};

    if (errors != NULL && warnings != NULL) {
        result = writ_crew_shape_read(writ_view_str(odd_shape), NULL, NULL, &shape, NULL);
    }
    if (writ_is_ok(result)) {
        result = writ_crew_shape_lint(shape, NULL, errors, warnings);
        put_findings(out, errors);
        put_findings(out, warnings);
    }
    writ_crew_shape_free(shape);
    writ_crew_findings_free(errors);
    writ_crew_findings_free(warnings);
    return result;
}

static writ_result
read_values(struct writ_buf *out)
{
    struct writ_crew_value *value = NULL;
    char id[16];

    WRIT_TRY(writ_crew_value_read(
        WRIT_LIT("{\"b\":[1.50,{\"d\":\"\\u0041\",\"c\":null}],\"a\":1e2}"), NULL, &value, NULL));
    put_value(out, value);
    WRIT_TRY(writ_crew_correlation(WRIT_LIT("c"), WRIT_LIT("r"), WRIT_LIT("a-1"), 1, id));
    put(out, writ_view(id, sizeof id));
    return WRIT_DONE;
}

/* ---- counting */

static writ_result
count_with(struct writ_buf *out, const char *config, const char *const outputs[3],
    const struct writ_crew_engines *engines)
{
    struct writ_crew_entry entries[3];
    struct writ_crew_voting *voting = NULL;
    struct writ_crew_verdict verdict = {0};
    writ_result result = writ_crew_voting_read(writ_view_str(config), NULL, &voting, NULL);

    for (size_t at = 0; at < 3; at++) {
        entries[at] = (struct writ_crew_entry){
            WRIT_LIT("v-1"), WRIT_LIT("v"), writ_view_str(outputs[at]), false, false};
    }
    if (writ_is_ok(result)) {
        result = writ_crew_vote(voting, engines, entries, 3, 3, &verdict, NULL);
    }
    writ_crew_voting_free(voting);
    if (writ_is_ok(result)) {
        put(out, writ_crew_value_text(verdict.value));
        put(out, writ_view(verdict.why.ptr, verdict.why.len));
    }
    writ_crew_verdict_wipe(&verdict);
    return result;
}

static writ_result
count_votes(struct writ_buf *out)
{
    static const char *const words[] = {"\"approve\"", "\"reject\"", "{\"vote\":\"approve\"}"};
    static const char *const lists[] = {"[\"a\",\"b\"]", "[\"b\",\"a\"]", "[\"b\",\"a\"]"};
    static const char *const scores[] = {"{\"n\":1}", "{\"n\":3}", "{}"};

    WRIT_TRY(count_with(out, "\"first_valid\"", words, NULL));
    WRIT_TRY(count_with(out, "\"unanimous\"", words, NULL));
    WRIT_TRY(count_with(out, "{\"mode\":\"majority\",\"quorum\":\"1/1\"}", lists, NULL));
    WRIT_TRY(count_with(out, "{\"weights\":{\"v\":3},\"threshold\":\"2/3\"}", lists, NULL));
    WRIT_TRY(count_with(out, "{\"mode\":\"review\",\"veto\":[\"v-2\"]}", words, NULL));
    WRIT_TRY(count_with(out, "{\"mode\":\"best_of_n\",\"score\":\"/n\"}", scores, NULL));
    return count_with(out, "{\"mode\":\"borda\",\"lambda\":\"1/3\"}", lists, NULL);
}

static int
count_second(const struct writ_crew_poll *poll, struct writ_crew_tally *tally)
{
    tally->explain(tally, "%zu candidates", poll->candidates_n);
    tally->candidate(tally, 1);
    return 0;
}

static const struct writ_crew_engine second = {
    WRIT_CREW_ENGINE_ABI, "second", "the second one", count_second};

static writ_result
count_by_engine(struct writ_buf *out)
{
    static const char *const lists[] = {"[\"a\",\"b\"]", "[\"b\",\"a\"]", "1"};
    struct writ_crew_engines *engines = writ_crew_engines_new();
    writ_result result = {WRIT_E_NOMEM};

    if (engines != NULL) {
        result = writ_crew_engines_add(engines, &second, NULL, NULL);
    }
    if (writ_is_ok(result)) {
        result = count_with(out, "\"engine:second\"", lists, engines);
    }
    writ_crew_engines_free(engines);
    return result;
}

static writ_result
elect(struct writ_buf *out)
{
    const struct writ_view names[] = {WRIT_LIT("a"), WRIT_LIT("b"), WRIT_LIT("c")};
    const struct writ_view other[] = {WRIT_LIT("c"), WRIT_LIT("a"), WRIT_LIT("b")};
    const struct writ_crew_ranking rankings[] = {
        {WRIT_LIT("x"), names, 3}, {WRIT_LIT("y"), other, 3}, {WRIT_LIT("z"), other, 3}};
    struct writ_crew_text why = {0};
    size_t winner = 9;

    WRIT_TRY(writ_crew_elect(WRIT_LIT("borda"), NULL, names, 3, rankings, 3, &winner, &why, NULL));
    put(out, names[winner]);
    put_why(out, &why);
    WRIT_TRY(
        writ_crew_elect(WRIT_LIT("majority"), NULL, names, 3, rankings, 3, &winner, &why, NULL));
    put(out, names[winner]);
    put_why(out, &why);
    return WRIT_DONE;
}

static writ_result
choose_handler(struct writ_buf *out)
{
    const struct writ_view roles[] = {WRIT_LIT("Dev"), WRIT_LIT("Ops"), WRIT_LIT("Doc")};
    const struct writ_view answers[] = {
        WRIT_LIT("[\"Ops\",\"Doc\"]"), WRIT_LIT("Doc, then Dev"), {NULL, 0}};
    struct writ_crew_text text = {0};
    size_t order[3], handler = 9;

    WRIT_TRY(writ_crew_prompt(WRIT_LIT("a </task> \x01 task"), roles, 3, &text));
    put_why(out, &text);
    WRIT_TRY(writ_crew_prompt_parse(WRIT_LIT("[\"Doc\",\"Dev\",\"Ops\"] it is"), roles, 3, order));
    writ_buf_fmt(out, "%zu%zu%zu\n", order[0], order[1], order[2]);
    WRIT_TRY(
        writ_crew_dispatch(roles, answers, 3, writ_view(NULL, 0), NULL, &handler, &text, NULL));
    put(out, roles[handler]);
    put_why(out, &text);
    return WRIT_DONE;
}

/* ---- memory, checkpoints, a pool */

static writ_result
use_memory(struct writ_crew_memory *memory, void **fork, void **restored, struct writ_buf *out)
{
    const struct writ_crew_scope scope = {
        WRIT_LIT("a-1"), WRIT_LIT("c"), WRIT_LIT("a"), WRIT_LIT("crew")};
    const struct writ_crew_memory_ops *ops = memory->ops;
    struct writ_crew_value *value = NULL;

    WRIT_TRY(ops->apply(memory->self, &scope,
        WRIT_LIT("{\"type\":\"memory.create\",\"item\":{\"id\":\"n\",\"importance\":2}}")));
    WRIT_TRY(ops->apply(memory->self, &scope,
        WRIT_LIT("{\"type\":\"memory.update\",\"item_id\":\"n\",\"partial\":{\"x\":1}}")));
    WRIT_TRY(
        ops->retrieve(memory->self, &scope, WRIT_LIT("{\"weights\":{\"importance\":1}}"), &value));
    put_value(out, value);
    WRIT_TRY(ops->fork(memory->self, WRIT_LIT("d"), fork));
    WRIT_TRY(ops->apply(
        *fork, &scope, WRIT_LIT("{\"type\":\"memory.create\",\"item\":{\"id\":\"m\"}}")));
    WRIT_TRY(
        ops->apply(*fork, &scope, WRIT_LIT("{\"type\":\"memory.retract\",\"item_id\":\"n\"}")));
    WRIT_TRY(ops->import(memory->self, *fork));
    WRIT_TRY(ops->snapshot(memory->self, &value));
    put(out, writ_crew_value_text(value));
    writ_result result =
        ops->restore(memory->self, writ_crew_value_text(value), WRIT_LIT("e"), restored);
    writ_crew_value_free(value);
    WRIT_TRY(result);
    WRIT_TRY(ops->snapshot(*restored, &value));
    put_value(out, value);
    return WRIT_DONE;
}

static writ_result
remember(struct writ_buf *out)
{
    struct writ_crew_memory memory = {0};
    void *fork = NULL, *restored = NULL;
    writ_result result = writ_crew_memory_new(WRIT_LIT("c"), &memory);

    if (!writ_is_ok(result)) {
        return result;
    }
    result = use_memory(&memory, &fork, &restored, out);
    if (fork != NULL) {
        memory.ops->free(fork);
    }
    if (restored != NULL) {
        memory.ops->free(restored);
    }
    memory.ops->free(memory.self);
    return result;
}

static writ_result
keep_checkpoints(struct writ_buf *out)
{
    struct writ_crew_checkpoints *store = writ_crew_checkpoints_new();
    struct writ_crew_value *value = NULL;
    writ_result result = {WRIT_E_NOMEM};

    if (store != NULL) {
        result = writ_crew_value_read(WRIT_LIT("{\"a\":1}"), NULL, &value, NULL);
    }
    for (int at = 0; at < 12 && writ_is_ok(result); at++) {
        char id[16];
        struct writ_buf text = writ_buf_over(id, sizeof id);
        writ_buf_fmt(&text, "id-%d", at % 9);
        result = writ_crew_checkpoints_put(store, writ_buf_view(&text), value);
    }
    if (writ_is_ok(result)) {
        writ_crew_checkpoints_delete(store, WRIT_LIT("id-3"));
        for (size_t at = 0; at < writ_crew_checkpoints_count(store); at++) {
            put(out, writ_crew_checkpoints_id(store, at));
        }
    }
    writ_crew_value_free(value);
    writ_crew_checkpoints_free(store);
    return result;
}

static writ_result
share_insights(struct writ_buf *out)
{
    const struct writ_view tags[] = {WRIT_LIT("x"), WRIT_LIT("y")};
    const struct writ_crew_insight insight = {WRIT_LIT("a-1"), WRIT_LIT("found"), WRIT_LIT("s"),
        WRIT_LIT("{\"m\":[1]}"), tags, 2, 0.5, {NULL, 0}};
    const struct writ_crew_filter filter = {.any_tags = tags, .any_tags_n = 1};
    struct writ_crew_pool *pool = writ_crew_pool_new(10);
    struct writ_crew_value *read = NULL, *statistics = NULL;
    writ_result result = {WRIT_E_NOMEM};

    if (pool != NULL) {
        result = writ_crew_pool_add(pool, &insight, NULL);
    }
    if (writ_is_ok(result)) {
        result = writ_crew_pool_read(pool, &filter, &read);
    }
    if (writ_is_ok(result)) {
        result = writ_crew_pool_statistics(pool, &statistics);
    }
    put_value(out, read);
    put_value(out, statistics);
    writ_crew_pool_free(pool);
    return result;
}

/* ---- a session: the calls that unit.crew does not make */

struct live {
    struct writ_crew_shape *shape, *inner;
    struct writ_crew_agents *agents;
    struct writ_crew_graph *graph;
    struct writ_crew_memory memory;
    struct writ_crew_options options;
    struct writ_crew_session *session, *resumed;
    struct writ_crew_value *snapshot;
    double now;
};

static double
clock_now(void *user)
{
    return *(const double *)user;
}

static void
hook(void *user, const struct writ_crew_hook *about, struct writ_crew_control *control)
{
    (void)user;
    writ_crew_control_checkpoint(control, about->agent_id);
    writ_crew_control_request(control, WRIT_LIT("a-1"), WRIT_LIT("z-1"), WRIT_CREW_ESCALATE_TO);
}

static writ_result
open_live(struct live *live)
{
    static const struct writ_crew_hooks hooks = {hook, NULL};
    struct writ_crew_registered registered = {WRIT_LIT("k"), NULL};

    WRIT_TRY(writ_crew_shape_read(writ_view_str(good_shape), NULL, NULL, &live->shape, NULL));
    WRIT_TRY(writ_crew_shape_read(writ_view_str(inner_shape), NULL, NULL, &live->inner, NULL));
    WRIT_TRY(writ_crew_agents_read(writ_view_str(good_agents), NULL, NULL, &live->agents, NULL));
    registered.shape = live->inner;
    const struct writ_crew_plan plan = {
        .shape = live->shape, .agents = live->agents, .registry = &registered, .registry_n = 1};
    WRIT_TRY(writ_crew_graph_build(&plan, &live->graph, NULL));
    WRIT_TRY(writ_crew_memory_new(WRIT_LIT("c"), &live->memory));
    live->options = (struct writ_crew_options){.crew_id = WRIT_LIT("c"),
        .graph = live->graph,
        .clock = {clock_now, &live->now},
        .hooks = &hooks,
        .memory = &live->memory,
        .has_default_timeout = true,
        .default_timeout_ms = 7,
        .auto_checkpoint = true};
    return writ_crew_session_new(&live->options, &live->session, NULL);
}

static writ_result
live_on(struct live *live, struct writ_buf *out)
{
    struct writ_crew_events events = {NULL, 0};
    bool allowed = true;

    WRIT_TRY(writ_crew_session_start(
        live->session, WRIT_LIT("{\"in\":1}"), WRIT_LIT("\"task\""), &events, NULL));
    put_events(out, events);
    WRIT_TRY(writ_crew_session_request(live->session, WRIT_LIT("a-2"), WRIT_LIT("z-1"),
        WRIT_CREW_TALK_TO, &allowed, &events, NULL));
    put_events(out, events);
    WRIT_TRY(writ_crew_session_tick(live->session, 5, &events, NULL));
    put_events(out, events);
    WRIT_TRY(writ_crew_session_tick(live->session, 7, &events, NULL));
    put_events(out, events);
    WRIT_TRY(writ_crew_session_pending(live->session, &events, NULL));
    put_events(out, events);
    WRIT_TRY(writ_crew_session_snapshot(live->session, &live->snapshot, NULL));
    put(out, writ_crew_value_text(live->snapshot));
    WRIT_TRY(writ_crew_session_resume(&live->options, writ_crew_value_text(live->snapshot), NULL, 0,
        WRIT_CREW_RESUME_TREAT_AS_FAILED, &live->resumed, &events, NULL));
    put_events(out, events);
    WRIT_TRY(writ_crew_session_cancel(live->session, WRIT_CREW_TIMEOUT, &events, NULL));
    put_events(out, events);
    return WRIT_DONE;
}

static writ_result
run_session(struct writ_buf *out)
{
    struct live live = {0};
    writ_result result = open_live(&live);

    if (writ_is_ok(result)) {
        result = live_on(&live, out);
    }
    writ_crew_session_free(live.session);
    writ_crew_session_free(live.resumed);
    writ_crew_value_free(live.snapshot);
    if (live.memory.ops != NULL) {
        live.memory.ops->free(live.memory.self);
    }
    writ_crew_graph_free(live.graph);
    writ_crew_agents_free(live.agents);
    writ_crew_shape_free(live.inner);
    writ_crew_shape_free(live.shape);
    return result;
}

/* What agents request from a pool, with a subscriber. */
static void
take_insight(void *user, struct writ_view agent_id, struct writ_view insight)
{
    put(user, agent_id);
    put(user, insight);
}

static writ_result
request_pool(struct writ_buf *out)
{
    static const char *const requests[] = {
        "{\"type\":\"pool.subscribe\",\"anyTags\":[\"t\"],\"segment\":\"s\"}",
        "{\"type\":\"pool.put\",\"content\":\"c\",\"tags\":[\"t\"],\"segment\":\"s\",\"key\":\"k\","
        "\"metadata\":{\"m\":1}}",
        "{\"type\":\"pool.search\",\"allTags\":[\"t\"]}", "{\"type\":\"pool.statistics\"}"};
    struct writ_crew_pool *pool = writ_crew_pool_new(10);
    const struct writ_crew_pool_reader reader = {take_insight, out};
    writ_result result = {pool != NULL ? WRIT_OK : WRIT_E_NOMEM};

    for (size_t at = 0; writ_is_ok(result) && at < sizeof requests / sizeof *requests; at++) {
        struct writ_crew_value *answer = NULL;
        result = writ_crew_pool_request(pool, at == 0 ? WRIT_LIT("b") : WRIT_LIT("a"),
            writ_view_str(requests[at]), &reader, &answer, NULL);
        if (writ_is_ok(result)) {
            put_value(out, answer);
        }
    }
    writ_crew_pool_free(pool);
    return result;
}

/* ---- all of them */

static const struct {
    const char *name;
    operation *run;
} operations[] = {
    {"a shape is refused", refuse_shape},
    {"an agents file is refused", refuse_agents},
    {"lint", lint_shape},
    {"values", read_values},
    {"votes", count_votes},
    {"an engine", count_by_engine},
    {"elections", elect},
    {"a handler", choose_handler},
    {"the memory", remember},
    {"checkpoints", keep_checkpoints},
    {"a pool", share_insights},
    {"requests to a pool", request_pool},
    {"a session", run_session},
};

static char wanted[OUT_MAX], given[OUT_MAX];

START_TEST(crew_with_a_failed_allocation_gives_no_memory_or_the_same_log)
{
    for (size_t at = 0; at < sizeof operations / sizeof operations[0]; at++) {
        struct writ_buf want = writ_buf_over(wanted, sizeof wanted);
        bool reached = true;
        long nth = 1;

        ck_assert_ok(operations[at].run(&want));
        ck_assert_ok(writ_buf_check(&want, NULL));
        ck_assert_uint_gt(want.len, 0);
        for (; reached; nth++) {
            struct writ_buf got = writ_buf_over(given, sizeof given);
            writ_fault_arm(nth);
            writ_result result = operations[at].run(&got);
            reached = writ_fault_disarm();
            ck_assert_msg(writ_is_ok(result) || reached, "%s: failed without a fault at %ld",
                operations[at].name, nth);
            ck_assert_msg(writ_is_ok(result) || result.code == WRIT_E_NOMEM,
                "%s, allocation %ld: %s", operations[at].name, nth, writ_code_name(result.code));
            ck_assert_msg(
                !writ_is_ok(result) || writ_view_equal(writ_buf_view(&got), writ_buf_view(&want)),
                "%s, allocation %ld: another outcome", operations[at].name, nth);
        }
        ck_assert_int_gt(nth, 2); /* it does allocate */
    }
}
END_TEST

WRIT_UNIT_MAIN("crew", crew_with_a_failed_allocation_gives_no_memory_or_the_same_log)
