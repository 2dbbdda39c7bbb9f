/* writ crew checkpoints, snapshot and ballots: what stands in the log of a crew. The first two
 * compute the session again; the table of ballots is read from the lines alone. */
#include "base/text.h"
#include "cli/crew/command.h"
#include "cli/crew/crew_files.h"
#include "crew/vec.h"
#include "evidence/json/jcs.h"
#include "evidence/json/write.h"

#include <inttypes.h>

#define TEXT_MAX ((size_t)1 << 30)
#define SHOWN    200 /* bytes of a task or of a failure */

/* ---- the session of a log */

/* Computes it; a log that differs is a failure here. */
static WRIT_RESULT
rerun_log(const struct writ_cli *cli, struct writ_crew_files_engines *engines,
    struct writ_rerun *rerun, struct writ_err *err)
{
    const char *path = writ_cli_operand(cli, 0).ptr;

    WRIT_TRY(writ_crew_files_engines(cli, engines, err));
    rerun->engines = engines->engines;
    WRIT_TRY(writ_crew_files_rerun(rerun, path, err));
    if (rerun->differs) {
        WRIT_FAIL(err, WRIT_E_MISMATCH,
            "%s: the log is not that of its session: see writ crew replay", path);
    }
    return WRIT_DONE;
}

/* ---- crew checkpoints */

/** The checkpoints, as they are found. */
struct checkpoints {
    struct writ_event_reader reader;
    struct writ_buf text; /* JSON objects, or lines */
    bool json;
    size_t n;
};

static void
put_checkpoint(struct checkpoints *found, const struct writ_json *event)
{
    struct writ_view id = writ_event_text(event, "checkpointId");

    if (found->json) {
        struct writ_write w = writ_write_to(&found->text);
        writ_buf_str(&found->text, found->n > 0 ? "," : "");
        writ_write_object_begin(&w);
        writ_write_text(&w, "id", id);
        writ_write_number(&w, "ts", writ_event_number(event, "ts", 0));
        writ_write_object_end(&w);
        WRIT_IGNORE(writ_write_end(&w, NULL)); /* a failure stays in the buffer */
    } else {
        writ_text_safe(&found->text, id, id.len);
        writ_buf_fmt(&found->text, "  %.0f\n", writ_event_number(event, "ts", 0));
    }
    found->n++;
}

static writ_result
find_checkpoints(
    void *user, const struct writ_json *input, struct writ_crew_events events, struct writ_err *err)
{
    struct checkpoints *found = user;

    (void)input;
    for (size_t at = 0; at < events.n; at++) {
        const struct writ_json *event = NULL;
        WRIT_TRY(writ_event_read(&found->reader, events.list[at], &event, err));
        if (writ_event_is(event, "checkpoint.taken")) {
            put_checkpoint(found, event);
        }
    }
    return writ_buf_check(&found->text, err);
}

enum writ_exit
writ_command_crew_checkpoints(const struct writ_cli *cli)
{
    WRIT_AUTO(struct writ_crew_files_engines, writ_crew_files_engines_wipe) engines = {0};
    WRIT_AUTO(struct writ_rerun, writ_rerun_wipe) rerun = {0};
    struct checkpoints found = {.text = writ_buf_make(TEXT_MAX), .json = cli->json};
    struct writ_err err = {0};
    writ_result result;

    rerun.taken = find_checkpoints;
    rerun.user = &found;
    result = rerun_log(cli, &engines, &rerun, &err);
    if (writ_is_ok(result)) {
        writ_cli_print("%s", cli->json ? "{\"checkpoints\":[" : "");
        writ_cli_put(writ_buf_view(&found.text));
        writ_cli_print("%s", cli->json ? "]}\n" : "");
    }
    writ_event_reader_wipe(&found.reader);
    writ_buf_wipe(&found.text);
    return writ_is_ok(result) ? WRIT_EXIT_OK : writ_cli_fail(cli, result, &err);
}

/* ---- crew snapshot */

static WRIT_RESULT
take_snapshot(const struct writ_cli *cli, struct writ_crew_value **ret, struct writ_err *err)
{
    WRIT_AUTO(struct writ_crew_files_engines, writ_crew_files_engines_wipe) engines = {0};
    WRIT_AUTO(struct writ_rerun, writ_rerun_wipe) rerun = {0};

    rerun.until = writ_cli_get(cli, "at");
    WRIT_TRY(rerun_log(cli, &engines, &rerun, err));
    if (rerun.until.ptr != NULL && !rerun.reached) {
        WRIT_FAIL(err, WRIT_E_ABSENT,
            "%s: no checkpoint " WRIT_VIEW_FMT ": list them with writ crew checkpoints",
            writ_cli_operand(cli, 0).ptr, WRIT_VIEW_ARG(rerun.until));
    }
    return writ_recording_snapshot(rerun.recording, ret, err);
}

