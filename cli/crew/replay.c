/* writ crew replay: records the session again, from the inputs of its log, and compares each line
 * with the log.
 *
 * (1) `at` is the beginning of the line that must come next. */
#include "base/text.h"
#include "cli/crew/command.h"
#include "cli/crew/event.h"
#include "cli/crew/recording.h"

#include <inttypes.h>
#include <stdio.h>

#define LOG_BYTES_MAX ((size_t)1 << 30)
#define SHOWN         160 /* bytes of a line that differs */

struct replay {
    const struct writ_cli *cli;
    struct writ_buf log;
    size_t at, line; /* equal lines */
    uint64_t events; /* of them */
    struct writ_roster roster;
    struct writ_recording *recording;
    struct writ_event_reader reader;
    bool is_event; /* the next line is an event, not an input */
    bool differs, closed;
    struct writ_buf why;
};

static void
replay_wipe(struct replay *replay)
{
    writ_recording_free(replay->recording);
    writ_roster_wipe(&replay->roster);
    writ_event_reader_wipe(&replay->reader);
    writ_buf_wipe(&replay->log);
    writ_buf_wipe(&replay->why);
}

/* ---- lines */

/* The next line; false: none, or a truncated one. */
static bool
next_line(const struct replay *replay, struct writ_view *ret)
{
    struct writ_view rest = writ_view_sub(writ_buf_view(&replay->log), replay->at, SIZE_MAX);
    size_t end = writ_view_find(rest, '\n');

    *ret = writ_view_sub(rest, 0, end);
    return end < rest.len;
}

/* Notes the difference between the log and the session. */
static void __attribute__((format(printf, 2, 3)))
differ(struct replay *replay, const char *fmt, ...)
{
    char text[WRIT_ERR_TEXT];
    va_list args;

    va_start(args, fmt);
    (void)vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    replay->differs = true;
    writ_buf_fmt(&replay->why, "line %zu: %s\n", replay->line + 1, text);
}

static void
put_part(struct replay *replay, const char *name, struct writ_view line, size_t from)
{
    writ_buf_fmt(&replay->why, "  %s: %s", name, from > 0 ? "..." : "");
    writ_text_safe(&replay->why, writ_view_sub(line, from, line.len), SHOWN);
    writ_buf_str(&replay->why, line.len - from > SHOWN ? "...\n" : "\n");
}

/* Both lines, from shortly before the first byte that differs. */
static void
differ_lines(struct replay *replay, struct writ_view recorded, struct writ_view computed)
{
    size_t same = 0, from;

    while (same < recorded.len && same < computed.len && recorded.ptr[same] == computed.ptr[same]) {
        same++;
    }
    from = same > SHOWN / 4 ? same - SHOWN / 4 : 0;
    differ(replay, "differs at byte %zu, event %" PRIu64, same + 1,
        replay->events + (replay->is_event ? 1 : 0));
    put_part(replay, "recorded", recorded, from);
    put_part(replay, "computed", computed, from);
}

/* The sink of the recording. */
static writ_result
compare_line(void *user, struct writ_view line, struct writ_err *err)
{
    struct replay *replay = user;
    struct writ_view was;
    bool whole = next_line(replay, &was);

    if (!whole) {
        differ(replay, "the log is truncated: the session continues with");
        put_part(replay, "computed", line, 0);
    } else if (!writ_view_equal(was, line)) {
        differ_lines(replay, was, line);
    }
    if (replay->differs) {
        return writ_fail(err, WRIT_E_MISMATCH, "the log differs");
    }
    replay->at += was.len + 1; /* keeps (1) */
    replay->line++;
    replay->events += replay->is_event ? 1 : 0;
    replay->is_event = true; /* the lines that follow an input */
    return WRIT_DONE;
}

/* ---- inputs */

