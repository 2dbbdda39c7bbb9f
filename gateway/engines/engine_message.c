/* Both sides of the exchange with the process of a voting engine. The answer comes from a process
 * in which foreign code runs, so that it is read strictly: one of three forms, nothing else. */
#include "gateway/engines/engine_message.h"

#include "evidence/json/write.h"

#define LINE_TEXT  2048 /* a line in base64; the engine's face cuts lines at 1023 bytes */
#define ANSWER_END 256  /* the answer around its lines */

static const struct writ_json_limits request_limits = {
    .bytes = WRIT_ENGINE_REQUEST_MAX,
    .depth = 4,
    .values = (size_t)16 << 20,
    .name_bytes = 16,
    .string_bytes = WRIT_ENGINE_REQUEST_MAX,
};

static const struct writ_json_limits answer_limits = {
    .bytes = WRIT_ENGINE_ANSWER_MAX,
    .depth = 2,
    .values = (size_t)4 << 20,
    .name_bytes = 16,
    .string_bytes = LINE_TEXT,
    .number_bytes = 20,
};

/* ---- requests */

void
writ_engine_message_put_describe(struct writ_buf *ret)
{
    writ_buf_str(ret, "{\"describe\":true}");
}

static void
put_names(struct writ_write *w, const struct writ_view *names, size_t n)
{
    writ_write_array_begin(w);
    for (size_t at = 0; at < n; at++) {
        writ_write_string(w, names[at]);
    }
    writ_write_array_end(w);
}

static void
put_ballot(struct writ_write *w, const struct writ_crew_ballot *ballot)
{
    writ_write_object_begin(w);
    writ_write_text(w, "agent", ballot->agent_id);
    if (ballot->output.ptr != NULL) {
        writ_write_text(w, "output", ballot->output);
    }
    if (ballot->ranking != NULL) {
        writ_write_name(w, WRIT_LIT("ranking"));
        put_names(w, ballot->ranking, ballot->ranking_n);
    }
    writ_write_text(w, "role", ballot->role_id);
    writ_write_object_end(w);
}

void
writ_engine_message_put_poll(struct writ_buf *ret, const struct writ_crew_poll *poll)
{
    struct writ_write w = writ_write_to(ret);

    w.sorted = true;
    writ_write_object_begin(&w);
    writ_write_name(&w, WRIT_LIT("ballots"));
    writ_write_array_begin(&w);
    for (size_t at = 0; at < poll->ballots_n; at++) {
        put_ballot(&w, &poll->ballots[at]);
    }
    writ_write_array_end(&w);
    writ_write_name(&w, WRIT_LIT("candidates"));
    put_names(&w, poll->candidates, poll->candidates_n);
    writ_write_object_end(&w);
}