enum writ_exit
writ_command_crew_snapshot(const struct writ_cli *cli)
{
    struct writ_crew_value *snapshot = NULL;
    struct writ_err err = {0};
    writ_result result = take_snapshot(cli, &snapshot, &err);

    if (!writ_is_ok(result)) {
        return writ_cli_fail(cli, result, &err);
    }
    writ_cli_put(writ_crew_value_text(snapshot));
    writ_cli_print("\n");
    writ_crew_value_free(snapshot);
    return WRIT_EXIT_OK;
}

/* ---- crew ballots */

/** A step that asks for a ballot, and why it got no answer. Texts are kept with their arena. */
struct question {
    struct writ_view id, agent;
    struct writ_view why; /* absent: nothing is known */
};

/** The elections of a log. */
struct elections {
    struct writ_arena *arena; /* of the texts below */
    struct question *questions;
    size_t questions_n, questions_cap;
    const struct writ_json **started; /* dispatch.started, that have not ended */
    size_t started_n, started_cap;
    const struct writ_json **ballots; /* since the last election */
    size_t ballots_n, ballots_cap;
    struct writ_buf text;
    bool json;
    size_t n;
};

static const struct writ_json_limits line_limits = {.bytes = WRIT_JSON_BYTES_MAX,
    .depth = WRIT_JSON_DEPTH_MAX,
    .values = WRIT_JSON_BYTES_MAX,
    .name_bytes = WRIT_JSON_BYTES_MAX,
    .string_bytes = WRIT_JSON_BYTES_MAX,
    .number_bytes = WRIT_NUMBER_MAX};

static void
elections_wipe(struct elections *found)
{
    writ_arena_free(found->arena);
    writ_free(found->questions);
    writ_free(found->started);
    writ_free(found->ballots);
    writ_buf_wipe(&found->text);
}

static struct question *
find_question(struct elections *found, const char *member, const struct writ_json *line)
{
    struct writ_view text = writ_event_text(line, member);

    for (size_t at = found->questions_n; at > 0; at--) {
        struct question *question = &found->questions[at - 1];
        if (writ_view_equal(
                writ_view_is(writ_view_str(member), "agentId") ? question->agent : question->id,
                text)) {
            return question;
        }
    }
    return NULL;
}

static void
note_missing(struct elections *found, const struct writ_json *line, struct writ_view why)
{
    struct question *question = find_question(found, "correlationId", line);

    if (question != NULL && question->why.ptr == NULL) {
        question->why = why;
    }
}

static WRIT_RESULT
note_question(struct elections *found, const struct writ_json *line)
{
    if (writ_json_get(writ_json_get(line, WRIT_LIT("input")), WRIT_LIT("ballot")) == NULL) {
        return WRIT_DONE;
    }
    WRIT_TRY(writ_vec_room(
        &found->questions, &found->questions_cap, found->questions_n, sizeof *found->questions));
    found->questions[found->questions_n++] = (struct question){
        writ_event_text(line, "correlationId"), writ_event_text(line, "agentId"), {NULL, 0}};
    return WRIT_DONE;
}

static WRIT_RESULT
keep(const struct writ_json ***list, size_t *n, size_t *cap, const struct writ_json *line)
{
    WRIT_TRY(writ_vec_room(list, cap, *n, sizeof(const struct writ_json *)));
    (*list)[(*n)++] = line;
    return WRIT_DONE;
}

/* Why an agent has no ranking. */
static struct writ_view
why_missing(struct elections *found, const struct writ_json *ballot)
{
    const struct question *question = find_question(found, "agentId", ballot);

    if (writ_event_is(ballot, "dispatch.ballot.unreadable")) {
        return WRIT_LIT("no ranking in the answer");
    }
    return question != NULL && question->why.ptr != NULL ? question->why : WRIT_LIT("no answer");
}