static WRIT_RESULT
again_start(struct replay *replay, const struct writ_json *line, struct writ_err *err)
{
    writ_auto_buf input = writ_buf_make(LOG_BYTES_MAX), task = writ_buf_make(LOG_BYTES_MAX);
    struct writ_crew_events events;

    return writ_recording_start(replay->recording, writ_event_number(line, "ts", 0),
        writ_event_json(line, "input", &input), writ_event_json(line, "task", &task), &events, err);
}

static WRIT_RESULT
again_deliver(struct replay *replay, const struct writ_json *line, struct writ_err *err)
{
    writ_auto_buf event = writ_buf_make(LOG_BYTES_MAX);
    struct writ_crew_events events;
    struct writ_view text = writ_event_json(line, "event", &event);

    return writ_recording_deliver(replay->recording, writ_event_number(line, "ts", 0),
        text.ptr != NULL ? text : WRIT_LIT("null"), &events, err);
}

static WRIT_RESULT
again_tick(struct replay *replay, const struct writ_json *line, struct writ_err *err)
{
    struct writ_crew_events events;

    return writ_recording_tick(replay->recording, writ_event_number(line, "ts", 0), &events, err);
}

static WRIT_RESULT
again_cancel(struct replay *replay, const struct writ_json *line, struct writ_err *err)
{
    struct writ_crew_events events;

    return writ_recording_cancel(replay->recording, writ_event_number(line, "ts", 0), &events, err);
}

static WRIT_RESULT
again_close(struct replay *replay, const struct writ_json *line, struct writ_err *err)
{
    (void)line;
    replay->closed = true;
    return writ_recording_close(replay->recording, err);
}

static const struct input {
    const char *type;
    writ_result (*again)(struct replay *replay, const struct writ_json *line, struct writ_err *err);
} inputs[] = {
    {"input.start", again_start},
    {"input.deliver", again_deliver},
    {"input.tick", again_tick},
    {"input.cancel", again_cancel},
    {"log.closed", again_close},
};

static const struct input *
input_of(const struct writ_json *line)
{
    for (size_t at = 0; at < sizeof inputs / sizeof inputs[0]; at++) {
        if (writ_event_is(line, inputs[at].type)) {
            return &inputs[at];
        }
    }
    return NULL;
}

/* Repeats the input of a line. Fails only for causes outside of the log: memory. */
static WRIT_RESULT
again(struct replay *replay, struct writ_view text, struct writ_err *err)
{
    const struct writ_json *line = NULL;
    const struct input *input;
    size_t before = replay->line;
    writ_result result = writ_event_read(&replay->reader, text, &line, err);

    input = writ_is_ok(result) ? input_of(line) : NULL;
    if (!writ_is_ok(result) && result.code != WRIT_E_NOMEM) {
        differ(replay, "%s", err->text);
        return WRIT_DONE;
    }
    if (writ_is_ok(result) && input == NULL) {
        differ(replay, "the session does not give this line here");
        put_part(replay, "recorded", text, 0);
        return WRIT_DONE;
    }
    WRIT_TRY(result);
    replay->is_event = false;
    result = input->again(replay, line, err);
    if (replay->differs) {
        return WRIT_DONE;
    }
    if (writ_is_ok(result) && replay->line == before) {
        differ(replay, "nothing was due");
    } else if (result.code == WRIT_E_INVALID || result.code == WRIT_E_PARSE ||
               result.code == WRIT_E_LIMIT) {
        differ(replay, "the crew refuses it: %s", err->text);
        result = WRIT_DONE;
    }
    return result;
}

/* ---- a log */

static WRIT_RESULT
open_nested(struct replay *replay, const struct writ_json *head, struct writ_err *err)
{
    WRIT_JSON_EACH(nested, writ_json_get(head, WRIT_LIT("registry")))
    {
        WRIT_TRY(writ_roster_nest(&replay->roster, writ_event_text(nested, "key"),
            "the nested shape of the log", writ_event_text(nested, "shape"), err));
    }
    return WRIT_DONE;
}

