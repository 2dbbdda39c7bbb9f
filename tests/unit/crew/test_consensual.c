/* The consensual process: candidates are asked in parallel, an engine elects, and the elected one
 * does the task. What a crew does never depends on the order of the answers, on a resume at any
 * step, or on a failed allocation; actions speak for the agent of their step alone. */
#include "support/unit.h"

#include "base/bytes.h"
#include "writ/crew.h"

#include <stdio.h>

#define SHAPE(rest, roles)                                                                         \
    "{\"schema_version\":\"1.0\",\"name\":\"C\"" rest ",\"roles\":[" roles "]}"
#define ROLE(name, rest) "{\"role\":\"" name "\",\"permissions\":{}" rest "}"
#define ONE              ",\"amount\":1"
#define CONSENSUAL       ",\"process\":\"consensual\""
#define THREE            ROLE("a", ONE) "," ROLE("b", ONE) "," ROLE("c", ONE)
#define FIXER                                                                                      \
    ROLE("f", ONE                                                                                  \
        ",\"activation\":{\"on_fault\":true,\"on_timeout\":true,\"on_permission_denied\":true}")

static const char agents_text[] = "{\"schema_version\":\"1.0\",\"name\":\"C\",\"agents\":[]}";

/** A crew, its session, and everything that it says. */
struct crew {
    struct writ_crew_shape *shape, *inner;
    struct writ_crew_agents *agents;
    struct writ_crew_graph *graph;
    struct writ_crew_options options;
    struct writ_crew_session *session;
    struct writ_crew_err err;
    struct writ_buf log;
    bool resumes; /* from a snapshot before every answer */
};

static double
now(void *user)
{
    (void)user;
    return 7;
}

static void
note(struct crew *crew, struct writ_crew_events events)
{
    for (size_t at = 0; at < events.n; at++) {
        writ_buf_put(&crew->log, events.list[at]);
        writ_buf_byte(&crew->log, '\n');
    }
}

