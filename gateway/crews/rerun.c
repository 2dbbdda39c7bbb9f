/* Computes the session of a log again, from its inputs, and compares each line.
 *
 * (1) `at` is the beginning of the line that must come next.
 * (2) A line is either compared with the log or, once the log has no whole line left, handed to
 *     `beyond`: the two never alternate. */
#include "gateway/crews/rerun.h"

#include "base/text.h"
#include "evidence/json/jcs.h"

#include <inttypes.h>
#include <stdio.h>

#define SHOWN 160 /* bytes of a line that differs */

/* ---- lines */

/* The next line; false: none, or a truncated one. */
static bool
next_line(const struct writ_rerun *rerun, struct writ_view *ret)
{
    struct writ_view rest = writ_view_sub(writ_buf_view(&rerun->log), rerun->at, SIZE_MAX);
    size_t end = writ_view_find(rest, '\n');

    *ret = writ_view_sub(rest, 0, end);
    return end < rest.len;
}

/* Notes the difference between the log and the session. */
static void __attribute__((format(printf, 2, 3)))
differ(struct writ_rerun *rerun, const char *fmt, ...)
{
    char text[WRIT_ERR_TEXT];
    va_list args;

    va_start(args, fmt);
    (void)vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    rerun->differs = true;
    writ_buf_fmt(&rerun->why, "line %zu: %s\n", rerun->line + 1, text);
}

static void
put_part(struct writ_rerun *rerun, const char *name, struct writ_view line, size_t from)
{
    writ_buf_fmt(&rerun->why, "  %s: %s", name, from > 0 ? "..." : "");
    writ_text_safe(&rerun->why, writ_view_sub(line, from, line.len), SHOWN);
    writ_buf_str(&rerun->why, line.len - from > SHOWN ? "...\n" : "\n");
}

/* Both lines, from shortly before the first byte that differs. */
static void
differ_lines(struct writ_rerun *rerun, struct writ_view recorded, struct writ_view computed)
{
    size_t same = 0, from;

    while (same < recorded.len && same < computed.len && recorded.ptr[same] == computed.ptr[same]) {
        same++;
    }
    from = same > SHOWN / 4 ? same - SHOWN / 4 : 0;
    differ(rerun, "differs at byte %zu, event %" PRIu64, same + 1,
        rerun->events + (rerun->is_event ? 1 : 0));
    put_part(rerun, "recorded", recorded, from);
    put_part(rerun, "computed", computed, from);
}

/* The sink of the recording. */
static writ_result
compare_line(void *user, struct writ_view line, struct writ_err *err)
{
    struct writ_rerun *rerun = user;
    struct writ_view was;
    bool whole = next_line(rerun, &was);

    rerun->beyond_log |= !whole && rerun->beyond != NULL;
    if (rerun->beyond_log) {
        return rerun->beyond(rerun->user, line, err);
    }
    if (!whole) {
        differ(rerun, "the log is truncated: the session continues with");
        put_part(rerun, "computed", line, 0);
    } else if (!writ_view_equal(was, line)) {
        differ_lines(rerun, was, line);
    }
    if (rerun->differs) {
        return writ_fail(err, WRIT_E_MISMATCH, "the log differs");
    }
    rerun->at += was.len + 1; /* keeps (1) */
    rerun->line++;
    rerun->events += rerun->is_event ? 1 : 0;
    rerun->is_event = true; /* the lines that follow an input */
    return WRIT_DONE;
}

/* ---- hooks */

/* During the log each call of a hook gets the answer that was logged; after it the hook is asked.
 */
static writ_result
answer_hook(
    void *user, const struct writ_crew_hook *hook, struct writ_buf *ret, struct writ_err *err)
{
    struct writ_rerun *rerun = user;

    if (!rerun->in_log && rerun->hooks != NULL) {
        return rerun->hooks->ask(rerun->hooks->user, hook, ret, err);
    }
    if (rerun->next_answer == NULL) {
        writ_buf_str(ret, "{\"failed\":\"its answer is not in the log\"}");
        return writ_buf_check(ret, err);
    }
    WRIT_TRY(writ_jcs_put_rounded(ret, rerun->next_answer, err));
    rerun->next_answer = writ_json_next(rerun->answers, rerun->next_answer);
    return WRIT_DONE;
}

/* ---- inputs */

