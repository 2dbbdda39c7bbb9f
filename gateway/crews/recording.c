/* A session of a crew that writes each input and each event as a line of its log, with a digest
 * over all lines. Members are in canonical order, so that the same inputs give the same bytes: a
 * replay compares them. */
#include "gateway/crews/recording.h"

#include "base/text.h"
#include "gateway/crews/event.h"
#include "gateway/crews/agent_exchange.h"
#include "evidence/json/digest.h"
#include "evidence/json/jcs.h"
#include "evidence/json/write.h"

#define LINE_BYTES_MAX WRIT_JSON_BYTES_MAX

struct writ_recording {
    struct writ_recording_options options;
    struct writ_crew_options crew;
    struct writ_crew_hooks hooks;
    struct writ_crew_memory memory;
    struct writ_crew_pool *pool;
    struct writ_agent_exchange exchange;
    struct writ_crew_session *session;
    double now_ms;
    struct writ_buf line;
    struct writ_buf answers; /* of the hooks during this input, with commas */
    writ_result failed;      /* of a hook; WRIT_E_UNSET: none */
    struct writ_err why;
    struct writ_digest_stream digest;
    uint64_t events;
};

static double
clock_now(void *user)
{
    return ((const struct writ_recording *)user)->now_ms;
}

/* ---- hooks
 *
 * Their answers are inputs: they are logged in the order of the calls, and a replay gives them
 * again. */

static void
obey_actions(const struct writ_json *answer, struct writ_crew_control *control)
{
    WRIT_JSON_EACH(action, writ_json_get(answer, WRIT_LIT("actions")))
    {
        enum writ_crew_action kind = WRIT_CREW_TALK_TO;
        struct writ_view from = writ_event_text(action, "from"), to = writ_event_text(action, "to");
        if (writ_crew_action_read(writ_event_text(action, "action"), &kind) && from.ptr != NULL &&
            to.ptr != NULL) {
            writ_crew_control_request(control, from, to, kind);
        }
    }
}

/* The answer is read from a copy: an action may call the next hook. */
static WRIT_RESULT
obey(struct writ_view text, struct writ_crew_control *control, struct writ_err *err)
{
    struct writ_event_reader reader = {0};
    const struct writ_json *answer = NULL;
    writ_result read = writ_event_read(&reader, text, &answer, err);

    if (writ_is_ok(read)) {
        WRIT_JSON_EACH(id, writ_json_get(answer, WRIT_LIT("checkpoints")))
        {
            if (writ_json_type(id) == WRIT_JSON_STRING) {
                writ_crew_control_checkpoint(control, writ_json_string(id));
            }
        }
        obey_actions(answer, control);
    }
    writ_event_reader_wipe(&reader);
    return read;
}

static bool
is_asked(const struct writ_recording_hooks *hooks, struct writ_view name)
{
    for (size_t at = 0; at < hooks->names_n; at++) {
        if (writ_view_equal(hooks->names[at], name)) {
            return true;
        }
    }
    return false;
}

static void
call_hook(void *user, const struct writ_crew_hook *hook, struct writ_crew_control *control)
{
    struct writ_recording *recording = user;
    const struct writ_recording_hooks *hooks = &recording->options.hooks;
    writ_auto_buf answer = writ_buf_make(LINE_BYTES_MAX);
    writ_result asked;

    if (recording->failed.code != WRIT_E_UNSET || !is_asked(hooks, hook->name)) {
        return;
    }
    asked = hooks->ask(hooks->user, hook, &answer, &recording->why);
    if (writ_is_ok(asked)) {
        writ_buf_str(&recording->answers, recording->answers.len > 0 ? "," : "");
        writ_buf_put(&recording->answers, writ_buf_view(&answer));
        asked = obey(writ_buf_view(&answer), control, &recording->why);
    }
    if (!writ_is_ok(asked)) {
        recording->failed = asked;
    }
}

/* Begins an input. */
static void
begin_input(struct writ_recording *recording, double now_ms)
{
    recording->now_ms = now_ms;
    writ_buf_clear(&recording->answers);
}

/* ---- lines */

