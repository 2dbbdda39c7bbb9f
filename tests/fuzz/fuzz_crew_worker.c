/* The input is lines of the workers of a crew: answers and requests. A dollar sign stands for the
 * id of the step that has waited longest; its agent makes the request.
 *
 * For every input: a line is refused, and then nothing of it is in the log, or its events are
 * JSON objects; and the log is that of the session again, byte for byte. */
#include "gateway/crews/agent_exchange.h"
#include "gateway/crews/rerun.h"
#include "support/crew/crewkit.h"
#include "support/fuzz.h"

#define LOG_MAX  ((size_t)1 << 28)
#define POOL_MAX 20

/** The crew of a run. */
struct worked {
    struct writ_roster roster;
    struct writ_recording *recording;
    struct writ_buf log;
    struct writ_buf open; /* ids and agents of the steps, as events */
    double now_ms;
};

static writ_result
collect(void *user, struct writ_view line, struct writ_err *err)
{
    struct writ_buf *log = user;

    writ_buf_put(log, line);
    writ_buf_byte(log, '\n');
    return writ_buf_check(log, err);
}

static void
open_crew(struct worked *worked)
{
    static const char inner[] =
        "{\"schema_version\":\"1.0\",\"name\":\"I\",\"process\":\"consensual\",\"roles\":["
        "{\"role\":\"x\",\"permissions\":{\"talk_to\":[\"y\"]},\"amount\":1},"
        "{\"role\":\"y\",\"permissions\":{},\"amount\":1}]}";
    static const char shape[] =
        "{\"schema_version\":\"1.0\",\"name\":\"F\",\"roles\":["
        "{\"role\":\"a\",\"permissions\":{\"talk_to\":[\"z\"]},\"amount\":2,\"first_input\":true},"
        "{\"role\":\"n\",\"permissions\":{},\"amount\":1,\"nested_crew\":\"inner\"},"
        "{\"role\":\"f\",\"permissions\":{},\"amount\":1,\"activation\":{\"on_fault\":true,"
        "\"on_permission_denied\":true}},"
        "{\"role\":\"z\",\"permissions\":{},\"amount\":1,\"final_output\":true}]}";
    struct writ_roster *roster = &worked->roster;
    const struct writ_recording_options options = {.roster = roster,
        .crew_id = WRIT_LIT("run"),
        .default_timeout_ms = 50,
        .auto_checkpoint = true,
        .has_pool = true,
        .pool_max = POOL_MAX,
        .sink = collect,
        .user = &worked->log};
    struct writ_view absent = {NULL, 0};

    WRIT_INVARIANT(writ_is_ok(writ_roster_nest(
                       roster, WRIT_LIT("inner"), "inner", writ_view_str(inner), NULL)) &&
                   writ_is_ok(writ_roster_shape(roster, "shape", writ_view_str(shape), NULL)) &&
                   writ_is_ok(writ_roster_agents(roster, "agents", absent, NULL)) &&
                   writ_is_ok(writ_roster_build(roster, NULL)) &&
                   writ_is_ok(writ_recording_open(&options, &worked->recording, NULL)));
}

/* Keeps the requests among the events. */
static void
take_events(struct worked *worked, struct writ_crew_events events)
{
    struct writ_event_reader reader = {0};

    writ_crewkit_check(&events);
    for (size_t at = 0; at < events.n; at++) {
        const struct writ_json *event = NULL;
        WRIT_INVARIANT(writ_is_ok(writ_event_read(&reader, events.list[at], &event, NULL)));
        if (writ_event_is(event, "agent.step.requested")) {
            writ_buf_put(&worked->open, events.list[at]);
            writ_buf_byte(&worked->open, '\n');
        }
    }
    writ_event_reader_wipe(&reader);
}

/* The step that has waited longest, which an answer or an expiry takes. Members are borrowed from
 * `open`. False: none waits. */