typedef writ_result again_fn(struct writ_rerun *rerun, const struct writ_json *line,
    struct writ_crew_events *ret, struct writ_err *err);

static double
time_of(const struct writ_json *line)
{
    return writ_event_number(line, "ts", 0);
}

static WRIT_RESULT
again_start(struct writ_rerun *rerun, const struct writ_json *line, struct writ_crew_events *ret,
    struct writ_err *err)
{
    writ_auto_buf input = writ_buf_make(WRIT_RERUN_LOG_MAX);
    writ_auto_buf task = writ_buf_make(WRIT_RERUN_LOG_MAX);

    return writ_recording_start(rerun->recording, time_of(line),
        writ_event_json(line, "input", &input), writ_event_json(line, "task", &task), ret, err);
}

static WRIT_RESULT
again_deliver(struct writ_rerun *rerun, const struct writ_json *line, struct writ_crew_events *ret,
    struct writ_err *err)
{
    writ_auto_buf event = writ_buf_make(WRIT_RERUN_LOG_MAX);
    struct writ_view text = writ_event_json(line, "event", &event);

    return writ_recording_deliver(
        rerun->recording, time_of(line), text.ptr != NULL ? text : WRIT_LIT("null"), ret, err);
}

static WRIT_RESULT
again_tick(struct writ_rerun *rerun, const struct writ_json *line, struct writ_crew_events *ret,
    struct writ_err *err)
{
    return writ_recording_tick(rerun->recording, time_of(line), ret, err);
}

static WRIT_RESULT
again_cancel(struct writ_rerun *rerun, const struct writ_json *line, struct writ_crew_events *ret,
    struct writ_err *err)
{
    return writ_recording_cancel(rerun->recording, time_of(line),
        writ_view_is(writ_event_text(line, "reason"), "timeout") ? WRIT_CREW_TIMEOUT
                                                                 : WRIT_CREW_CANCELLED,
        ret, err);
}

static WRIT_RESULT
again_message(struct writ_rerun *rerun, const struct writ_json *line, struct writ_crew_events *ret,
    struct writ_err *err)
{
    writ_auto_buf message = writ_buf_make(WRIT_RERUN_LOG_MAX);
    struct writ_view text = writ_event_json(line, "message", &message);
    struct writ_view agent = writ_event_text(line, "agentId");

    return writ_recording_message(rerun->recording, time_of(line),
        agent.ptr != NULL ? agent : WRIT_LIT(""), text.ptr != NULL ? text : WRIT_LIT("null"), ret,
        err);
}

static WRIT_RESULT
again_resume(struct writ_rerun *rerun, const struct writ_json *line, struct writ_crew_events *ret,
    struct writ_err *err)
{
    enum writ_crew_resume policy = WRIT_CREW_RESUME_ABORT;
    double stopped_ms = writ_event_number(line, "stoppedMs", 0);

    if (!writ_recording_policy_read(writ_event_text(line, "pending"), &policy)) {
        WRIT_FAIL(err, WRIT_E_INVALID, "pending is not one of ask, fail and refuse");
    }
    rerun->stopped_ms += stopped_ms;
    return writ_recording_resume(rerun->recording, time_of(line), policy, stopped_ms, ret, err);
}

static WRIT_RESULT
again_close(struct writ_rerun *rerun, const struct writ_json *line, struct writ_crew_events *ret,
    struct writ_err *err)
{
    (void)line;
    (void)ret;
    rerun->closed = true;
    return writ_recording_close(rerun->recording, err);
}