static WRIT_RESULT
put_line(struct writ_recording *recording, struct writ_view line, struct writ_err *err)
{
    WRIT_TRY(writ_digest_stream_add(&recording->digest, line, err));
    WRIT_TRY(writ_digest_stream_add(&recording->digest, WRIT_LIT("\n"), err));
    return recording->options.sink != NULL
               ? recording->options.sink(recording->options.user, line, err)
               : WRIT_DONE;
}

/* Members come in canonical order. */
static struct writ_write
begin_line(struct writ_recording *recording)
{
    struct writ_write w;

    writ_buf_clear(&recording->line);
    w = writ_write_to(&recording->line);
    w.sorted = true;
    writ_write_object_begin(&w);
    return w;
}

static void
put_json(struct writ_write *w, const char *name, const struct writ_crew_value *value)
{
    if (value != NULL) {
        writ_write_name(w, writ_view_str(name));
        writ_write_raw(w, writ_crew_value_text(value));
    }
}

/* The answers of the hooks during this input. */
static void
put_answers(struct writ_write *w, const struct writ_recording *recording)
{
    writ_auto_buf list = writ_buf_make(LINE_BYTES_MAX);

    if (recording->answers.len > 0) {
        writ_buf_byte(&list, '[');
        writ_buf_put(&list, writ_buf_view(&recording->answers));
        writ_buf_byte(&list, ']');
        writ_write_name(w, WRIT_LIT("hooks"));
        writ_write_raw(w, writ_buf_view(&list));
    }
}

static WRIT_RESULT
end_line(struct writ_recording *recording, struct writ_write *w, struct writ_err *err)
{
    writ_write_object_end(w);
    WRIT_TRY(writ_write_end(w, err));
    return put_line(recording, writ_buf_view(&recording->line), err);
}

static void
put_registry(struct writ_write *w, const struct writ_roster *roster)
{
    writ_write_name(w, WRIT_LIT("registry"));
    writ_write_array_begin(w);
    for (size_t at = 0; at < roster->nested_n; at++) {
        writ_write_object_begin(w);
        writ_write_text(w, "key", writ_buf_view(&roster->nested[at].key));
        writ_write_text(w, "shape", writ_buf_view(&roster->nested[at].text));
        writ_write_object_end(w);
    }
    writ_write_array_end(w);
}

static void
put_hook_names(struct writ_write *w, const struct writ_recording_hooks *hooks)
{
    if (hooks->names_n > 0) {
        writ_write_name(w, WRIT_LIT("hooks"));
        writ_write_array_begin(w);
        for (size_t at = 0; at < hooks->names_n; at++) {
            writ_write_string(w, hooks->names[at]);
        }
        writ_write_array_end(w);
    }
}

static WRIT_RESULT
put_head(struct writ_recording *recording, struct writ_err *err)
{
    const struct writ_roster *roster = recording->options.roster;
    struct writ_write w = begin_line(recording);

    writ_write_text(&w, "agents", writ_buf_view(&roster->agents_text));
    if (recording->options.auto_checkpoint) {
        writ_write_flag(&w, "autoCheckpoint", true);
    }
    if (roster->consensual && roster->consensus.len > 0) {
        writ_write_text(&w, "consensus", writ_buf_view(&roster->consensus));
    }
    writ_write_text(&w, "crewId", recording->options.crew_id);
    writ_write_number(&w, "defaultTimeoutMs", recording->options.default_timeout_ms);
    writ_write_text(&w, "format", WRIT_LIT(WRIT_RECORDING_FORMAT));
    put_hook_names(&w, &recording->options.hooks);
    if (recording->options.has_pool) {
        writ_write_count(&w, "pool", recording->options.pool_max);
    }
    if (roster->consensual) {
        writ_write_text(&w, "process", WRIT_LIT("consensual"));
    }
    put_registry(&w, roster);
    writ_write_text(&w, "shape", writ_buf_view(&roster->shape_text));
    writ_write_text(&w, "type", WRIT_LIT("log.opened"));
    return end_line(recording, &w, err);
}

static WRIT_RESULT
put_events(struct writ_recording *recording, struct writ_crew_events events, struct writ_err *err)
{
    recording->events += events.n;
    for (size_t at = 0; at < events.n; at++) {
        WRIT_TRY(put_line(recording, events.list[at], err));
    }
    return WRIT_DONE;
}

