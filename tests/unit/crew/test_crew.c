/* The crew machine as a whole (writ/crew.h): limits on both sides, deviations that no golden
 * scenario shows, answers in any order, a resume at every step, and a failed allocation at every
 * place. The log never depends on any of them. */
#include "support/unit.h"

#include "base/bytes.h"
#include "writ/crew.h"

#include <stdio.h>

/** A crew to play with. */
struct crew {
    struct writ_crew_shape *shape, *inner;
    struct writ_crew_agents *agents;
    struct writ_crew_registered registry;
    struct writ_crew_graph *graph;
    struct writ_crew_options options;
    struct writ_crew_session *session;
    struct writ_buf log; /* every event, one per line */
    double now;
};

static double
now(void *user)
{
    return ((struct crew *)user)->now;
}

/* Builds from texts; the first failure's error, or WRIT_CREW_NONE. */
static enum writ_crew_error
crew_open(struct crew *crew, const char *shape, const char *agents, const char *inner,
    const struct writ_crew_limits *limits)
{
    struct writ_crew_plan plan;
    struct writ_crew_err err = {0};

    crew->log = writ_buf_make(SIZE_MAX);
    if (!writ_is_ok(writ_crew_shape_read(writ_view_str(shape), limits, NULL, &crew->shape, &err)) ||
        !writ_is_ok(
            writ_crew_agents_read(writ_view_str(agents), limits, NULL, &crew->agents, &err)) ||
        (inner != NULL && !writ_is_ok(writ_crew_shape_read(
                              writ_view_str(inner), limits, NULL, &crew->inner, &err)))) {
        return err.error;
    }
    crew->registry = (struct writ_crew_registered){WRIT_LIT("inner"), crew->inner};
    plan = (struct writ_crew_plan){.shape = crew->shape,
        .agents = crew->agents,
        .registry = &crew->registry,
        .registry_n = inner != NULL,
        .limits = limits};
    if (!writ_is_ok(writ_crew_graph_build(&plan, &crew->graph, &err))) {
        return err.error;
    }
    crew->options.crew_id = WRIT_LIT("c");
    crew->options.graph = crew->graph;
    crew->options.clock = (struct writ_crew_clock){now, crew};
    crew->options.limits = limits;
    return writ_is_ok(writ_crew_session_new(&crew->options, &crew->session, &err)) ? WRIT_CREW_NONE
                                                                                   : err.error;
}

static void
crew_close(struct crew *crew)
{
    writ_crew_session_free(crew->session);
    writ_crew_graph_free(crew->graph);
    writ_crew_agents_free(crew->agents);
    writ_crew_shape_free(crew->shape);
    writ_crew_shape_free(crew->inner);
    writ_buf_wipe(&crew->log);
}

static void
log_events(struct crew *crew, const struct writ_crew_events *events)
{
    for (size_t at = 0; at < events->n; at++) {
        writ_buf_put(&crew->log, events->list[at]);
        writ_buf_byte(&crew->log, '\n');
    }
}

/* Starts; WRIT_CREW_NONE, or why not. */
static enum writ_crew_error
crew_start(struct crew *crew)
{
    struct writ_crew_events events;
    struct writ_crew_err err = {0};

    if (!writ_is_ok(writ_crew_session_start(
            crew->session, WRIT_LIT("{\"q\":1}"), writ_view(NULL, 0), &events, &err))) {
        return err.error;
    }
    log_events(crew, &events);
    return WRIT_CREW_NONE;
}

/* The correlation id of the pending request at `at`; false: there are not so many. */
static bool
pending_id(struct crew *crew, size_t at, char ret[17])
{
    struct writ_crew_events events;
    size_t from;

    if (!writ_is_ok(writ_crew_session_pending(crew->session, &events, NULL)) || at >= events.n) {
        return false;
    }
    from = writ_view_search(events.list[at], WRIT_LIT("\"correlationId\":\"")) + 17;
    writ_view_place(writ_view_sub(events.list[at], from, 16), ret);
    ret[16] = '\0';
    return true;
}

static enum writ_crew_error
crew_answer(struct crew *crew, const char *id, const char *rest)
{
    struct writ_crew_events events;
    struct writ_crew_err err = {0};
    char event[256];

    snprintf(event, sizeof event, "{\"type\":\"agent.step.completed\",\"correlationId\":\"%s\"%s}",
        id, rest);
    if (!writ_is_ok(
            writ_crew_session_deliver(crew->session, writ_view_str(event), &events, &err))) {
        return err.error;
    }
    log_events(crew, &events);
    return WRIT_CREW_NONE;
}