static const struct input {
    const char *type;
    again_fn *again;
} inputs[] = {
    {"input.start", again_start},
    {"input.deliver", again_deliver},
    {"input.tick", again_tick},
    {"input.cancel", again_cancel},
    {"input.message", again_message},
    {"input.resume", again_resume},
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

/* Notes whether the checkpoint is among the events. */
static WRIT_RESULT
look_for_checkpoint(struct writ_rerun *rerun, struct writ_crew_events events, struct writ_err *err)
{
    struct writ_event_reader reader = {0};
    writ_result read = WRIT_DONE;

    for (size_t at = 0; rerun->until.ptr != NULL && at < events.n && writ_is_ok(read); at++) {
        const struct writ_json *event = NULL;
        read = writ_event_read(&reader, events.list[at], &event, err);
        rerun->reached |= writ_is_ok(read) && writ_event_is(event, "checkpoint.taken") &&
                          writ_view_equal(writ_event_text(event, "checkpointId"), rerun->until);
    }
    writ_event_reader_wipe(&reader);
    return read;
}

/* Hands the result of an input on. */
static WRIT_RESULT
hand_on(struct writ_rerun *rerun, const struct writ_json *line, struct writ_crew_events events,
    struct writ_err *err)
{
    rerun->last_ms = rerun->closed ? rerun->last_ms : time_of(line);
    WRIT_TRY(look_for_checkpoint(rerun, events, err));
    return rerun->taken != NULL && !rerun->closed ? rerun->taken(rerun->user, line, events, err)
                                                  : WRIT_DONE;
}

/* Repeats the input of a line. Fails only for causes outside of the log: memory. */
static WRIT_RESULT
again(struct writ_rerun *rerun, struct writ_view text, struct writ_err *err)
{
    const struct writ_json *line = NULL;
    struct writ_crew_events events = {NULL, 0};
    const struct input *input;
    size_t before = rerun->line;
    writ_result result = writ_event_read(&rerun->reader, text, &line, err);

    input = writ_is_ok(result) ? input_of(line) : NULL;
    if (!writ_is_ok(result) && result.code != WRIT_E_NOMEM) {
        differ(rerun, "%s", err->text);
        return WRIT_DONE;
    }
    if (writ_is_ok(result) && input == NULL) {
        differ(rerun, "the session does not give this line here");
        put_part(rerun, "recorded", text, 0);
        return WRIT_DONE;
    }
    WRIT_TRY(result);
    rerun->is_event = false;
    rerun->in_log = true;
    rerun->answers = writ_json_get_typed(line, WRIT_LIT("hooks"), WRIT_JSON_ARRAY);
    rerun->next_answer = writ_json_first(rerun->answers);
    result = input->again(rerun, line, &events, err);
    rerun->in_log = false;
    if (rerun->differs) {
        return WRIT_DONE;
    }
    if (writ_is_ok(result) && rerun->line == before) {
        differ(rerun, "nothing was due");
    } else if (writ_is_ok(result)) {
        return hand_on(rerun, line, events, err);
    }
    if (result.code == WRIT_E_INVALID || result.code == WRIT_E_PARSE ||
        result.code == WRIT_E_LIMIT || result.code == WRIT_E_ABSENT) {
        differ(rerun, "the crew refuses it: %s", err->text);
        result = WRIT_DONE;
    }
    return result;
}

/* ---- a log */

static WRIT_RESULT
open_nested(struct writ_rerun *rerun, const struct writ_json *head, struct writ_err *err)
{
    WRIT_JSON_EACH(nested, writ_json_get(head, WRIT_LIT("registry")))
    {
        WRIT_TRY(writ_roster_nest(&rerun->roster, writ_event_text(nested, "key"),
            "the nested shape of the log", writ_event_text(nested, "shape"), err));
    }
    return WRIT_DONE;
}

static WRIT_RESULT
read_hook_names(struct writ_rerun *rerun, const struct writ_json *head,
    struct writ_recording_hooks *ret, struct writ_err *err)
{
    const struct writ_json *list = writ_json_get_typed(head, WRIT_LIT("hooks"), WRIT_JSON_ARRAY);

    if (list == NULL) {
        return WRIT_DONE;
    }
    rerun->names = writ_alloc((list->count + 1) * sizeof *rerun->names);
    if (rerun->names == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory");
    }
    rerun->names_text = writ_buf_make(WRIT_RERUN_LOG_MAX);
    WRIT_JSON_EACH(name, list)
    {
        writ_buf_put(&rerun->names_text, writ_json_string(name));
    }
    WRIT_TRY(writ_buf_check(&rerun->names_text, err));
    WRIT_JSON_EACH(name, list)
    {
        size_t from = ret->names_n > 0
                          ? (size_t)(rerun->names[ret->names_n - 1].ptr - rerun->names_text.ptr) +
                                rerun->names[ret->names_n - 1].len
                          : 0;
        rerun->names[ret->names_n++] =
            writ_view_sub(writ_buf_view(&rerun->names_text), from, writ_json_string(name).len);
    }
    *ret = (struct writ_recording_hooks){rerun->names, ret->names_n, answer_hook, rerun};
    return WRIT_DONE;
}

/* The crew of the log. */
static WRIT_RESULT
open_roster(struct writ_rerun *rerun, const struct writ_json *head, struct writ_err *err)
{
    struct writ_roster *roster = &rerun->roster;

    roster->engines = rerun->engines;
    WRIT_TRY(
        writ_roster_shape(roster, "the shape of the log", writ_event_text(head, "shape"), err));
    WRIT_TRY(
        writ_roster_agents(roster, "the agents of the log", writ_event_text(head, "agents"), err));
    WRIT_TRY(open_nested(rerun, head, err));
    if (writ_view_is(writ_event_text(head, "process"), "consensual")) {
        WRIT_TRY(writ_roster_elect(roster, writ_event_text(head, "consensus"), err));
    }
    return writ_roster_build(roster, err);
}

/* The first line: the parts of the session. */
static WRIT_RESULT
open_session(struct writ_rerun *rerun, const struct writ_json *head, struct writ_err *err)
{
    struct writ_recording_options options = {
        .roster = &rerun->roster, .sink = compare_line, .user = rerun};
    double pool = writ_event_number(head, "pool", -1);

    options.crew_id = writ_event_text(head, "crewId");
    options.default_timeout_ms = writ_event_number(head, "defaultTimeoutMs", 0);
    options.auto_checkpoint = writ_json_is_true(head, WRIT_LIT("autoCheckpoint"));
    options.has_pool = pool >= 0 && pool <= WRIT_RECORDING_POOL_MAX;
    options.pool_max = options.has_pool ? (size_t)pool : 0;
    WRIT_TRY(open_roster(rerun, head, err));
    WRIT_TRY(read_hook_names(rerun, head, &options.hooks, err));
    return writ_recording_open(&options, &rerun->recording, err);
}

static WRIT_RESULT
open_log(struct writ_rerun *rerun, struct writ_err *err)
{
    struct writ_event_reader reader = {0};
    const struct writ_json *head = NULL;
    struct writ_view line;
    writ_result result;

    if (!next_line(rerun, &line) || !writ_is_ok(writ_event_read(&reader, line, &head, NULL)) ||
        !writ_view_is(writ_event_text(head, "format"), WRIT_RECORDING_FORMAT)) {
        writ_event_reader_wipe(&reader);
        WRIT_FAIL(err, WRIT_E_PARSE,
            "not the log of a crew: its first line is not log.opened of " WRIT_RECORDING_FORMAT);
    }
    result = open_session(rerun, head, err);
    writ_event_reader_wipe(&reader);
    return rerun->differs ? WRIT_DONE : result;
}

static WRIT_RESULT
compute(struct writ_rerun *rerun, struct writ_err *err)
{
    struct writ_err own = {0}; /* a difference shows the error of a line */
    struct writ_view line;

    err = err != NULL ? err : &own;
    rerun->why = writ_buf_make(WRIT_RERUN_LOG_MAX);
    WRIT_TRY(open_log(rerun, err));
    while (!rerun->differs && !rerun->closed && !rerun->reached && next_line(rerun, &line)) {
        WRIT_TRY(again(rerun, line, err));
    }
    rerun->beyond_log |= rerun->reached && rerun->beyond != NULL;
    if (!rerun->differs && rerun->closed && rerun->at < rerun->log.len) {
        differ(rerun, "the log continues after its end");
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_rerun_text(struct writ_rerun *rerun, struct writ_view log, struct writ_err *err)
{
    rerun->log = writ_buf_make(WRIT_RERUN_LOG_MAX);
    writ_buf_put(&rerun->log, log);
    WRIT_TRY(writ_buf_check(&rerun->log, err));
    return compute(rerun, err);
}

WRIT_RESULT
writ_rerun_take(struct writ_rerun *rerun, struct writ_buf *log, struct writ_err *err)
{
    rerun->log = *log;
    *log = writ_buf_make(0);
    return compute(rerun, err);
}

void
writ_rerun_finish(struct writ_rerun *rerun)
{
    if (!rerun->differs && !rerun->closed) {
        differ(rerun, "the log is truncated: it has no end; the lines so far are identical");
    }
}

void
writ_rerun_wipe(struct writ_rerun *rerun)
{
    writ_recording_free(rerun->recording);
    writ_roster_wipe(&rerun->roster);
    writ_event_reader_wipe(&rerun->reader);
    writ_buf_wipe(&rerun->log);
    writ_buf_wipe(&rerun->why);
    writ_buf_wipe(&rerun->names_text);
    writ_free(rerun->names);
}