static bool
first_step(struct worked *worked, struct writ_view *ret_id, struct writ_view *ret_agent)
{
    struct writ_view rest = writ_buf_view(&worked->open);
    size_t id = writ_view_search(rest, WRIT_LIT("\"correlationId\":\"")) + 17;
    size_t agent = writ_view_search(rest, WRIT_LIT("{\"agentId\":\"")) + 12;

    if (rest.len == 0) {
        return false;
    }
    *ret_id = writ_view_sub(rest, id, 16);
    *ret_agent = writ_view_sub(rest, agent, 3); /* all of them are named like that */
    return true;
}

static void
drop_step(struct worked *worked)
{
    struct writ_view rest = writ_buf_view(&worked->open);
    struct writ_buf left = writ_buf_make(LOG_MAX);

    writ_buf_put(&left, writ_view_sub(rest, writ_view_find(rest, '\n') + 1, rest.len));
    writ_buf_wipe(&worked->open);
    worked->open = left;
}

static void
put_line(struct worked *worked, struct writ_view line, struct writ_buf *ret)
{
    struct writ_view id, agent;
    bool waits = first_step(worked, &id, &agent);

    for (size_t at = 0; at < line.len; at++) {
        if (line.ptr[at] == '$' && waits) {
            writ_buf_put(ret, id);
        } else {
            writ_buf_byte(ret, line.ptr[at]);
        }
    }
}

static void
run_line(struct worked *worked, struct writ_view line)
{
    writ_auto_buf text = writ_buf_make(LOG_MAX);
    struct writ_crew_events events = {NULL, 0};
    struct writ_event_reader reader = {0};
    const struct writ_json *json = NULL;
    struct writ_view id, agent;
    size_t before = worked->log.len;
    writ_result taken;

    put_line(worked, line, &text);
    worked->now_ms += 1;
    if (!writ_is_ok(writ_event_read(&reader, writ_buf_view(&text), &json, NULL)) ||
        !first_step(worked, &id, &agent)) {
        writ_event_reader_wipe(&reader);
        return; /* the worker is killed */
    }
    if (writ_agent_exchange_is_request(json)) {
        taken = writ_recording_message(
            worked->recording, worked->now_ms, agent, writ_buf_view(&text), &events, NULL);
    } else {
        taken = writ_recording_deliver(
            worked->recording, worked->now_ms, writ_buf_view(&text), &events, NULL);
    }
    WRIT_INVARIANT(writ_is_ok(taken) || worked->log.len == before);
    if (writ_is_ok(taken)) {
        if (writ_view_equal(writ_event_text(json, "correlationId"), id) &&
            (writ_event_is(json, "agent.step.completed") ||
                writ_event_is(json, "agent.step.failed") ||
                writ_event_is(json, "agent.step.timed_out"))) {
            drop_step(worked);
        }
        take_events(worked, events);
    }
    writ_event_reader_wipe(&reader);
}

static void
check_log(const struct worked *worked)
{
    struct writ_rerun again = {0};

    WRIT_INVARIANT(writ_is_ok(writ_rerun_text(&again, writ_buf_view(&worked->log), NULL)));
    WRIT_INVARIANT(!again.differs && again.at == worked->log.len);
    writ_rerun_wipe(&again);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct worked worked = {.log = writ_buf_make(LOG_MAX), .open = writ_buf_make(LOG_MAX)};
    struct writ_view input = writ_view(data, size), absent = {NULL, 0};
    struct writ_crew_events events = {NULL, 0};

    open_crew(&worked);
    WRIT_INVARIANT(
        writ_is_ok(writ_recording_start(worked.recording, 0, absent, absent, &events, NULL)));
    take_events(&worked, events);
    while (input.len > 0) {
        size_t end = writ_view_find(input, '\n');
        run_line(&worked, writ_view_sub(input, 0, end));
        input = writ_view_sub(input, end + 1, input.len);
    }
    check_log(&worked);
    writ_recording_free(worked.recording);
    writ_roster_wipe(&worked.roster);
    writ_buf_wipe(&worked.log);
    writ_buf_wipe(&worked.open);
    return 0;
}