/* ---- a session */

static void
recording_freep(struct writ_recording **recording)
{
    writ_recording_free(*recording);
}

void
writ_recording_free(struct writ_recording *recording)
{
    if (recording != NULL) {
        writ_crew_session_free(recording->session);
        if (recording->memory.ops != NULL) {
            recording->memory.ops->free(recording->memory.self);
        }
        writ_crew_pool_free(recording->pool);
        writ_agent_exchange_wipe(&recording->exchange);
        writ_buf_wipe(&recording->line);
        writ_buf_wipe(&recording->answers);
        writ_digest_stream_wipe(&recording->digest);
        writ_free(recording);
    }
}

/* What a call of the session came to; a hook may have failed in it. */
static WRIT_RESULT
told(struct writ_recording *recording, writ_result result, const struct writ_crew_err *below,
    struct writ_err *err)
{
    if (recording->failed.code != WRIT_E_UNSET) {
        return writ_fail(err, recording->failed.code, "%s", recording->why.text);
    }
    return writ_is_ok(result) ? result
                              : writ_fail(err, result.code, "%s: %s",
                                    writ_crew_error_name(below->error), below->err.text);
}

WRIT_RESULT
writ_recording_open(
    const struct writ_recording_options *options, struct writ_recording **ret, struct writ_err *err)
{
    WRIT_AUTO(struct writ_recording *, recording_freep) recording = writ_alloc(sizeof *recording);
    struct writ_crew_err below = {0};

    if (recording == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory");
    }
    recording->options = *options;
    recording->line = writ_buf_make(LINE_BYTES_MAX);
    recording->answers = writ_buf_make(LINE_BYTES_MAX);
    recording->hooks = (struct writ_crew_hooks){call_hook, recording};
    recording->crew = (struct writ_crew_options){.crew_id = options->crew_id,
        .graph = options->roster->graph,
        .clock = {clock_now, recording},
        .hooks = &recording->hooks,
        .memory = &recording->memory,
        .has_default_timeout = true,
        .default_timeout_ms = options->default_timeout_ms,
        .auto_checkpoint = options->auto_checkpoint};
    if (!writ_is_ok(writ_crew_memory_new(options->crew_id, &recording->memory)) ||
        (options->has_pool && (recording->pool = writ_crew_pool_new(options->pool_max)) == NULL)) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory");
    }
    recording->exchange.pool = recording->pool;
    WRIT_TRY(told(recording, writ_crew_session_new(&recording->crew, &recording->session, &below),
        &below, err));
    WRIT_TRY(writ_digest_stream_init(&recording->digest, err));
    WRIT_TRY(put_head(recording, err));
    *ret = WRIT_TAKE(recording);
    return WRIT_DONE;
}

enum writ_crew_status
writ_recording_status(const struct writ_recording *recording)
{
    return writ_crew_session_status(recording->session);
}

/* ---- inputs */

/* The value in the form of the log, which the crew gets too. */
static WRIT_RESULT
read_value(
    const char *what, struct writ_view json, struct writ_crew_value **ret, struct writ_err *err)
{
    struct writ_crew_err below = {0};
    writ_result read;

    if (json.ptr == NULL) {
        *ret = NULL;
        return WRIT_DONE;
    }
    read = writ_crew_value_read(json, NULL, ret, &below);
    return writ_is_ok(read) ? read : writ_fail(err, read.code, "%s: %s", what, below.err.text);
}

static WRIT_RESULT
start(struct writ_recording *recording, const struct writ_crew_value *input,
    const struct writ_crew_value *task, struct writ_crew_events *ret, struct writ_err *err)
{
    struct writ_crew_err below = {0};
    struct writ_write w;

    WRIT_TRY(told(recording,
        writ_crew_session_start(recording->session, writ_crew_value_text(input),
            writ_crew_value_text(task), ret, &below),
        &below, err));
    w = begin_line(recording);
    put_answers(&w, recording);
    put_json(&w, "input", input);
    put_json(&w, "task", task);
    writ_write_number(&w, "ts", recording->now_ms);
    writ_write_text(&w, "type", WRIT_LIT("input.start"));
    WRIT_TRY(end_line(recording, &w, err));
    return put_events(recording, *ret, err);
}