/* What began the election that a line ends; NULL: the handler was known. */
static const struct writ_json *
take_started(struct elections *found, const struct writ_json *line)
{
    for (size_t at = found->started_n; at > 0; at--) {
        const struct writ_json *started = found->started[at - 1];
        if (writ_view_equal(writ_event_text(started, "crewId"), writ_event_text(line, "crewId"))) {
            found->started[at - 1] = found->started[--found->started_n];
            return started;
        }
    }
    return NULL;
}

static void
put_member(struct writ_write *w, const struct writ_json *line, const char *member)
{
    const struct writ_json *value = writ_json_get(line, writ_view_str(member));

    if (value != NULL) {
        writ_write_name(w, writ_view_str(member));
        writ_write_value(w, value);
    }
}

static void
put_json(struct elections *found, const struct writ_json *started, const struct writ_json *line)
{
    struct writ_write w = writ_write_to(&found->text);

    writ_buf_str(&found->text, found->n > 0 ? "," : "");
    writ_write_object_begin(&w);
    put_member(&w, line, "crewId");
    put_member(&w, started, "task");
    put_member(&w, started, "engine");
    put_member(&w, started, "candidates");
    writ_write_name(&w, WRIT_LIT("ballots"));
    writ_write_array_begin(&w);
    for (size_t at = 0; at < found->ballots_n; at++) {
        const struct writ_json *ballot = found->ballots[at];
        writ_write_object_begin(&w);
        writ_write_text(&w, "voter", writ_event_text(ballot, "roleId"));
        put_member(&w, ballot, "ranking");
        if (writ_json_get(ballot, WRIT_LIT("ranking")) == NULL) {
            writ_write_text(&w, "missing", why_missing(found, ballot));
        }
        writ_write_object_end(&w);
    }
    writ_write_array_end(&w);
    writ_write_text_if(&w, "elected", writ_event_text(line, "agentId"));
    writ_write_flag(&w, "fixed", writ_json_is_true(line, WRIT_LIT("fixed")));
    writ_write_text_if(&w, "why", writ_event_text(line, "why"));
    writ_write_object_end(&w);
    WRIT_IGNORE(writ_write_end(&w, NULL)); /* a failure stays in the buffer */
}

static void
put_padded(struct writ_buf *text, struct writ_view name, size_t width)
{
    size_t from = text->len;

    writ_text_safe(text, name, SHOWN);
    while (text->len - from < width) {
        writ_buf_byte(text, ' ');
    }
}

static void
put_rows(struct elections *found)
{
    size_t width = sizeof "voter" - 1;

    for (size_t at = 0; at < found->ballots_n; at++) {
        size_t len = writ_event_text(found->ballots[at], "roleId").len;
        width = len > width && len <= SHOWN ? len : width;
    }
    writ_buf_str(&found->text, "  ");
    put_padded(&found->text, WRIT_LIT("voter"), width);
    writ_buf_str(&found->text, "  ranking\n");
    for (size_t at = 0; at < found->ballots_n; at++) {
        const struct writ_json *ballot = found->ballots[at];
        const struct writ_json *ranking = writ_json_get(ballot, WRIT_LIT("ranking"));
        const char *between = "";
        writ_buf_str(&found->text, "  ");
        put_padded(&found->text, writ_event_text(ballot, "roleId"), width);
        writ_buf_str(&found->text, "  ");
        WRIT_JSON_EACH(name, ranking)
        {
            writ_buf_str(&found->text, between);
            writ_text_safe(&found->text, writ_json_string(name), SHOWN);
            between = " > ";
        }
        if (ranking == NULL) {
            writ_buf_byte(&found->text, '(');
            writ_text_safe(&found->text, why_missing(found, ballot), SHOWN);
            writ_buf_byte(&found->text, ')');
        }
        writ_buf_byte(&found->text, '\n');
    }
}

/* The explanation of an engine, indented. */
static void
put_why(struct writ_buf *text, struct writ_view why)
{
    while (why.len > 0) {
        size_t end = writ_view_find(why, '\n');
        writ_buf_str(text, "    ");
        writ_text_safe(text, writ_view_sub(why, 0, end), end);
        writ_buf_byte(text, '\n');
        why = writ_view_sub(why, end + 1, why.len);
    }
}

