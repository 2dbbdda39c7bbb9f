/* A session of a crew that writes each input and each event as a line of its log, with a digest
 * over all lines. Members are in canonical order, so that the same inputs give the same bytes: a
 * replay compares them. */
#include "cli/crew/recording.h"

#include "base/text.h"
#include "cli/base/print.h"
#include "evidence/json/digest.h"
#include "evidence/json/jcs.h"
#include "evidence/json/write.h"

#define LINE_BYTES_MAX WRIT_JSON_BYTES_MAX

struct writ_recording {
    struct writ_recording_options options;
    struct writ_crew_memory memory;
    struct writ_crew_session *session;
    double now_ms;
    struct writ_buf line;
    struct writ_digest_stream digest;
    uint64_t events;
};

static double
clock_now(void *user)
{
    return ((const struct writ_recording *)user)->now_ms;
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

static WRIT_RESULT
put_head(struct writ_recording *recording, struct writ_err *err)
{
    const struct writ_roster *roster = recording->options.roster;
    struct writ_write w = begin_line(recording);

    writ_write_text(&w, "agents", writ_buf_view(&roster->agents_text));
    writ_write_text(&w, "crewId", recording->options.crew_id);
    writ_write_number(&w, "defaultTimeoutMs", recording->options.default_timeout_ms);
    writ_write_text(&w, "format", WRIT_LIT(WRIT_RECORDING_FORMAT));
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
        writ_buf_wipe(&recording->line);
        writ_digest_stream_wipe(&recording->digest);
        writ_free(recording);
    }
}

static WRIT_RESULT
told(writ_result result, const struct writ_crew_err *below, struct writ_err *err)
{
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
    const struct writ_crew_options crew = {.crew_id = options->crew_id,
        .graph = options->roster->graph,
        .clock = {clock_now, recording},
        .memory = &recording->memory,
        .has_default_timeout = true,
        .default_timeout_ms = options->default_timeout_ms};
    if (!writ_is_ok(writ_crew_memory_new(options->crew_id, &recording->memory))) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory");
    }
    WRIT_TRY(told(writ_crew_session_new(&crew, &recording->session, &below), &below, err));
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

    WRIT_TRY(told(writ_crew_session_start(recording->session, writ_crew_value_text(input),
                      writ_crew_value_text(task), ret, &below),
        &below, err));
    w = begin_line(recording);
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

    recording->now_ms = now_ms;
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

    recording->now_ms = now_ms;
    if (writ_is_ok(result)) {
        result = told(
            writ_crew_session_deliver(recording->session, writ_crew_value_text(value), ret, &below),
            &below, err);
    }
    if (writ_is_ok(result)) {
        w = begin_line(recording);
        put_json(&w, "event", value);
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

    recording->now_ms = now_ms;
    WRIT_TRY(told(writ_crew_session_tick(recording->session, now_ms, ret, &below), &below, err));
    if (ret->n == 0) {
        return WRIT_DONE;
    }
    w = begin_line(recording);
    writ_write_number(&w, "ts", now_ms);
    writ_write_text(&w, "type", WRIT_LIT("input.tick"));
    WRIT_TRY(end_line(recording, &w, err));
    return put_events(recording, *ret, err);
}

WRIT_RESULT
writ_recording_cancel(struct writ_recording *recording, double now_ms, struct writ_crew_events *ret,
    struct writ_err *err)
{
    struct writ_crew_err below = {0};
    struct writ_write w;

    recording->now_ms = now_ms;
    WRIT_TRY(told(writ_crew_session_cancel(recording->session, WRIT_CREW_CANCELLED, ret, &below),
        &below, err));
    w = begin_line(recording);
    writ_write_number(&w, "ts", now_ms);
    writ_write_text(&w, "type", WRIT_LIT("input.cancel"));
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