WRIT_RESULT
writ_recording_start(struct writ_recording *recording, double now_ms, struct writ_view input,
    struct writ_view task, struct writ_crew_events *ret, struct writ_err *err)
{
    struct writ_crew_value *in = NULL, *about = NULL;
    writ_result result = read_value("input", input, &in, err);

    begin_input(recording, now_ms);
    if (writ_is_ok(result)) {
        result = read_value("task", task, &about, err);
    }
    if (writ_is_ok(result)) {
        result = start(recording, in, about, ret, err);
    }
    writ_crew_value_free(in);
    writ_crew_value_free(about);
    return result;
}

WRIT_RESULT
writ_recording_deliver(struct writ_recording *recording, double now_ms, struct writ_view event,
    struct writ_crew_events *ret, struct writ_err *err)
{
    struct writ_crew_value *value = NULL;
    struct writ_crew_err below = {0};
    struct writ_write w;
    writ_result result = read_value("event", event, &value, err);

    begin_input(recording, now_ms);
    if (writ_is_ok(result)) {
        result = told(recording,
            writ_crew_session_deliver(recording->session, writ_crew_value_text(value), ret, &below),
            &below, err);
    }
    if (writ_is_ok(result)) {
        w = begin_line(recording);
        put_json(&w, "event", value);
        put_answers(&w, recording);
        writ_write_number(&w, "ts", now_ms);
        writ_write_text(&w, "type", WRIT_LIT("input.deliver"));
        result = end_line(recording, &w, err);
    }
    writ_crew_value_free(value);
    return writ_is_ok(result) ? put_events(recording, *ret, err) : result;
}

WRIT_RESULT
writ_recording_tick(struct writ_recording *recording, double now_ms, struct writ_crew_events *ret,
    struct writ_err *err)
{
    struct writ_crew_err below = {0};
    struct writ_write w;

    begin_input(recording, now_ms);
    WRIT_TRY(told(
        recording, writ_crew_session_tick(recording->session, now_ms, ret, &below), &below, err));
    if (ret->n == 0) {
        return WRIT_DONE;
    }
    w = begin_line(recording);
    put_answers(&w, recording);
    writ_write_number(&w, "ts", now_ms);
    writ_write_text(&w, "type", WRIT_LIT("input.tick"));
    WRIT_TRY(end_line(recording, &w, err));
    return put_events(recording, *ret, err);
}

WRIT_RESULT
writ_recording_cancel(struct writ_recording *recording, double now_ms, enum writ_crew_abort reason,
    struct writ_crew_events *ret, struct writ_err *err)
{
    struct writ_crew_err below = {0};
    struct writ_write w;

    begin_input(recording, now_ms);
    WRIT_TRY(told(
        recording, writ_crew_session_cancel(recording->session, reason, ret, &below), &below, err));
    w = begin_line(recording);
    if (reason == WRIT_CREW_TIMEOUT) { /* older logs have no reason */
        writ_write_text(&w, "reason", WRIT_LIT("timeout"));
    }
    writ_write_number(&w, "ts", now_ms);
    writ_write_text(&w, "type", WRIT_LIT("input.cancel"));
    WRIT_TRY(end_line(recording, &w, err));
    return put_events(recording, *ret, err);
}

static WRIT_RESULT
exchange(struct writ_recording *recording, struct writ_view agent_id,
    const struct writ_crew_value *message, struct writ_crew_events *ret, struct writ_err *err)
{
    struct writ_event_reader reader = {0};
    const struct writ_json *json = NULL;
    struct writ_view text = writ_crew_value_text(message);
    writ_result taken = writ_event_read(&reader, text, &json, err);

    if (writ_is_ok(taken)) {
        taken = writ_agent_exchange_take(&recording->exchange, recording->session,
            recording->now_ms, agent_id, json, text, ret, err);
    }
    writ_event_reader_wipe(&reader);
    return taken;
}