#define ROLE(name, more) "{\"role\":\"" name "\",\"permissions\":{}" more "}"
#define SHAPE(roles)     "{\"schema_version\":\"1.0\",\"name\":\"C\",\"roles\":[" roles "]}"
#define AGENTS           "{\"schema_version\":\"1.0\",\"name\":\"C\",\"agents\":[]}"
#define INNER(roles)     "{\"schema_version\":\"1.0\",\"name\":\"IN\",\"roles\":[" roles "]}"
#define ENTRY            ROLE("a", ",\"first_input\":true,\"amount\":1")
#define EXIT             ROLE("z", ",\"final_output\":true,\"amount\":1")
#define WORKERS(n)                                                                                 \
    ROLE("w", ",\"amount\":" #n ",\"execution\":{\"voting\":{\"mode\":\"majority\"}}")
#define FIXER ROLE("f", ",\"amount\":1,\"activation\":{\"on_fault\":true}")

/* Answers every pending question, the `pick`-th of the rest first, until the crew is done. */
static void
crew_finish(struct crew *crew, size_t pick)
{
    char id[17];

    for (int guard = 0; guard < 10000; guard++) {
        struct writ_crew_events events;
        char rest[64];
        if (!writ_is_ok(writ_crew_session_pending(crew->session, &events, NULL)) || events.n == 0) {
            return;
        }
        ck_assert(pending_id(crew, pick % events.n, id));
        snprintf(rest, sizeof rest, ",\"output\":\"%c\"", id[3] & 1 ? 'x' : 'y');
        ck_assert_int_eq(crew_answer(crew, id, rest), WRIT_CREW_NONE);
        pick = pick / 7 + 3 * pick + 1;
    }
    ck_abort_msg("the crew does not end");
}

/* ---- order */

START_TEST(answers_in_any_order_give_the_same_log)
{
    struct crew first = {0};

    ck_assert_int_eq(crew_open(&first, SHAPE(ENTRY "," WORKERS(6) "," EXIT), AGENTS, NULL, NULL),
        WRIT_CREW_NONE);
    ck_assert_int_eq(crew_start(&first), WRIT_CREW_NONE);
    crew_finish(&first, 0);
    ck_assert_int_eq(writ_crew_session_status(first.session), WRIT_CREW_COMPLETED);
    for (size_t pick = 1; pick < 200; pick++) {
        struct crew other = {0};
        ck_assert_int_eq(
            crew_open(&other, SHAPE(ENTRY "," WORKERS(6) "," EXIT), AGENTS, NULL, NULL),
            WRIT_CREW_NONE);
        ck_assert_int_eq(crew_start(&other), WRIT_CREW_NONE);
        crew_finish(&other, pick);
        ck_assert(writ_view_equal(writ_buf_view(&other.log), writ_buf_view(&first.log)));
        crew_close(&other);
    }
    crew_close(&first);
}
END_TEST

/* ---- resuming */

#define BUSY                                                                                       \
    SHAPE(ENTRY "," ROLE("t", ",\"amount\":2,\"nested_crew\":\"inner\"") "," WORKERS(2) "," FIXER  \
                                                                                        "," EXIT)
#define BUSY_INNER INNER(ENTRY "," EXIT)

/* One scripted answer: every third one is a fault, which a fixer takes over. */
static bool
script_step(struct crew *crew, size_t step)
{
    char id[17];

    if (!pending_id(crew, 0, id)) {
        return false;
    }
    ck_assert_int_eq(
        crew_answer(crew, id, step % 3 == 2 ? ",\"fault\":true" : ",\"output\":{\"n\":1.50}"),
        WRIT_CREW_NONE);
    return true;
}

/* Replaces the session by one that was resumed from its snapshot. */
static void
swap_session(struct crew *crew)
{
    struct writ_crew_session *resumed = NULL;
    struct writ_crew_value *snapshot = NULL, *again = NULL;
    struct writ_crew_events events;
    struct writ_crew_err err = {0};

    ck_assert_ok(writ_crew_session_snapshot(crew->session, &snapshot, &err));
    ck_assert_msg(
        writ_is_ok(writ_crew_session_resume(&crew->options, writ_crew_value_text(snapshot), NULL, 0,
            WRIT_CREW_RESUME_RE_EMIT, &resumed, &events, &err)),
        "%s", err.err.text);
    ck_assert_ok(writ_crew_session_snapshot(resumed, &again, &err));
    ck_assert(writ_view_equal(writ_crew_value_text(snapshot), writ_crew_value_text(again)));
    writ_crew_value_free(snapshot);
    writ_crew_value_free(again);
    writ_crew_session_free(crew->session);
    crew->session = resumed;
}

START_TEST(resuming_at_every_step_gives_the_same_log)
{
    struct crew straight = {0};
    size_t steps = 0;

    ck_assert_int_eq(crew_open(&straight, BUSY, AGENTS, BUSY_INNER, NULL), WRIT_CREW_NONE);
    ck_assert_int_eq(crew_start(&straight), WRIT_CREW_NONE);
    while (script_step(&straight, steps)) {
        steps++;
    }
    ck_assert_int_eq(writ_crew_session_status(straight.session), WRIT_CREW_COMPLETED);
    ck_assert_uint_gt(steps, 6);
    for (size_t cut = 0; cut <= steps; cut++) {
        struct crew crew = {0};
        ck_assert_int_eq(crew_open(&crew, BUSY, AGENTS, BUSY_INNER, NULL), WRIT_CREW_NONE);
        ck_assert_int_eq(crew_start(&crew), WRIT_CREW_NONE);
        for (size_t step = 0; step < steps; step++) {
            if (step == cut || cut == steps) {
                swap_session(&crew);
            }
            ck_assert(script_step(&crew, step));
        }
        ck_assert(writ_view_equal(writ_buf_view(&crew.log), writ_buf_view(&straight.log)));
        crew_close(&crew);
    }
    crew_close(&straight);
}
END_TEST

START_TEST(resume_of_a_changed_snapshot_is_refused_or_runs)
{
    struct crew crew = {0};
    struct writ_crew_value *snapshot = NULL;
    struct writ_view text;
    char *copy;

    ck_assert_int_eq(crew_open(&crew, BUSY, AGENTS, BUSY_INNER, NULL), WRIT_CREW_NONE);
    ck_assert_int_eq(crew_start(&crew), WRIT_CREW_NONE);
    for (size_t step = 0; step < 3; step++) {
        ck_assert(script_step(&crew, step));
    }
    ck_assert_ok(writ_crew_session_snapshot(crew.session, &snapshot, NULL));
    text = writ_crew_value_text(snapshot);
    copy = writ_alloc(text.len);
    ck_assert_ptr_nonnull(copy);
    for (size_t at = 0; at < text.len; at++) {
        struct writ_crew_session *resumed = NULL;
        struct writ_crew_events events;
        struct writ_crew_err err = {0};
        writ_view_place(text, copy);
        copy[at] = (char)(copy[at] ^ 1);
        writ_result result = writ_crew_session_resume(&crew.options, writ_view(copy, text.len),
            NULL, 0, WRIT_CREW_RESUME_TREAT_AS_FAILED, &resumed, &events, &err);
        ck_assert(writ_is_ok(result) == (resumed != NULL));
        ck_assert(writ_is_ok(result) || err.error != WRIT_CREW_NONE);
        writ_crew_session_free(resumed);
    }
    writ_free(copy);
    writ_crew_value_free(snapshot);
    crew_close(&crew);
}
END_TEST

static size_t
count_of(struct writ_view log, struct writ_view what)
{
    size_t n = 0;

    for (size_t at = writ_view_search(log, what); at < log.len; n++) {
        log = writ_view_sub(log, at + 1, log.len);
        at = writ_view_search(log, what);
    }
    return n;
}

START_TEST(resume_of_a_crew_without_waits_is_refused)
{
    const struct writ_view text =
        WRIT_LIT("{\"schema_version\":\"1.0\",\"crewId\":\"c\",\"status\":\"awaiting_responses\","
                 "\"phaseIndex\":0,\"agentAttempts\":[],\"nested\":[],\"ts\":0,\"currentPhase\":{"
                 "\"roleId\":\"a\","
                 "\"pending\":[],\"fixerSteps\":[],\"outputs\":[],\"terminalSeen\":[],"
                 "\"nestedPending\":[]}}");
    struct writ_crew_session *resumed = NULL;
    struct writ_crew_events events;
    struct writ_crew_err err = {0};
    struct crew crew = {0};

    ck_assert_int_eq(crew_open(&crew, SHAPE(ENTRY "," EXIT), AGENTS, NULL, NULL), WRIT_CREW_NONE);
    ck_assert_code(writ_crew_session_resume(&crew.options, text, NULL, 0, WRIT_CREW_RESUME_RE_EMIT,
                       &resumed, &events, &err),
        WRIT_E_PARSE);
    ck_assert_ptr_nonnull(__builtin_strstr(err.err.text, "waits for nothing"));
    crew_close(&crew);
}
END_TEST

static double
no_time(void *user)
{
    (void)user;
    return __builtin_nan("");
}

START_TEST(snapshot_with_a_failed_clock_fails)
{
    struct writ_crew_session *session = NULL;
    struct writ_crew_value *snapshot = NULL;
    struct crew crew = {0};

    ck_assert_int_eq(crew_open(&crew, SHAPE(ENTRY "," EXIT), AGENTS, NULL, NULL), WRIT_CREW_NONE);
    crew.options.clock.now = no_time;
    ck_assert_ok(writ_crew_session_new(&crew.options, &session, NULL));
    ck_assert(!writ_is_ok(writ_crew_session_snapshot(session, &snapshot, NULL)));
    ck_assert_ptr_null(snapshot);
    writ_crew_session_free(session);
    crew_close(&crew);
}
END_TEST

START_TEST(snapshot_beyond_its_limit_is_refused)
{
    struct writ_crew_limits limits = writ_crew_limits_default;
    struct writ_crew_session *resumed = NULL;
    struct writ_crew_value *snapshot = NULL;
    struct writ_crew_events events;
    struct crew crew = {0};

    ck_assert_int_eq(crew_open(&crew, SHAPE(ENTRY "," EXIT), AGENTS, NULL, NULL), WRIT_CREW_NONE);
    ck_assert_ok(writ_crew_session_snapshot(crew.session, &snapshot, NULL));
    crew.options.limits = &limits;
    limits.snapshot_bytes = writ_crew_value_text(snapshot).len - 1;
    ck_assert_code(writ_crew_session_resume(&crew.options, writ_crew_value_text(snapshot), NULL, 0,
                       WRIT_CREW_RESUME_ABORT, &resumed, &events, NULL),
        WRIT_E_LIMIT);
    limits.snapshot_bytes++;
    ck_assert_ok(writ_crew_session_resume(&crew.options, writ_crew_value_text(snapshot), NULL, 0,
        WRIT_CREW_RESUME_ABORT, &resumed, &events, NULL));
    writ_crew_session_free(resumed);
    writ_crew_value_free(snapshot);
    crew_close(&crew);
}
END_TEST

/* ---- deviations that the golden scenarios do not show */

START_TEST(nested_crews_that_end_at_once_all_run_in_their_phase)
{
    struct crew crew = {0};
    static const char shape[] =
        SHAPE(ENTRY "," ROLE("t", ",\"amount\":3,\"nested_crew\":\"inner\"") "," EXIT);
    static const char inner[] =
        INNER(ROLE("ia", ",\"first_input\":true") "," ROLE("iz", ",\"final_output\":true"));
    struct writ_view log;
    size_t completed = 0, entered;
    char id[17];

    ck_assert_int_eq(crew_open(&crew, shape, AGENTS, inner, NULL), WRIT_CREW_NONE);
    ck_assert_int_eq(crew_start(&crew), WRIT_CREW_NONE);
    ck_assert(pending_id(&crew, 0, id));
    ck_assert_int_eq(crew_answer(&crew, id, ",\"output\":1"), WRIT_CREW_NONE);
    log = writ_buf_view(&crew.log);
    entered =
        writ_view_search(log, WRIT_LIT("{\"roleId\":\"z\",\"ts\":0,\"type\":\"role.entered\"}"));
    for (size_t at = 0; at < entered;) {
        struct writ_view rest = writ_view_sub(log, at, log.len);
        size_t next = writ_view_search(rest, WRIT_LIT("nested.crew.completed"));
        completed += at + next < log.len;
        at += next + 1;
    }
    ck_assert_uint_eq(completed, 3);
    crew_finish(&crew, 0);
    ck_assert_int_eq(writ_crew_session_status(crew.session), WRIT_CREW_COMPLETED);
    crew_close(&crew);
}
END_TEST

/* Opens the session again, with options that were changed since. */
static void
crew_reopen(struct crew *crew)
{
    writ_crew_session_free(crew->session);
    crew->session = NULL;
    ck_assert_ok(writ_crew_session_new(&crew->options, &crew->session, NULL));
}

#define AT_ONCE INNER(ROLE("ia", ",\"first_input\":true") "," ROLE("iz", ",\"final_output\":true"))

START_TEST(nested_fixer_that_ends_at_once_ends_its_phase_after_the_tick)
{
    static const char shape[] = SHAPE(ENTRY "," ROLE(
        "w", ",\"amount\":12,\"execution\":{\"timeout_ms\":5}") "," ROLE("f",
        ",\"amount\":1,\"nested_crew\":\"inner\",\"activation\":{\"on_timeout\":true}") "," EXIT);
    struct writ_crew_events events;
    struct crew crew = {0};
    char id[17];

    ck_assert_int_eq(crew_open(&crew, shape, AGENTS, AT_ONCE, NULL), WRIT_CREW_NONE);
    ck_assert_int_eq(crew_start(&crew), WRIT_CREW_NONE);
    ck_assert(pending_id(&crew, 0, id));
    ck_assert_int_eq(crew_answer(&crew, id, ""), WRIT_CREW_NONE);
    while (pending_id(&crew, 1, id)) {
        ck_assert_int_eq(crew_answer(&crew, id, ",\"output\":1"), WRIT_CREW_NONE);
    }
    ck_assert_ok(writ_crew_session_tick(crew.session, 5, &events, NULL));
    log_events(&crew, &events);
    ck_assert_uint_eq(count_of(writ_buf_view(&crew.log), WRIT_LIT("agent.step.timed_out")), 1);
    ck_assert(pending_id(&crew, 0, id));
    ck_assert(!pending_id(&crew, 1, id));
    crew_finish(&crew, 0);
    ck_assert_int_eq(writ_crew_session_status(crew.session), WRIT_CREW_COMPLETED);
    crew_close(&crew);
}
END_TEST

static void
ask_what_is_denied(void *user, const struct writ_crew_hook *hook, struct writ_crew_control *control)
{
    (void)user;
    (void)hook;
    writ_crew_control_request(control, WRIT_LIT("w-1"), WRIT_LIT("z-1"), WRIT_CREW_TALK_TO);
}

START_TEST(hook_that_ends_a_nested_fixer_keeps_the_phase_of_its_answer)
{
    static const char shape[] =
        SHAPE(ENTRY "," ROLE("w", ",\"amount\":1,\"hooks\":{\"after_agent\":\"ask\"}") "," ROLE("f",
            ",\"amount\":1,\"nested_crew\":\"inner\",\"activation\":{"
            "\"on_fault\":true,\"on_permission_denied\":true}") "," EXIT);
    static const struct writ_crew_hooks hooks = {ask_what_is_denied, NULL};
    struct crew crew = {0};
    char id[17];

    ck_assert_int_eq(crew_open(&crew, shape, AGENTS, AT_ONCE, NULL), WRIT_CREW_NONE);
    crew.options.hooks = &hooks;
    crew_reopen(&crew);
    ck_assert_int_eq(crew_start(&crew), WRIT_CREW_NONE);
    for (int step = 0; step < 2; step++) {
        ck_assert(pending_id(&crew, 0, id));
        ck_assert_int_eq(crew_answer(&crew, id, ",\"fault\":true"), WRIT_CREW_NONE);
    }
    ck_assert_uint_eq(count_of(writ_buf_view(&crew.log), WRIT_LIT("\"failedRoleId\":\"z\"")), 0);
    crew_finish(&crew, 0);
    ck_assert_int_eq(writ_crew_session_status(crew.session), WRIT_CREW_COMPLETED);
    crew_close(&crew);
}
END_TEST

/* Its fixer is invoked when the vote was taken: it runs, and no later phase waits for it. */
START_TEST(nested_crew_that_outlives_its_phase_changes_no_other)
{
    static const struct writ_crew_hooks hooks = {ask_what_is_denied, NULL};
    static const char shape[] =
        SHAPE(ENTRY "," ROLE("w", ",\"amount\":1,\"hooks\":{\"after_role\":\"ask\"}") "," ROLE("f",
            ",\"amount\":1,\"nested_crew\":\"inner\",\"activation\":{"
            "\"on_permission_denied\":true}") "," EXIT);
    static const char inner[] =
        INNER(ROLE("i", ",\"first_input\":true,\"final_output\":true,\"amount\":1"));
    struct crew crew = {0};
    struct writ_view log;
    char id[17];

    ck_assert_int_eq(crew_open(&crew, shape, AGENTS, inner, NULL), WRIT_CREW_NONE);
    crew.options.hooks = &hooks;
    crew_reopen(&crew);
    ck_assert_int_eq(crew_start(&crew), WRIT_CREW_NONE);
    for (int answers = 0; answers < 2; answers++) { /* a-1 and w-1 */
        ck_assert(pending_id(&crew, 0, id));
        ck_assert_int_eq(crew_answer(&crew, id, ",\"output\":1"), WRIT_CREW_NONE);
    }
    for (int answers = 0; answers < 2; answers++) { /* the inner crew, while z-1 waits */
        ck_assert(pending_id(&crew, 1, id));
        ck_assert_int_eq(crew_answer(&crew, id, ",\"output\":2"), WRIT_CREW_NONE);
    }
    log = writ_buf_view(&crew.log);
    ck_assert_uint_lt(writ_view_search(log, WRIT_LIT("nested.crew.completed")), log.len);
    ck_assert_int_eq(writ_crew_session_status(crew.session), WRIT_CREW_AWAITING_RESPONSES);
    ck_assert(pending_id(&crew, 0, id));
    ck_assert_int_eq(crew_answer(&crew, id, ",\"output\":3"), WRIT_CREW_NONE);
    ck_assert_int_eq(writ_crew_session_status(crew.session), WRIT_CREW_COMPLETED);
    log = writ_buf_view(&crew.log);
    ck_assert_uint_lt(writ_view_search(log, WRIT_LIT("\"finalOutput\":3")), log.len);
    crew_close(&crew);
}
END_TEST

static struct writ_crew_shape *
shape_of(const char *text)
{
    struct writ_crew_shape *shape = NULL;

    ck_assert_ok(writ_crew_shape_read(writ_view_str(text), NULL, NULL, &shape, NULL));
    return shape;
}

/* The innermost crew asks a fixer after its vote, and ends before it is answered. */
START_TEST(questions_of_an_ended_nested_crew_are_dropped_at_every_level)
{
    static const struct writ_crew_hooks hooks = {ask_what_is_denied, NULL};
    struct writ_crew_registered registry[] = {
        {WRIT_LIT("middle"),
            shape_of("{\"schema_version\":\"1.0\",\"name\":\"M\",\"roles\":[" ROLE("m",
                ",\"first_input\":true,\"amount\":1,\"nested_crew\":\"inner\"") "," EXIT "]}")},
        {WRIT_LIT("inner"),
            shape_of(INNER(ROLE("w", ",\"first_input\":true,\"amount\":1,\"hooks\":{\"after_role\":"
                                     "\"ask\"}") "," ROLE("f",
                ",\"amount\":1,\"activation\":{\"on_permission_denied\":true}") "," EXIT))},
    };
    static const char shape[] =
        SHAPE(ROLE("t", ",\"first_input\":true,\"amount\":1,\"nested_crew\":\"middle\"") "," EXIT);
    struct writ_crew_plan plan = {.registry = registry, .registry_n = 2};
    struct crew crew = {.log = writ_buf_make(SIZE_MAX), .shape = shape_of(shape)};
    struct writ_crew_value *snapshot = NULL;
    struct writ_view cids;
    char id[17];

    ck_assert_ok(writ_crew_agents_read(WRIT_LIT(AGENTS), NULL, NULL, &crew.agents, NULL));
    plan.shape = crew.shape;
    plan.agents = crew.agents;
    ck_assert_ok(writ_crew_graph_build(&plan, &crew.graph, NULL));
    crew.options = (struct writ_crew_options){
        .crew_id = WRIT_LIT("c"), .graph = crew.graph, .clock = {now, &crew}, .hooks = &hooks};
    crew_reopen(&crew);
    ck_assert_int_eq(crew_start(&crew), WRIT_CREW_NONE);
    for (int answers = 0; answers < 2; answers++) { /* w-1, and z-1 inside */
        ck_assert(pending_id(&crew, 0, id));
        ck_assert_int_eq(crew_answer(&crew, id, ",\"output\":1"), WRIT_CREW_NONE);
    }
    ck_assert_uint_eq(count_of(writ_buf_view(&crew.log), WRIT_LIT("nested.crew.completed")), 1);
    ck_assert(pending_id(&crew, 0, id)); /* only z-1 of the middle crew */
    ck_assert_ok(writ_crew_session_snapshot(crew.session, &snapshot, NULL));
    cids = writ_crew_value_text(snapshot);
    cids = writ_view_sub(cids, writ_view_search(cids, WRIT_LIT("\"innerCids\":[\"")), SIZE_MAX);
    ck_assert_uint_eq(writ_view_find(cids, ']'), sizeof "\"innerCids\":[\"" - 1 + 16 + 1);
    writ_crew_value_free(snapshot);
    crew_close(&crew);
    writ_crew_shape_free((struct writ_crew_shape *)registry[0].shape);
    writ_crew_shape_free((struct writ_crew_shape *)registry[1].shape);
}
END_TEST

/* The nested fixer of a phase that is over waits for an answer when the last step expires. */
START_TEST(tick_after_the_end_of_the_crew_emits_nothing)
{
    static const struct writ_crew_hooks hooks = {ask_what_is_denied, NULL};
    static const char shape[] =
        SHAPE(ENTRY "," ROLE("w", ",\"amount\":1,\"hooks\":{\"after_role\":\"ask\"}") "," ROLE("f",
            ",\"amount\":1,\"nested_crew\":\"inner\",\"activation\":{"
            "\"on_permission_denied\":true}") "," EXIT);
    static const char inner[] =
        INNER(ROLE("i", ",\"first_input\":true,\"final_output\":true,\"amount\":1"));
    struct writ_crew_events events;
    struct crew crew = {0};
    char id[17];

    ck_assert_int_eq(crew_open(&crew, shape, AGENTS, inner, NULL), WRIT_CREW_NONE);
    crew.options.hooks = &hooks;
    crew.options.has_default_timeout = true;
    crew.options.default_timeout_ms = 5;
    crew_reopen(&crew);
    ck_assert_int_eq(crew_start(&crew), WRIT_CREW_NONE);
    for (int answers = 0; answers < 2; answers++) { /* a-1 and w-1 */
        ck_assert(pending_id(&crew, 0, id));
        ck_assert_int_eq(crew_answer(&crew, id, ",\"output\":1"), WRIT_CREW_NONE);
    }
    ck_assert(pending_id(&crew, 1, id)); /* z-1 and the inner i-1 */
    ck_assert_ok(writ_crew_session_tick(crew.session, 5, &events, NULL));
    ck_assert_int_eq(writ_crew_session_status(crew.session), WRIT_CREW_COMPLETED);
    ck_assert_uint_lt(
        writ_view_search(events.list[events.n - 1], WRIT_LIT("\"type\":\"crew.completed\"")),
        events.list[events.n - 1].len);
    crew_close(&crew);
}
END_TEST

/* ---- texts that cannot be written, and errors */

static void
note_in_vain(void *user, const struct writ_crew_hook *hook, struct writ_crew_control *control)
{
    (void)hook;
    writ_crew_control_checkpoint(control, WRIT_LIT("\xff"));
    *(bool *)user =
        writ_crew_control_request(control, WRIT_LIT("a-1"), WRIT_LIT("\xff"), WRIT_CREW_TALK_TO);
}

START_TEST(ids_that_are_not_utf_8_never_reach_an_event)
{
    static const char shape[] = SHAPE(
        ROLE("a", ",\"first_input\":true,\"amount\":1,\"hooks\":{\"before_role\":\"n\"}") "," EXIT);
    bool allowed = true;
    const struct writ_crew_hooks hooks = {note_in_vain, &allowed};
    struct writ_crew_session *session = NULL;
    struct writ_crew_events events;
    struct writ_crew_err err = {0};
    struct crew crew = {0};

    ck_assert_int_eq(crew_open(&crew, shape, AGENTS, NULL, NULL), WRIT_CREW_NONE);
    crew.options.hooks = &hooks;
    crew_reopen(&crew);
    ck_assert_int_eq(crew_start(&crew), WRIT_CREW_NONE);
    ck_assert(!allowed);
    ck_assert_uint_eq(count_of(writ_buf_view(&crew.log), WRIT_LIT("\xff")), 0);
    allowed = true;
    ck_assert_code(writ_crew_session_request(crew.session, WRIT_LIT("\xff"), WRIT_LIT("a-1"),
                       WRIT_CREW_TALK_TO, &allowed, &events, &err),
        WRIT_E_INVALID);
    ck_assert_int_eq(err.error, WRIT_CREW_MALFORMED);
    ck_assert(allowed);
    ck_assert_ok(writ_crew_session_request(crew.session, WRIT_LIT("a-1"), WRIT_LIT("a-01"),
        WRIT_CREW_TALK_TO, &allowed, &events, &err)); /* and the session continues */
    ck_assert(!allowed);
    crew.options.crew_id = WRIT_LIT("\xff");
    ck_assert_code(writ_crew_session_new(&crew.options, &session, &err), WRIT_E_INVALID);
    ck_assert_ptr_null(session);
    crew_close(&crew);
}
END_TEST

/* The text of the error with which a crew is not opened. */
static void
check_refusal(const char *shape, const char *agents, const char *want)
{
    struct crew crew = {0};
    struct writ_crew_err err = {0};
    struct writ_crew_plan plan = {0};

    if (writ_is_ok(writ_crew_shape_read(writ_view_str(shape), NULL, NULL, &crew.shape, &err)) &&
        writ_is_ok(writ_crew_agents_read(writ_view_str(agents), NULL, NULL, &crew.agents, &err))) {
        plan.shape = crew.shape;
        plan.agents = crew.agents;
        ck_assert(!writ_is_ok(writ_crew_graph_build(&plan, &crew.graph, &err)));
    }
    ck_assert_str_eq(err.err.text, want);
    crew_close(&crew);
}

START_TEST(error_names_its_place)
{
    check_refusal(
        SHAPE(ROLE("a", ",\"amount\":1.5")), AGENTS, "invalid_type at \"/roles/0/amount\"");
    check_refusal(SHAPE(ROLE("a", ",\"amount\":-1,\"hooks\":1")), AGENTS,
        "too_small at \"/roles/0/amount\", and more: see the list");
    check_refusal(SHAPE(ENTRY "," ENTRY "," EXIT), AGENTS,
        "shape C: duplicate_role at a, and more: lint lists them");
    check_refusal(SHAPE(ENTRY), AGENTS, "shape C: missing_final_output");
    check_refusal(SHAPE(ENTRY "," EXIT "," ROLE("w", ",\"amount\":3,\"max_allowed\":2")), AGENTS,
        "role w has 3 agents; its max_allowed is 2");
    check_refusal(SHAPE(ENTRY "," EXIT "," ROLE("w", ",\"amount\":1,\"nested_crew\":\"n\"")),
        AGENTS, "role w nests crew n, which is not registered");
}
END_TEST

START_TEST(limit_of_the_largest_number_is_accepted)
{
    struct writ_crew_limits limits = writ_crew_limits_default;
    writ_auto_buf shape = writ_buf_make(SIZE_MAX);
    struct crew crew = {0};

    writ_buf_str(&shape, "{\"schema_version\":\"1.0\",\"name\":\"C\",\"roles\":[" ENTRY);
    for (int at = 0; at < 1000; at++) {
        writ_buf_fmt(&shape, "," ROLE("w%d", ""), at);
    }
    writ_buf_str(&shape, "," EXIT "]}");
    writ_buf_byte(&shape, '\0');
    ck_assert_ok(writ_buf_check(&shape, NULL));
    limits.text_bytes = limits.event_bytes = limits.snapshot_bytes = SIZE_MAX;
    ck_assert_int_eq(crew_open(&crew, shape.ptr, AGENTS, NULL, &limits), WRIT_CREW_NONE);
    crew_close(&crew);
}
END_TEST

/* ---- limits */

/* A crew of 7 roles, 4 of them nested; of 1 + 2 * (1 + 2) + 1 agents. */
static const char limited_shape[] =
    SHAPE(ENTRY "," ROLE("t", ",\"amount\":2,\"nested_crew\":\"inner\"") "," EXIT);
static const char limited_inner[] = INNER(ENTRY "," ROLE("ib", "") "," ROLE("ic", "") "," EXIT);

START_TEST(shape_beyond_a_limit_is_refused)
{
    const size_t longest = sizeof limited_inner - 1 > sizeof limited_shape - 1
                               ? sizeof limited_inner - 1
                               : sizeof limited_shape - 1;
    const struct {
        const char *name;
        size_t member, most;
    } cases[] = {
        {"text_bytes", offsetof(struct writ_crew_limits, text_bytes), longest},
        {"crew_roles", offsetof(struct writ_crew_limits, crew_roles), 7},
        {"role_agents", offsetof(struct writ_crew_limits, role_agents), 2},
        {"crew_agents", offsetof(struct writ_crew_limits, crew_agents), 8},
        {"nesting", offsetof(struct writ_crew_limits, nesting), 2},
    };

    for (size_t at = 0; at < sizeof cases / sizeof *cases; at++) {
        for (size_t over = 0; over <= 1; over++) {
            struct writ_crew_limits limits = writ_crew_limits_default;
            struct crew crew = {0};
            enum writ_crew_error error;
            *(size_t *)(void *)((char *)&limits + cases[at].member) = cases[at].most - over;
            error = crew_open(&crew, limited_shape, AGENTS, limited_inner, &limits);
            ck_assert_msg(error == (over ? WRIT_CREW_LIMIT_EXCEEDED : WRIT_CREW_NONE),
                "%s, %zu over: %s", cases[at].name, over, writ_crew_error_name(error));
            crew_close(&crew);
        }
    }
}
END_TEST

START_TEST(graph_build_limits_the_agents_of_a_role_to_the_ballots_of_a_vote)
{
    struct writ_crew_limits limits = writ_crew_limits_default;
    char shape[512];

    limits.role_agents = limits.crew_agents = 2 * (size_t)WRIT_CREW_BALLOTS_MAX;
    for (int over = 0; over <= 1; over++) {
        struct crew crew = {0};
        snprintf(shape, sizeof shape, SHAPE(ENTRY "," EXIT "," ROLE("w", ",\"amount\":%d")),
            WRIT_CREW_BALLOTS_MAX + over);
        ck_assert_int_eq(crew_open(&crew, shape, AGENTS, NULL, &limits),
            over ? WRIT_CREW_LIMIT_EXCEEDED : WRIT_CREW_NONE);
        crew_close(&crew);
    }
}
END_TEST

START_TEST(event_beyond_its_limit_is_refused)
{
    struct writ_crew_limits limits = writ_crew_limits_default;
    struct writ_crew_events events;
    struct writ_crew_err err = {0};
    struct crew crew = {0};

    limits.event_bytes = 30;
    ck_assert_int_eq(
        crew_open(&crew, SHAPE(ENTRY "," EXIT), AGENTS, NULL, &limits), WRIT_CREW_NONE);
    ck_assert_int_eq(crew_start(&crew), WRIT_CREW_NONE);
    ck_assert_ok(writ_crew_session_deliver(
        crew.session, WRIT_LIT("{\"type\":\"other\",\"aaaaaa\":123}"), &events, &err));
    ck_assert_int_eq(writ_crew_session_deliver(crew.session,
                         WRIT_LIT("{\"type\":\"other\",\"aaaaaaa\":1234}"), &events, &err)
                         .code,
        WRIT_E_LIMIT);
    ck_assert_int_eq(err.error, WRIT_CREW_LIMIT_EXCEEDED);
    /* and the session continues */
    ck_assert_int_eq(writ_crew_session_status(crew.session), WRIT_CREW_AWAITING_RESPONSES);
    ck_assert_ok(writ_crew_session_deliver(crew.session, WRIT_LIT("{}"), &events, &err));
    crew_close(&crew);
}
END_TEST

/* Answers the entry with arrays in each other, so that the event is `depth` deep. */
static enum writ_crew_error
answer_deeply(struct crew *crew, size_t depth)
{
    writ_auto_buf event = writ_buf_make(SIZE_MAX);
    struct writ_crew_events events;
    struct writ_crew_err err = {0};
    char id[17];

    ck_assert(pending_id(crew, 0, id));
    writ_buf_str(&event, "{\"type\":\"agent.step.completed\",\"correlationId\":\"");
    writ_buf_str(&event, id);
    writ_buf_str(&event, "\",\"output\":");
    for (size_t at = 1; at < depth; at++) {
        writ_buf_byte(&event, '[');
    }
    for (size_t at = 1; at < depth; at++) {
        writ_buf_byte(&event, ']');
    }
    writ_buf_byte(&event, '}');
    ck_assert_ok(writ_buf_check(&event, NULL));
    return writ_is_ok(
               writ_crew_session_deliver(crew->session, writ_buf_view(&event), &events, &err))
               ? WRIT_CREW_NONE
               : err.error;
}

START_TEST(resume_with_the_deepest_output_succeeds)
{
    struct writ_crew_session *resumed = NULL;
    struct writ_crew_value *snapshot = NULL;
    struct writ_crew_events events;
    struct crew crew = {0};

    ck_assert_int_eq(
        crew_open(&crew, SHAPE(ENTRY "," WORKERS(2) "," EXIT), AGENTS, NULL, NULL), WRIT_CREW_NONE);
    ck_assert_int_eq(crew_start(&crew), WRIT_CREW_NONE);
    ck_assert_int_eq(answer_deeply(&crew, WRIT_CREW_DEPTH_MAX + 1), WRIT_CREW_LIMIT_EXCEEDED);
    ck_assert_int_eq(answer_deeply(&crew, WRIT_CREW_DEPTH_MAX), WRIT_CREW_NONE);
    ck_assert_int_eq(answer_deeply(&crew, WRIT_CREW_DEPTH_MAX), WRIT_CREW_NONE);
    ck_assert_ok(writ_crew_session_snapshot(crew.session, &snapshot, NULL));
    ck_assert_ok(writ_crew_session_resume(&crew.options, writ_crew_value_text(snapshot), NULL, 0,
        WRIT_CREW_RESUME_RE_EMIT, &resumed, &events, NULL));
    ck_assert_uint_eq(events.n, 1);
    writ_crew_session_free(resumed);
    writ_crew_value_free(snapshot);
    crew_close(&crew);
}
END_TEST

START_TEST(memory_item_with_huge_numbers_is_accepted)
{
    static const char shape[] =
        SHAPE(ENTRY "," ROLE("w", ",\"amount\":1,\"execution\":{\"memex\":{"
                                  "\"retrieval\":{\"weights\":{\"authority\":1e300}}}}") "," EXIT);
    struct writ_crew_memory memory = {0};
    struct crew crew = {0};
    char id[17];

    ck_assert_ok(writ_crew_memory_new(WRIT_LIT("c"), &memory));
    ck_assert_int_eq(crew_open(&crew, shape, AGENTS, NULL, NULL), WRIT_CREW_NONE);
    crew.options.memory = &memory;
    crew_reopen(&crew);
    ck_assert_int_eq(crew_start(&crew), WRIT_CREW_NONE);
    ck_assert(pending_id(&crew, 0, id));
    ck_assert_int_eq(crew_answer(&crew, id,
                         ",\"memex_commands\":[{\"type\":\"memory.create\",\"item\":{"
                         "\"id\":\"i\",\"authority\":1e300,\"meta\":{}}}]"),
        WRIT_CREW_NONE);
    ck_assert(pending_id(&crew, 0, id));
    crew_close(&crew);
    memory.ops->free(memory.self);
}
END_TEST

static writ_result
refuse_restore(void *self, struct writ_view snapshot, struct writ_view crew_id, void **ret)
{
    (void)self;
    (void)snapshot;
    (void)crew_id;
    (void)ret;
    return (writ_result){WRIT_E_INVALID};
}

START_TEST(resume_refused_by_the_memory_is_not_reported_as_no_memory)
{
    static const char shape[] =
        SHAPE(ENTRY "," ROLE("w", ",\"amount\":1,\"nested_crew\":\"inner\","
                                  "\"execution\":{\"memex\":{\"isolation\":\"hard\"}}") "," EXIT);
    static const char inner[] = INNER(
        ROLE("ia", ",\"first_input\":true,\"amount\":1") "," ROLE("iz", ",\"final_output\":true"));
    struct writ_crew_session *resumed = NULL;
    struct writ_crew_value *snapshot = NULL;
    struct writ_crew_memory_ops ops;
    struct writ_crew_memory memory = {0};
    struct writ_crew_events events;
    struct writ_crew_err err = {0};
    struct crew crew = {0};
    char id[17];

    ck_assert_ok(writ_crew_memory_new(WRIT_LIT("c"), &memory));
    ops = *memory.ops;
    ops.restore = refuse_restore;
    memory.ops = &ops;
    ck_assert_int_eq(crew_open(&crew, shape, AGENTS, inner, NULL), WRIT_CREW_NONE);
    crew.options.memory = &memory;
    crew_reopen(&crew);
    ck_assert_int_eq(crew_start(&crew), WRIT_CREW_NONE);
    ck_assert(pending_id(&crew, 0, id));
    ck_assert_int_eq(crew_answer(&crew, id, ""), WRIT_CREW_NONE);
    ck_assert_ok(writ_crew_session_snapshot(crew.session, &snapshot, NULL));
    ck_assert_int_eq(writ_crew_session_resume(&crew.options, writ_crew_value_text(snapshot), NULL,
                         0, WRIT_CREW_RESUME_RE_EMIT, &resumed, &events, &err)
                         .code,
        WRIT_E_PARSE);
    ck_assert_int_eq(err.error, WRIT_CREW_MALFORMED);
    writ_crew_value_free(snapshot);
    crew_close(&crew);
    memory.ops->free(memory.self);
}
END_TEST

START_TEST(fixers_of_a_phase_have_a_limit)
{
    for (size_t most = 1; most <= 3; most++) {
        struct writ_crew_limits limits = writ_crew_limits_default;
        struct crew crew = {0};
        char id[17];
        limits.phase_fixers = most;
        ck_assert_int_eq(
            crew_open(&crew, SHAPE(ENTRY "," WORKERS(3) "," FIXER "," EXIT), AGENTS, NULL, &limits),
            WRIT_CREW_NONE);
        ck_assert_int_eq(crew_start(&crew), WRIT_CREW_NONE);
        ck_assert(pending_id(&crew, 0, id));
        ck_assert_int_eq(crew_answer(&crew, id, ""), WRIT_CREW_NONE);
        for (int worker = 0; worker < 3; worker++) {
            ck_assert(pending_id(&crew, 0, id));
            ck_assert_int_eq(crew_answer(&crew, id, ",\"fault\":true"), WRIT_CREW_NONE);
        }
        ck_assert_uint_eq(count_of(writ_buf_view(&crew.log), WRIT_LIT("\"fixer.invoked\"")), most);
        crew_close(&crew);
    }
}
END_TEST

static void
ask_again(void *user, const struct writ_crew_hook *hook, struct writ_crew_control *control)
{
    (void)user;
    (void)hook;
    writ_crew_control_request(control, WRIT_LIT("a-1"), WRIT_LIT("z-1"), WRIT_CREW_ESCALATE_TO);
}

START_TEST(hooks_that_ask_repeatedly_are_limited)
{
    static const struct writ_crew_hooks hooks = {ask_again, NULL};
    struct writ_crew_limits limits = writ_crew_limits_default;
    struct writ_crew_session *session = NULL;
    struct writ_crew_events events;
    struct crew crew = {0};
    bool allowed = true;

    limits.action_recursion = 5;
    ck_assert_int_eq(crew_open(&crew,
                         SHAPE(ROLE("a", ",\"first_input\":true,\"amount\":1,\"hooks\":{"
                                         "\"on_permission_denied\":\"again\"}") "," EXIT),
                         AGENTS, NULL, &limits),
        WRIT_CREW_NONE);
    crew.options.hooks = &hooks;
    ck_assert_ok(writ_crew_session_new(&crew.options, &session, NULL));
    ck_assert_ok(writ_crew_session_request(
        session, WRIT_LIT("a-1"), WRIT_LIT("z-1"), WRIT_CREW_TALK_TO, &allowed, &events, NULL));
    ck_assert(!allowed);
    ck_assert_uint_eq(events.n, 6);
    writ_crew_session_free(session);
    crew_close(&crew);
}
END_TEST

/* ---- memory that runs out */

/* The whole life of a crew. True: it ran through; its log is in `crew`. */
static bool
live(struct crew *crew)
{
    struct writ_crew_value *snapshot = NULL;
    struct writ_crew_session *resumed = NULL;
    struct writ_crew_events events;
    char id[17];
    bool ok = crew_open(crew, BUSY, AGENTS, BUSY_INNER, NULL) == WRIT_CREW_NONE &&
              crew_start(crew) == WRIT_CREW_NONE;

    for (size_t step = 0; ok && pending_id(crew, 0, id); step++) {
        ok = crew_answer(crew, id, step % 3 == 2 ? ",\"fault\":true" : ",\"output\":[1]") ==
             WRIT_CREW_NONE;
    }
    ok = ok && writ_is_ok(writ_crew_session_snapshot(crew->session, &snapshot, NULL)) &&
         writ_is_ok(writ_crew_session_resume(&crew->options, writ_crew_value_text(snapshot), NULL,
             0, WRIT_CREW_RESUME_ABORT, &resumed, &events, NULL));
    ok = ok && writ_crew_session_status(crew->session) == WRIT_CREW_COMPLETED &&
         writ_is_ok(writ_buf_check(&crew->log, NULL));
    writ_crew_session_free(resumed);
    writ_crew_value_free(snapshot);
    return ok;
}

START_TEST(crew_with_a_failed_allocation_gives_no_other_log)
{
    struct crew whole = {0};
    bool reached = true;

    ck_assert(live(&whole));
    for (long nth = 1; reached; nth++) {
        struct crew crew = {0};
        writ_fault_arm(nth);
        bool ran = live(&crew);
        reached = writ_fault_disarm();
        if (ran) {
            ck_assert_msg(writ_view_equal(writ_buf_view(&crew.log), writ_buf_view(&whole.log)),
                "allocation %ld", nth);
        } else {
            ck_assert_msg(reached, "failed without a fault at %ld", nth);
        }
        crew_close(&crew);
    }
    crew_close(&whole);
}
END_TEST

WRIT_UNIT_MAIN("crew", nested_crew_that_outlives_its_phase_changes_no_other,
    questions_of_an_ended_nested_crew_are_dropped_at_every_level,
    tick_after_the_end_of_the_crew_emits_nothing, ids_that_are_not_utf_8_never_reach_an_event,
    error_names_its_place, limit_of_the_largest_number_is_accepted,
    resume_of_a_crew_without_waits_is_refused, snapshot_with_a_failed_clock_fails,
    snapshot_beyond_its_limit_is_refused, answers_in_any_order_give_the_same_log,
    resuming_at_every_step_gives_the_same_log, resume_of_a_changed_snapshot_is_refused_or_runs,
    nested_crews_that_end_at_once_all_run_in_their_phase,
    nested_fixer_that_ends_at_once_ends_its_phase_after_the_tick,
    hook_that_ends_a_nested_fixer_keeps_the_phase_of_its_answer,
    resume_with_the_deepest_output_succeeds, memory_item_with_huge_numbers_is_accepted,
    resume_refused_by_the_memory_is_not_reported_as_no_memory, shape_beyond_a_limit_is_refused,
    graph_build_limits_the_agents_of_a_role_to_the_ballots_of_a_vote,
    event_beyond_its_limit_is_refused, fixers_of_a_phase_have_a_limit,
    hooks_that_ask_repeatedly_are_limited, crew_with_a_failed_allocation_gives_no_other_log)