/* `ret_list` is not NULL, also for an empty array. */
static WRIT_RESULT
read_names(const struct writ_json *array, struct writ_arena *arena,
    const struct writ_view **ret_list, size_t *ret_n)
{
    struct writ_view *list;
    size_t n = 0;

    if (writ_json_type(array) != WRIT_JSON_ARRAY) {
        return (writ_result){WRIT_E_INVALID};
    }
    list = writ_arena_get(arena, ((size_t)array->count + 1) * sizeof *list);
    if (list == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    WRIT_JSON_EACH(name, array)
    {
        if (writ_json_type(name) != WRIT_JSON_STRING) {
            return (writ_result){WRIT_E_INVALID};
        }
        list[n++] = writ_json_string(name);
    }
    *ret_list = list;
    *ret_n = n;
    return WRIT_DONE;
}

static WRIT_RESULT
read_ballot(const struct writ_json *value, struct writ_arena *arena, struct writ_crew_ballot *ret)
{
    static const char *const known[] = {"agent", "output", "ranking", "role", NULL};
    const struct writ_json *ranking = writ_json_get(value, WRIT_LIT("ranking"));
    const struct writ_json *output = writ_json_get(value, WRIT_LIT("output"));

    *ret = (struct writ_crew_ballot){
        .agent_id = writ_json_string(writ_json_get(value, WRIT_LIT("agent"))),
        .role_id = writ_json_string(writ_json_get(value, WRIT_LIT("role"))),
        .output = writ_json_string(output),
    };
    if (!writ_json_has_only(value, known) || ret->agent_id.ptr == NULL ||
        ret->role_id.ptr == NULL || (output != NULL && ret->output.ptr == NULL)) {
        return (writ_result){WRIT_E_INVALID};
    }
    return ranking == NULL ? WRIT_DONE : read_names(ranking, arena, &ret->ranking, &ret->ranking_n);
}

static WRIT_RESULT
read_poll(const struct writ_json *value, struct writ_arena *arena, struct writ_crew_poll *ret)
{
    static const char *const known[] = {"ballots", "candidates", NULL};
    const struct writ_json *ballots =
        writ_json_get_typed(value, WRIT_LIT("ballots"), WRIT_JSON_ARRAY);
    struct writ_crew_ballot *list;
    struct writ_crew_poll poll = {0};

    if (!writ_json_has_only(value, known) || ballots == NULL || ballots->count == 0) {
        return (writ_result){WRIT_E_INVALID};
    }
    list = writ_arena_get(arena, (size_t)ballots->count * sizeof *list);
    if (list == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    WRIT_JSON_EACH(ballot, ballots)
    {
        WRIT_TRY(read_ballot(ballot, arena, &list[poll.ballots_n++]));
    }
    poll.ballots = list;
    WRIT_TRY(read_names(
        writ_json_get(value, WRIT_LIT("candidates")), arena, &poll.candidates, &poll.candidates_n));
    *ret = poll;
    return WRIT_DONE;
}

WRIT_RESULT
writ_engine_message_read_request(struct writ_view text, struct writ_arena *arena,
    struct writ_crew_poll *ret, struct writ_err *err)
{
    static const char *const describe[] = {"describe", NULL};
    const struct writ_json *value = NULL;
    struct writ_crew_poll poll = {0};
    writ_result read;

    WRIT_TRY(writ_json_read(text, &request_limits, arena, &value, err));
    if (writ_json_is_true(value, WRIT_LIT("describe")) && writ_json_has_only(value, describe)) {
        *ret = poll;
        return WRIT_DONE;
    }
    read = read_poll(value, arena, &poll);
    if (!writ_is_ok(read)) {
        WRIT_FAIL(err, read.code, "the request is not a poll");
    }
    *ret = poll;
    return WRIT_DONE;
}

/* ---- answers */

void
writ_engine_message_put_line(struct writ_buf *lines, struct writ_view line)
{
    if (lines->len + LINE_TEXT + ANSWER_END < WRIT_ENGINE_ANSWER_MAX) {
        writ_buf_str(lines, lines->len > 0 ? ",\"" : "\"");
        writ_base64_put(lines, line);
        writ_buf_byte(lines, '"');
    }
}

void
writ_engine_message_put_answer(
    struct writ_buf *ret, const struct writ_engine_answer *answer, struct writ_view lines)
{
    struct writ_write w = writ_write_to(ret);

    w.sorted = true;
    writ_write_object_begin(&w);
    if (answer->fault.ptr != NULL) {
        writ_write_text(&w, "fault", answer->fault);
    } else if (answer->abi != 0) {
        writ_write_count(&w, "abi", answer->abi);
        writ_write_text_if(&w, "name", answer->name);
    } else {
        if (answer->winner == WRIT_TALLY_BALLOT) {
            writ_write_count(&w, "ballot", answer->index);
        } else if (answer->winner == WRIT_TALLY_CANDIDATE) {
            writ_write_count(&w, "candidate", answer->index);
        }
        writ_write_flag(&w, "refused", answer->refused);
        writ_write_name(&w, WRIT_LIT("why"));
        writ_write_array_begin(&w);
        if (lines.len > 0) {
            writ_write_raw(&w, lines);
        }
        writ_write_array_end(&w);
    }
    writ_write_object_end(&w);
}

static WRIT_RESULT
read_fault(const struct writ_json *value, struct writ_engine_answer *ret)
{
    static const char *const known[] = {"fault", NULL};

    ret->fault = writ_json_string(writ_json_get(value, WRIT_LIT("fault")));
    return writ_json_has_only(value, known) && ret->fault.ptr != NULL
               ? WRIT_DONE
               : (writ_result){WRIT_E_INVALID};
}

static WRIT_RESULT
read_description(const struct writ_json *value, struct writ_engine_answer *ret)
{
    static const char *const known[] = {"abi", "name", NULL};
    int64_t abi = 0;

    if (!writ_json_has_only(value, known)) {
        return (writ_result){WRIT_E_INVALID};
    }
    WRIT_TRY(writ_json_integer(writ_json_get(value, WRIT_LIT("abi")), 1, UINT32_MAX, &abi));
    ret->abi = (uint32_t)abi;
    ret->name = writ_json_string(writ_json_get(value, WRIT_LIT("name")));
    return WRIT_DONE;
}

static WRIT_RESULT
read_count(const struct writ_json *value, struct writ_engine_answer *ret)
{
    static const char *const known[] = {"ballot", "candidate", "refused", "why", NULL};
    const struct writ_json *ballot = writ_json_get(value, WRIT_LIT("ballot"));
    const struct writ_json *candidate = writ_json_get(value, WRIT_LIT("candidate"));
    enum writ_json_type refused = writ_json_type(writ_json_get(value, WRIT_LIT("refused")));
    int64_t index = 0;

    ret->why = writ_json_get_typed(value, WRIT_LIT("why"), WRIT_JSON_ARRAY);
    if (!writ_json_has_only(value, known) || ret->why == NULL ||
        (ballot != NULL && candidate != NULL) ||
        (refused != WRIT_JSON_TRUE && refused != WRIT_JSON_FALSE)) {
        return (writ_result){WRIT_E_INVALID};
    }
    WRIT_JSON_EACH(line, ret->why)
    {
        writ_auto_buf text = writ_buf_make(LINE_TEXT);

        if (writ_json_type(line) != WRIT_JSON_STRING) {
            return (writ_result){WRIT_E_INVALID};
        }
        WRIT_TRY(writ_base64_read(writ_json_string(line), &text));
    }
    if (ballot != NULL || candidate != NULL) {
        WRIT_TRY(writ_json_integer(ballot != NULL ? ballot : candidate, 0, INT32_MAX, &index));
        ret->winner = ballot != NULL ? WRIT_TALLY_BALLOT : WRIT_TALLY_CANDIDATE;
        ret->index = (size_t)index;
    }
    ret->refused = refused == WRIT_JSON_TRUE;
    return WRIT_DONE;
}

WRIT_RESULT
writ_engine_message_read_answer(struct writ_view text, struct writ_arena *arena,
    struct writ_engine_answer *ret, struct writ_err *err)
{
    const struct writ_json *value = NULL;
    struct writ_engine_answer answer = {0};
    writ_result read;

    WRIT_TRY(writ_json_read(text, &answer_limits, arena, &value, err));
    if (writ_json_get(value, WRIT_LIT("fault")) != NULL) {
        read = read_fault(value, &answer);
    } else if (writ_json_get(value, WRIT_LIT("abi")) != NULL) {
        read = read_description(value, &answer);
    } else {
        read = read_count(value, &answer);
    }
    if (!writ_is_ok(read)) {
        WRIT_FAIL(err, read.code, "not the answer of an engine");
    }
    *ret = answer;
    return WRIT_DONE;
}

WRIT_RESULT
writ_engine_message_tell(const struct writ_engine_answer *answer, struct writ_crew_tally *tally)
{
    WRIT_JSON_EACH(line, answer->why)
    {
        writ_auto_buf text = writ_buf_make(LINE_TEXT);

        WRIT_TRY(writ_base64_read(writ_json_string(line), &text));
        tally->explain(tally, WRIT_VIEW_FMT, WRIT_VIEW_ARG(writ_buf_view(&text)));
    }
    if (answer->winner == WRIT_TALLY_BALLOT) {
        tally->ballot(tally, answer->index);
    } else if (answer->winner == WRIT_TALLY_CANDIDATE) {
        tally->candidate(tally, answer->index);
    }
    return WRIT_DONE;
}