WRIT_RESULT
writ_recording_message(struct writ_recording *recording, double now_ms, struct writ_view agent_id,
    struct writ_view message, struct writ_crew_events *ret, struct writ_err *err)
{
    struct writ_crew_value *value = NULL;
    struct writ_write w;
    writ_result result = read_value("message", message, &value, err);

    begin_input(recording, now_ms);
    if (writ_is_ok(result)) {
        result = exchange(recording, agent_id, value, ret, err);
    }
    if (writ_is_ok(result)) {
        result = told(recording, result, NULL, err);
    }
    if (writ_is_ok(result)) {
        w = begin_line(recording);
        writ_write_text(&w, "agentId", agent_id);
        put_answers(&w, recording);
        put_json(&w, "message", value);
        writ_write_number(&w, "ts", now_ms);
        writ_write_text(&w, "type", WRIT_LIT("input.message"));
        result = end_line(recording, &w, err);
    }
    writ_crew_value_free(value);
    return writ_is_ok(result) ? put_events(recording, *ret, err) : result;
}

/* ---- snapshots */

static const char *const policies[] = {
    [WRIT_CREW_RESUME_ABORT] = "refuse",
    [WRIT_CREW_RESUME_RE_EMIT] = "ask",
    [WRIT_CREW_RESUME_TREAT_AS_FAILED] = "fail",
};

const char *
writ_recording_policy_name(enum writ_crew_resume policy)
{
    return policies[policy];
}

bool
writ_recording_policy_read(struct writ_view name, enum writ_crew_resume *ret)
{
    for (size_t at = 0; at < sizeof policies / sizeof *policies; at++) {
        if (writ_view_is(name, policies[at])) {
            *ret = (enum writ_crew_resume)at;
            return true;
        }
    }
    return false;
}

WRIT_RESULT
writ_recording_snapshot(
    struct writ_recording *recording, struct writ_crew_value **ret, struct writ_err *err)
{
    struct writ_crew_err below = {0};

    return told(
        recording, writ_crew_session_snapshot(recording->session, ret, &below), &below, err);
}

WRIT_RESULT
writ_recording_resume(struct writ_recording *recording, double now_ms, enum writ_crew_resume policy,
    double stopped_ms, struct writ_crew_events *ret, struct writ_err *err)
{
    struct writ_crew_session *next = NULL;
    struct writ_crew_value *snapshot = NULL;
    struct writ_crew_err below = {0};
    struct writ_write w;
    writ_result resumed;

    begin_input(recording, now_ms);
    WRIT_TRY(writ_recording_snapshot(recording, &snapshot, err));
    resumed = told(recording,
        writ_crew_session_resume(
            &recording->crew, writ_crew_value_text(snapshot), NULL, 0, policy, &next, ret, &below),
        &below, err);
    writ_crew_value_free(snapshot);
    WRIT_TRY(resumed);
    writ_crew_session_free(recording->session);
    recording->session = next;
    w = begin_line(recording);
    put_answers(&w, recording);
    writ_write_text(&w, "pending", writ_view_str(writ_recording_policy_name(policy)));
    writ_write_number(&w, "stoppedMs", stopped_ms);
    writ_write_number(&w, "ts", now_ms);
    writ_write_text(&w, "type", WRIT_LIT("input.resume"));
    WRIT_TRY(end_line(recording, &w, err));
    return put_events(recording, *ret, err);
}

WRIT_RESULT
writ_recording_close(struct writ_recording *recording, struct writ_err *err)
{
    struct writ_digest digest;
    char text[WRIT_DIGEST_TEXT];
    struct writ_write w;

    WRIT_TRY(writ_digest_stream_end(&recording->digest, &digest, err));
    writ_digest_text(&digest, text);
    w = begin_line(recording);
    writ_write_text(&w, "digest", writ_view_str(text));
    writ_write_number(&w, "events", (double)recording->events);
    writ_write_text(
        &w, "status", writ_view_str(writ_crew_status_name(writ_recording_status(recording))));
    writ_write_text(&w, "type", WRIT_LIT("log.closed"));
    writ_write_object_end(&w);
    WRIT_TRY(writ_write_end(&w, err));
    return recording->options.sink != NULL ? recording->options.sink(recording->options.user,
                                                 writ_buf_view(&recording->line), err)
                                           : WRIT_DONE;
}