static void
put_table(struct elections *found, const struct writ_json *started, const struct writ_json *line)
{
    writ_auto_buf value = writ_buf_make(TEXT_MAX);
    struct writ_view elected = writ_event_text(line, "agentId");
    struct writ_view task = writ_event_json(started, "task", &value);
    struct writ_buf *text = &found->text;

    writ_buf_str(text, found->n > 0 ? "\n" : "");
    if (started != NULL) {
        writ_buf_str(text, "task ");
        writ_text_safe(text, task.ptr != NULL ? task : WRIT_LIT("(none)"), SHOWN);
        writ_buf_str(text, ", by ");
        writ_text_safe(text, writ_event_text(started, "engine"), SHOWN);
        writ_buf_byte(text, '\n');
        put_rows(found);
    } else {
        writ_buf_str(text, "a task with a known handler\n");
    }
    writ_buf_str(text, elected.ptr != NULL ? "  elected: " : "  no agent is elected");
    writ_text_safe(text, elected, SHOWN);
    writ_buf_str(text, writ_json_is_true(line, WRIT_LIT("fixed")) ? ", by the task\n" : "\n");
    put_why(text, writ_event_text(line, "why"));
}

static WRIT_RESULT
take_line(struct elections *found, const struct writ_json *line)
{
    const struct writ_json *event = writ_json_get(line, WRIT_LIT("event"));

    if (writ_event_is(line, "dispatch.started")) {
        return keep(&found->started, &found->started_n, &found->started_cap, line);
    }
    if (writ_view_has_prefix(writ_event_text(line, "type"), WRIT_LIT("dispatch.ballot"))) {
        return keep(&found->ballots, &found->ballots_n, &found->ballots_cap, line);
    }
    if (writ_event_is(line, "agent.step.requested")) {
        return note_question(found, line);
    }
    if (writ_event_is(line, "agent.step.timed_out")) {
        note_missing(found, line, WRIT_LIT("late"));
    } else if (writ_event_is(event, "agent.step.failed")) {
        struct writ_view why = writ_event_text(writ_json_get(event, WRIT_LIT("error")), "message");
        note_missing(found, event, why.ptr != NULL ? why : WRIT_LIT("failed"));
    } else if (writ_event_is(line, "dispatch.elected") || writ_event_is(line, "dispatch.failed")) {
        const struct writ_json *started = take_started(found, line);
        if (found->json) {
            put_json(found, started, line);
        } else {
            put_table(found, started, line);
        }
        found->n++;
        found->ballots_n = 0;
    }
    return WRIT_DONE;
}

static WRIT_RESULT
read_elections(struct elections *found, struct writ_view log, struct writ_err *err)
{
    for (size_t nth = 1; log.len > 0; nth++) {
        size_t end = writ_view_find(log, '\n');
        const struct writ_json *line = NULL;
        if (end == log.len) {
            break; /* a line that was cut off */
        }
        writ_result read =
            writ_json_read(writ_view_sub(log, 0, end), &line_limits, found->arena, &line, err);
        if (!writ_is_ok(read)) {
            return writ_fail(err, read.code, "line %zu is not one of a log", nth);
        }
        if (!writ_is_ok(take_line(found, line)) ||
            !writ_is_ok(writ_buf_check(&found->text, NULL))) {
            WRIT_FAIL(err, WRIT_E_NOMEM, "no memory");
        }
        log = writ_view_sub(log, end + 1, log.len);
    }
    return WRIT_DONE;
}

enum writ_exit
writ_command_crew_ballots(const struct writ_cli *cli)
{
    WRIT_AUTO(struct elections, elections_wipe)
    found = {.text = writ_buf_make(TEXT_MAX), .arena = writ_arena_new(SIZE_MAX), .json = cli->json};
    writ_auto_buf log = writ_buf_make(WRIT_RERUN_LOG_MAX);
    struct writ_err err = {0};
    writ_result result = {found.arena != NULL ? WRIT_OK : WRIT_E_NOMEM};

    if (writ_is_ok(result)) {
        result = writ_cli_read(writ_cli_operand(cli, 0).ptr, WRIT_RERUN_LOG_MAX, &log, &err);
    }
    if (writ_is_ok(result)) {
        result = read_elections(&found, writ_buf_view(&log), &err);
    }
    if (!writ_is_ok(result)) {
        return writ_cli_fail(cli, result, &err);
    }
    writ_cli_print("%s", cli->json ? "{\"elections\":[" : "");
    writ_cli_put(writ_buf_view(&found.text));
    writ_cli_print("%s", cli->json ? "]}\n" : "");
    return found.n > 0 ? WRIT_EXIT_OK : WRIT_EXIT_NEGATIVE;
}