/* The first line: the parts of the session. */
static WRIT_RESULT
open_session(struct replay *replay, struct writ_err *err)
{
    struct writ_recording_options options = {
        .roster = &replay->roster, .sink = compare_line, .user = replay};
    struct writ_event_reader reader = {0};
    const struct writ_json *head = NULL;
    struct writ_view line;
    writ_result result = {WRIT_E_PARSE};

    if (!next_line(replay, &line) || !writ_is_ok(writ_event_read(&reader, line, &head, NULL)) ||
        !writ_view_is(writ_event_text(head, "format"), WRIT_RECORDING_FORMAT)) {
        writ_event_reader_wipe(&reader);
        WRIT_FAIL(err, WRIT_E_PARSE,
            "not the log of a crew: its first line is not log.opened of " WRIT_RECORDING_FORMAT);
    }
    options.crew_id = writ_event_text(head, "crewId");
    options.default_timeout_ms = writ_event_number(head, "defaultTimeoutMs", 0);
    result = writ_roster_engines(&replay->roster, writ_cli_get(replay->cli, "engines"), err);
    if (writ_is_ok(result)) {
        result = writ_roster_shape(
            &replay->roster, "the shape of the log", writ_event_text(head, "shape"), err);
    }
    if (writ_is_ok(result)) {
        result = writ_roster_agents(
            &replay->roster, "the agents of the log", writ_event_text(head, "agents"), err);
    }
    if (writ_is_ok(result)) {
        result = open_nested(replay, head, err);
    }
    if (writ_is_ok(result)) {
        result = writ_roster_build(&replay->roster, err);
    }
    if (writ_is_ok(result)) {
        result = writ_recording_open(&options, &replay->recording, err);
    }
    writ_event_reader_wipe(&reader);
    return replay->differs ? WRIT_DONE : result;
}

static WRIT_RESULT
replay_log(struct replay *replay, struct writ_err *err)
{
    struct writ_view line;

    WRIT_TRY(writ_cli_read(writ_cli_operand(replay->cli, 0).ptr, LOG_BYTES_MAX, &replay->log, err));
    WRIT_TRY(open_session(replay, err));
    while (!replay->differs && !replay->closed && next_line(replay, &line)) {
        WRIT_TRY(again(replay, line, err));
    }
    if (!replay->differs && !replay->closed) {
        differ(replay, "the log is truncated: it has no end; the lines so far are identical");
    } else if (!replay->differs && replay->at < replay->log.len) {
        differ(replay, "the log continues after its end");
    }
    return WRIT_DONE;
}

static void
tell(const struct replay *replay)
{
    writ_auto_buf text = writ_buf_make(LOG_BYTES_MAX);
    struct writ_view why = writ_buf_view(&replay->why);

    if (!replay->cli->json) {
        writ_cli_put(why);
        writ_cli_print(
            replay->differs ? "different\n" : "identical: %" PRIu64 " events\n", replay->events);
        return;
    }
    writ_cli_print("{\"events\":%" PRIu64 ",\"identical\":%s,\"lines\":%zu", replay->events,
        replay->differs ? "false" : "true", replay->line);
    if (replay->differs) {
        writ_text_json(&text, why);
        writ_cli_print(",\"why\":" WRIT_VIEW_FMT, WRIT_VIEW_ARG(writ_buf_view(&text)));
    }
    writ_cli_print("}\n");
}

enum writ_exit
writ_command_crew_replay(const struct writ_cli *cli)
{
    WRIT_AUTO(struct replay, replay_wipe)
    replay = {.cli = cli,
        .log = writ_buf_make(LOG_BYTES_MAX + 65536),
        .why = writ_buf_make(LOG_BYTES_MAX)};
    struct writ_err err = {0};
    writ_result result = replay_log(&replay, &err);

    if (!writ_is_ok(result)) {
        return writ_cli_fail(cli, result, &err);
    }
    tell(&replay);
    return replay.differs ? WRIT_EXIT_NEGATIVE : WRIT_EXIT_OK;
}