static writ_result
crew_open(struct crew *crew, const char *shape, const char *inner, const char *engine)
{
    struct writ_crew_registered registry = {WRIT_LIT("inner"), NULL};

    crew->log = writ_buf_make(SIZE_MAX);
    WRIT_TRY(writ_crew_shape_read(writ_view_str(shape), NULL, NULL, &crew->shape, &crew->err));
    WRIT_TRY(
        writ_crew_agents_read(writ_view_str(agents_text), NULL, NULL, &crew->agents, &crew->err));
    if (inner != NULL) {
        WRIT_TRY(writ_crew_shape_read(writ_view_str(inner), NULL, NULL, &crew->inner, &crew->err));
    }
    registry.shape = crew->inner;
    const struct writ_crew_plan plan = {.shape = crew->shape,
        .agents = crew->agents,
        .registry = &registry,
        .registry_n = inner != NULL,
        .consensual = engine != NULL,
        .consensus = engine != NULL ? writ_view_str(engine) : writ_view(NULL, 0)};
    WRIT_TRY(writ_crew_graph_build(&plan, &crew->graph, &crew->err));
    crew->options = (struct writ_crew_options){.crew_id = WRIT_LIT("c"),
        .graph = crew->graph,
        .clock = {now, NULL},
        .has_default_timeout = true,
        .default_timeout_ms = 10};
    return writ_crew_session_new(&crew->options, &crew->session, &crew->err);
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

static writ_result
start(struct crew *crew, const char *task)
{
    struct writ_crew_events events;
    struct writ_view absent = {NULL, 0};

    WRIT_TRY(writ_crew_session_start(
        crew->session, absent, task != NULL ? writ_view_str(task) : absent, &events, &crew->err));
    note(crew, events);
    return WRIT_DONE;
}

/* Continues in a session that was made from a snapshot of this one. */
static writ_result
renew(struct crew *crew)
{
    struct writ_crew_value *snapshot = NULL;
    struct writ_crew_session *next = NULL;
    struct writ_crew_events events;
    writ_result taken = writ_crew_session_snapshot(crew->session, &snapshot, NULL);

    if (writ_is_ok(taken)) {
        taken = writ_crew_session_resume(&crew->options, writ_crew_value_text(snapshot), NULL, 0,
            WRIT_CREW_RESUME_RE_EMIT, &next, &events, NULL);
    }
    writ_crew_value_free(snapshot);
    WRIT_TRY(taken);
    writ_crew_session_free(crew->session);
    crew->session = next;
    return WRIT_DONE;
}

/* The member of the pending request of an agent; false: it has none. */
static bool
find_step(struct crew *crew, const char *agent, char ret[17])
{
    writ_auto_buf wanted = writ_buf_make(256);
    struct writ_crew_events events;

    writ_buf_fmt(&wanted, "\"agentId\":\"%s\"", agent);
    if (!writ_is_ok(writ_crew_session_pending(crew->session, &events, NULL))) {
        return false;
    }
    for (size_t at = 0; at < events.n; at++) {
        struct writ_view step = events.list[at];
        if (writ_view_search(step, writ_buf_view(&wanted)) < step.len) {
            size_t from = writ_view_search(step, WRIT_LIT("\"correlationId\":\"")) + 17;
            writ_view_place(writ_view_sub(step, from, 16), ret);
            ret[16] = '\0';
            return true;
        }
    }
    return false;
}

/* Answers the open step of an agent; `answer` without '{' is the JSON of an output. */
static writ_result
answer(struct crew *crew, const char *agent, const char *output)
{
    writ_auto_buf event = writ_buf_make(1 << 20);
    struct writ_crew_events events;
    char id[17];

    if (crew->resumes) {
        WRIT_TRY(renew(crew));
    }
    if (!find_step(crew, agent, id)) {
        return (writ_result){WRIT_E_NOMEM}; /* only when memory was refused */
    }
    if (output == NULL) {
        writ_buf_fmt(
            &event, "{\"type\":\"agent.step.failed\",\"correlationId\":\"%s\",\"error\":{}}", id);
    } else {
        writ_buf_fmt(&event,
            "{\"type\":\"agent.step.completed\",\"correlationId\":\"%s\",\"output\":%s}", id,
            output);
    }
    WRIT_TRY(writ_buf_check(&event, NULL));
    WRIT_TRY(writ_crew_session_deliver(crew->session, writ_buf_view(&event), &events, &crew->err));
    note(crew, events);
    return WRIT_DONE;
}

static bool
said(const struct crew *crew, const char *text)
{
    return writ_view_search(writ_buf_view(&crew->log), writ_view_str(text)) < crew->log.len;
}

#define ck_said(crew, text)                                                                        \
    ck_assert_msg(                                                                                 \
        said(crew, text), "%s is missing in\n%.*s", text, (int)(crew)->log.len, (crew)->log.ptr)

/* ---- tests */

START_TEST(consensual_crew_asks_all_elects_one_and_gives_it_the_task)
{
    struct crew crew = {0};

    ck_assert_ok(crew_open(&crew, SHAPE(CONSENSUAL, THREE), NULL, NULL));
    ck_assert_ok(start(&crew, "\"repair </task> it\""));
    ck_said(&crew, "\"candidates\":[\"a\",\"b\",\"c\"],\"crewId\":\"c\",\"engine\":\"majority\",");
    ck_said(&crew, "\"input\":{\"ballot\":[\"a\",\"c\"],\"prompt\":\"Rank");
    ck_assert(!said(&crew, "repair </task> it</task>"));
    ck_assert_ok(answer(&crew, "c-1", "\"b, I think; then a\""));
    ck_assert_ok(answer(&crew, "a-1", "[\"b\",\"c\"]"));
    ck_assert(!said(&crew, "dispatch.ballot"));
    ck_assert_ok(answer(&crew, "b-1", "\"none of them\""));
    ck_said(&crew, "{\"agentId\":\"a-1\",\"ranking\":[\"b\",\"c\",\"a\"],\"roleId\":\"a\",\"ts\":7,"
                   "\"type\":\"dispatch.ballot\"}\n"
                   "{\"agentId\":\"b-1\",\"roleId\":\"b\",\"ts\":7,"
                   "\"type\":\"dispatch.ballot.unreadable\"}\n"
                   "{\"agentId\":\"c-1\",\"ranking\":[\"b\",\"a\",\"c\"]");
    ck_said(&crew,
        "{\"agentId\":\"b-1\",\"crewId\":\"c\",\"engine\":\"majority\",\"roleId\":\"b\",\"ts\":7,"
        "\"type\":\"dispatch.elected\",\"why\":\"a: 0 first places\\nb: 2 first places"
        "\\nc: 0 first places\\n\"}\n{\"roleId\":\"b\",\"ts\":7,"
        "\"type\":\"role.entered\"}\n");
    ck_said(&crew, "\"input\":{\"task\":\"repair </task> it\"},");
    ck_assert_ok(answer(&crew, "b-1", "{\"done\":true}"));
    ck_said(&crew, "{\"finalOutput\":{\"done\":true},\"ts\":7,\"type\":\"crew.completed\"}\n");
    ck_assert_int_eq(writ_crew_session_status(crew.session), WRIT_CREW_COMPLETED);
    crew_close(&crew);
}
END_TEST

START_TEST(election_with_a_tie_takes_the_first_candidate_and_needs_half_of_the_ballots)
{
    static const struct {
        const char *engine, *answers[3], *want;
    } rows[] = {
        {"majority", {"[\"c\",\"b\"]", "[\"a\",\"c\"]", NULL},
            "{\"agentId\":\"a-1\",\"crewId\":\"c\",\"engine\""},
        {"borda", {"[\"c\",\"b\"]", NULL, "[\"a\",\"b\"]"},
            "{\"agentId\":\"a-1\",\"crewId\":\"c\",\"engine\""},
        {"majority", {"[\"c\",\"b\"]", NULL, NULL},
            "{\"crewId\":\"c\",\"error\":\"no_quorum\",\"ts\":7,\"type\":\"dispatch.failed\","
            "\"why\":\"1 of 3 "
            "agents gave a ranking that can be read\"}\n{\"reason\":\"undecided\",\"ts\":7,"
            "\"type\":\"crew.aborted\"}\n"},
        {"unanimous", {"[\"c\",\"b\"]", "[\"a\",\"c\"]", NULL}, "\"error\":\"not_implemented\""},
        {"first_valid", {NULL, "[\"c\",\"a\"]", "[\"b\",\"a\"]"},
            "{\"agentId\":\"c-1\",\"crewId\":\"c\",\"engine\""},
        {"weighted_consensus", {"[\"b\",\"c\"]", "[\"a\",\"c\"]", "[\"b\",\"a\"]"},
            "{\"agentId\":\"b-1\",\"crewId\":\"c\",\"engine\""},
    };

    for (size_t row = 0; row < sizeof rows / sizeof *rows; row++) {
        struct crew crew = {0};
        ck_assert_ok(crew_open(&crew, SHAPE("", THREE), NULL, rows[row].engine));
        ck_assert_ok(start(&crew, "\"t\""));
        ck_assert_ok(answer(&crew, "b-1", rows[row].answers[1]));
        ck_assert_ok(answer(&crew, "a-1", rows[row].answers[0]));
        ck_assert_ok(answer(&crew, "c-1", rows[row].answers[2]));
        ck_said(&crew, rows[row].want);
        crew_close(&crew);
    }
}
END_TEST

START_TEST(election_by_borda_breaks_a_tie_by_the_order_of_the_candidates)
{
    struct crew crew = {0};

    ck_assert_ok(crew_open(
        &crew, SHAPE("", ROLE("c", ONE) "," ROLE("b", ONE) "," ROLE("a", ONE)), NULL, "borda"));
    ck_assert_ok(start(&crew, "\"t\""));
    ck_assert_ok(answer(&crew, "a-1", "[\"c\",\"b\"]"));
    ck_assert_ok(answer(&crew, "b-1", NULL));
    ck_assert_ok(answer(&crew, "c-1", "[\"a\",\"b\"]"));
    ck_said(&crew, "{\"agentId\":\"c-1\",\"crewId\":\"c\",\"engine\":\"borda\"");
    crew_close(&crew);
}
END_TEST

START_TEST(handler_of_a_task_is_not_overridden)
{
    static const struct {
        const char *task, *want;
    } rows[] = {
        {"{\"description\":\"d\",\"handler\":\"c\"}",
            "\"type\":\"crew.started\"}\n{\"agentId\":\"c-1\",\"crewId\":\"c\",\"fixed\":true,"
            "\"roleId\":\"c\","},
        {"{\"handler\":\"f\"}", "\"agentId\":\"f-1\",\"crewId\":\"c\",\"fixed\":true"},
        {"{\"handler\":\"none\"}",
            "\"error\":\"unknown_role\",\"ts\":7,\"type\":\"dispatch.failed"},
        {"{\"handler\":\"empty\"}", "\"error\":\"unknown_role\""},
        {"[]", "\"type\":\"crew.started\"}\n{\"ts\":7,\"type\":\"crew.completed\"}\n"},
    };

    for (size_t row = 0; row < sizeof rows / sizeof *rows; row++) {
        struct crew crew = {0};
        ck_assert_ok(
            crew_open(&crew, SHAPE(CONSENSUAL, THREE "," FIXER "," ROLE("empty", "")), NULL, NULL));
        ck_assert_ok(start(&crew, rows[row].task));
        ck_said(&crew, rows[row].want);
        ck_assert(!said(&crew, "dispatch.started"));
        crew_close(&crew);
    }
}
END_TEST

START_TEST(late_ballot_is_missing_and_no_fixer_votes_for_its_agent)
{
    struct crew crew = {0};
    struct writ_crew_events events;

    ck_assert_ok(crew_open(&crew, SHAPE(CONSENSUAL, THREE "," FIXER), NULL, NULL));
    ck_assert_ok(start(&crew, NULL));
    ck_assert_ok(answer(&crew, "a-1", "[\"c\",\"b\"]"));
    ck_assert_ok(answer(&crew, "c-1", "[\"a\",\"b\"]"));
    ck_assert_ok(writ_crew_session_tick(crew.session, 17, &events, NULL));
    note(&crew, events);
    ck_said(&crew, "\"type\":\"agent.step.timed_out\"}\n{\"agentId\":\"a-1\",\"ranking\"");
    ck_said(&crew, "{\"agentId\":\"b-1\",\"roleId\":\"b\",\"ts\":7,"
                   "\"type\":\"dispatch.ballot.missing\"}");
    ck_assert(!said(&crew, "fixer.invoked"));
    ck_assert_ok(answer(&crew, "a-1", NULL)); /* of the work: its fixer takes over */
    ck_said(&crew, "fixer.invoked");
    ck_assert_ok(answer(&crew, "f-1", "\"repaired\""));
    ck_said(&crew, "\"finalOutput\":\"repaired\"");
    crew_close(&crew);
}
END_TEST

START_TEST(shape_of_a_consensual_crew_is_checked)
{
    static const struct {
        const char *shape;
        enum writ_crew_error want;
    } rows[] = {
        {SHAPE(",\"process\":\"democratic\"", THREE), WRIT_CREW_SCHEMA},
        {SHAPE(CONSENSUAL ",\"consensus\":1", THREE), WRIT_CREW_SCHEMA},
        {SHAPE(CONSENSUAL ",\"consensus\":\"none\"", THREE), WRIT_CREW_LINT_FAILED},
        {SHAPE(CONSENSUAL, ROLE("a", ",\"amount\":2")), WRIT_CREW_DUPLICATE_ROLE},
        {SHAPE(CONSENSUAL, ROLE("a", "")), WRIT_CREW_LINT_FAILED},
        {SHAPE(CONSENSUAL, FIXER), WRIT_CREW_LINT_FAILED},
        {SHAPE(",\"process\":\"sequential\"", THREE), WRIT_CREW_LINT_FAILED},
    };
    struct crew crew = {0};

    for (size_t row = 0; row < sizeof rows / sizeof *rows; row++) {
        ck_assert(!writ_is_ok(crew_open(&crew, rows[row].shape, NULL, NULL)));
        ck_assert_msg(crew.err.error == rows[row].want, "row %zu: %s: %s", row,
            writ_crew_error_name(crew.err.error), crew.err.err.text);
        crew_close(&crew);
        crew = (struct crew){0};
    }
    ck_assert(!writ_is_ok(crew_open(&crew, SHAPE("", THREE), NULL, "none")));
    ck_assert_int_eq(crew.err.error, WRIT_CREW_UNKNOWN_ENGINE);
    crew_close(&crew);
}
END_TEST

START_TEST(doubts_name_each_member_without_effect)
{
    static const char text[] = SHAPE(CONSENSUAL,
        "{\"role\":\"a\",\"permissions\":{\"invite\":[\"a\"],\"modify_structure\":true},"
        "\"first_input\":true,\"final_output\":true,\"delegation\":{\"max_depth\":1},"
        "\"execution\":{\"serial\":true}}");
    static const char *const want[] = {"a.permissions.invite", "a.permissions.modify_structure",
        "a.delegation.max_depth", "a.execution.serial", "a.first_input", "a.final_output"};
    struct writ_crew_findings *found = writ_crew_findings_new();
    struct writ_crew_shape *shape = NULL;

    ck_assert_ok(writ_crew_shape_read(writ_view_str(text), NULL, NULL, &shape, NULL));
    ck_assert_ok(writ_crew_shape_doubts(shape, found));
    ck_assert_uint_eq(writ_crew_findings_count(found), sizeof want / sizeof *want);
    for (size_t at = 0; at < sizeof want / sizeof *want; at++) {
        ck_assert_str_eq(writ_crew_findings_at(found, at)->code, "no_effect");
        ck_assert(writ_view_is(writ_crew_findings_at(found, at)->path, want[at]));
    }
    writ_crew_findings_free(found);
    writ_crew_shape_free(shape);
}
END_TEST

/* Two tasks, of which the first is put to the vote, in a crew that is nested in an ordinary one. */
static writ_result
run_nested(struct crew *crew)
{
    static const char outer[] = SHAPE(
        "", ROLE("o", ",\"amount\":2,\"nested_crew\":\"inner\",\"first_input\":true") "," ROLE(
                "z", ONE ",\"final_output\":true"));
    static const char inner[] = "{\"schema_version\":\"1.0\",\"name\":\"I\"" CONSENSUAL
                                ",\"consensus\":\"borda\",\"roles\":[" THREE "]}";
    static const char *const answers[][2] = {{"a-1", "[\"b\",\"c\"]"}, {"b-1", "\"c a\""},
        {"c-1", "[\"b\",\"a\"]"}, {"a-1", NULL}, {"b-1", "\"one\""}, {"b-1", NULL},
        {"c-1", "[\"b\",\"a\"]"}, {"z-1", "\"end\""}};

    WRIT_TRY(crew_open(crew, outer, inner, NULL));
    WRIT_TRY(start(crew, "\"t\""));
    for (size_t at = 0; at < sizeof answers / sizeof *answers; at++) {
        WRIT_TRY(answer(crew, answers[at][0], answers[at][1]));
    }
    return WRIT_DONE;
}

START_TEST(nested_consensual_crew_that_elects_none_is_a_fault_of_its_agent)
{
    struct crew crew = {0};

    ck_assert_ok(run_nested(&crew));
    ck_said(&crew, "\"type\":\"dispatch.elected\"");
    ck_said(&crew, "\"type\":\"dispatch.failed\"");
    ck_said(&crew, "{\"agentId\":\"o-1\",\"output\":\"one\",\"ts\":7,"
                   "\"type\":\"nested.crew.completed\"}");
    ck_said(&crew, "{\"agentId\":\"o-2\",\"ts\":7,\"type\":\"nested.crew.completed\"}");
    ck_said(&crew, "\"finalOutput\":\"end\"");
    crew_close(&crew);
}
END_TEST

/* A list of tasks, with a fixed handler and a poll, and an action that is denied. */
static writ_result
run_list(struct crew *crew)
{
    struct writ_crew_events events;
    bool allowed = true;
    char id[17];

    WRIT_TRY(crew_open(crew, SHAPE(CONSENSUAL, THREE "," FIXER), NULL, NULL));
    WRIT_TRY(start(crew, "[{\"description\":\"one\",\"handler\":\"c\"},\"two\"]"));
    if (!find_step(crew, "c-1", id)) {
        return (writ_result){WRIT_E_NOMEM};
    }
    WRIT_TRY(writ_crew_session_act(crew->session, writ_view_str(id), WRIT_LIT("a-1"),
        WRIT_CREW_DELEGATE_TO, &allowed, &events, NULL));
    ck_assert(!allowed);
    note(crew, events);
    WRIT_TRY(writ_crew_session_request(crew->session, WRIT_LIT("stranger"), WRIT_LIT("a-1"),
        WRIT_CREW_TALK_TO, &allowed, &events, NULL));
    note(crew, events);
    WRIT_TRY(answer(crew, "c-1", "1"));
    WRIT_TRY(answer(crew, "f-1", "2"));
    WRIT_TRY(answer(crew, "f-1", "3"));
    WRIT_TRY(answer(crew, "a-1", "[\"c\",\"b\"]"));
    WRIT_TRY(answer(crew, "b-1", "[\"a\",\"c\"]"));
    WRIT_TRY(answer(crew, "c-1", "[\"a\",\"b\"]"));
    return answer(crew, "a-1", "{\"n\":4}");
}

START_TEST(denied_action_asks_a_fixer_also_for_a_stranger)
{
    struct crew crew = {0};

    ck_assert_ok(run_list(&crew));
    ck_said(&crew, "\"from\":\"c-1\",\"to\":\"a-1\",\"ts\":7,\"type\":\"permission.denied\"}\n"
                   "{\"agentId\":\"f-1\",\"reason\":\"permission_denied\"");
    ck_said(&crew, "\"from\":\"stranger\",\"to\":\"a-1\",\"ts\":7,\"type\":\"permission.denied\"}\n"
                   "{\"agentId\":\"f-1\",\"reason\":\"permission_denied\"");
    ck_said(&crew, "{\"failedAgentId\":\"stranger\",\"failedRoleId\":\"c\",\"reason\":");
    /* the fixer answers for the agent, but not for the stranger */
    ck_said(&crew, "\"resolved\":2,\"roleId\":\"c\"");
    ck_said(&crew, "\"input\":{\"input\":2,\"task\":\"two\"}");
    ck_said(&crew, "\"finalOutput\":{\"n\":4}");
    crew_close(&crew);
}
END_TEST

START_TEST(act_for_a_step_that_is_not_open_is_refused)
{
    struct crew crew = {0};
    struct writ_crew_events events;
    bool allowed = true;
    char id[17];

    ck_assert_ok(crew_open(&crew, SHAPE(CONSENSUAL, THREE), NULL, NULL));
    ck_assert_code(writ_crew_session_act(crew.session, WRIT_LIT("0123456789abcdef"),
                       WRIT_LIT("a-1"), WRIT_CREW_TALK_TO, &allowed, &events, NULL),
        WRIT_E_ABSENT);
    ck_assert_ok(start(&crew, NULL));
    ck_assert(find_step(&crew, "a-1", id));
    ck_assert_code(writ_crew_session_act(crew.session, writ_view_str(id), WRIT_LIT("\xff"),
                       WRIT_CREW_TALK_TO, &allowed, &events, NULL),
        WRIT_E_INVALID);
    ck_assert_ok(answer(&crew, "a-1", "1"));
    ck_assert_code(writ_crew_session_act(crew.session, writ_view_str(id), WRIT_LIT("a-1"),
                       WRIT_CREW_TALK_TO, &allowed, &events, NULL),
        WRIT_E_ABSENT);
    ck_assert(allowed); /* untouched */
    crew_close(&crew);
}
END_TEST

static writ_result (*const runs[])(struct crew *crew) = {run_nested, run_list};

START_TEST(consensual_crew_resumed_at_every_step_gives_the_same_log)
{
    for (size_t run = 0; run < sizeof runs / sizeof *runs; run++) {
        struct crew straight = {0}, resumed = {.resumes = true};
        ck_assert_ok(runs[run](&straight));
        ck_assert_ok(runs[run](&resumed));
        ck_assert(writ_view_equal(writ_buf_view(&straight.log), writ_buf_view(&resumed.log)));
        crew_close(&straight);
        crew_close(&resumed);
    }
}
END_TEST

START_TEST(consensual_crew_with_a_failed_allocation_gives_no_other_log)
{
    for (size_t run = 0; run < sizeof runs / sizeof *runs; run++) {
        struct crew want = {.resumes = true};
        bool reached = true;
        ck_assert_ok(runs[run](&want));
        for (long nth = 1; reached; nth++) {
            struct crew got = {.resumes = true};
            writ_fault_arm(nth);
            writ_result result = runs[run](&got);
            reached = writ_fault_disarm();
            ck_assert_msg(writ_is_ok(result) || result.code == WRIT_E_NOMEM, "allocation %ld: %s",
                nth, writ_code_name(result.code));
            if (writ_is_ok(result) && writ_is_ok(writ_buf_check(&got.log, NULL))) {
                ck_assert_msg(writ_view_equal(writ_buf_view(&got.log), writ_buf_view(&want.log)),
                    "allocation %ld: another log", nth);
            }
            ck_assert_msg(reached || writ_is_ok(result), "failed without a fault at %ld", nth);
            crew_close(&got);
        }
        crew_close(&want);
    }
}
END_TEST

WRIT_UNIT_MAIN("consensual", consensual_crew_asks_all_elects_one_and_gives_it_the_task,
    election_with_a_tie_takes_the_first_candidate_and_needs_half_of_the_ballots,
    election_by_borda_breaks_a_tie_by_the_order_of_the_candidates,
    handler_of_a_task_is_not_overridden, late_ballot_is_missing_and_no_fixer_votes_for_its_agent,
    shape_of_a_consensual_crew_is_checked, doubts_name_each_member_without_effect,
    nested_consensual_crew_that_elects_none_is_a_fault_of_its_agent,
    denied_action_asks_a_fixer_also_for_a_stranger, act_for_a_step_that_is_not_open_is_refused,
    consensual_crew_resumed_at_every_step_gives_the_same_log,
    consensual_crew_with_a_failed_allocation_gives_no_other_log)
