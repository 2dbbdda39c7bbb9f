/* Answers of agents from a file that was checked completely when it was read. The k-th request to
 * an agent gets the k-th answer of its list, and never another one. */
#include "cli/crew/script.h"

#include "gateway/crews/event.h"
#include "gateway/crews/agent_exchange.h"
#include "crew/vec.h"
#include "evidence/json/write.h"
#include "writ/crew.h"

/** The number of answers that an agent has had. */
struct turn {
    struct writ_buf agent;
    size_t asked;
    size_t next; /* another agent of the same hash, or SIZE_MAX */
};

struct writ_script {
    struct writ_event_reader reader;
    const struct writ_json *answers;
    struct turn *turns;
    size_t n, cap;
    struct writ_idmap by_hash; /* of agent ids: the newest turn */
};

static const char *const members[] = {
    "output", "memex_commands", "fault", "stalled", "failed", "silent", "messages"};

void
writ_script_free(struct writ_script *script)
{
    if (script != NULL) {
        for (size_t at = 0; at < script->n; at++) {
            writ_buf_wipe(&script->turns[at].agent);
        }
        writ_free(script->turns);
        writ_idmap_wipe(&script->by_hash);
        writ_event_reader_wipe(&script->reader);
        writ_free(script);
    }
}

/* ---- reading */

static bool
is_member(struct writ_view name)
{
    for (size_t at = 0; at < sizeof members / sizeof members[0]; at++) {
        if (writ_view_is(name, members[at])) {
            return true;
        }
    }
    return false;
}

static WRIT_RESULT
check_messages(
    struct writ_view agent, size_t at, const struct writ_json *list, struct writ_err *err)
{
    bool good = writ_json_type(list) == WRIT_JSON_ARRAY;

    WRIT_JSON_EACH(message, good ? list : NULL)
    {
        good = good && writ_agent_exchange_is_request(message);
    }
    if (!good) {
        WRIT_FAIL(err, WRIT_E_INVALID,
            "/answers/" WRIT_VIEW_FMT "/%zu/messages: must be a list of requests, with their types",
            WRIT_VIEW_ARG(agent), at);
    }
    return WRIT_DONE;
}

static WRIT_RESULT
check_list(struct writ_view agent, const struct writ_json *list, struct writ_err *err)
{
    size_t at = 0;

    if (writ_json_type(list) != WRIT_JSON_ARRAY) {
        WRIT_FAIL(err, WRIT_E_INVALID, "/answers/" WRIT_VIEW_FMT ": must be a list of answers",
            WRIT_VIEW_ARG(agent));
    }
    WRIT_JSON_EACH(answer, list)
    {
        if (writ_json_type(answer) != WRIT_JSON_OBJECT) {
            WRIT_FAIL(err, WRIT_E_INVALID,
                "/answers/" WRIT_VIEW_FMT "/%zu: an answer must be an object", WRIT_VIEW_ARG(agent),
                at);
        }
        WRIT_JSON_EACH(name, answer)
        {
            if (writ_view_is(writ_json_string(name), "messages")) {
                WRIT_TRY(check_messages(agent, at, writ_json_value(name), err));
            }
            if (!is_member(writ_json_string(name))) {
                WRIT_FAIL(err, WRIT_E_INVALID,
                    "/answers/" WRIT_VIEW_FMT "/%zu: unknown member " WRIT_VIEW_FMT,
                    WRIT_VIEW_ARG(agent), at, WRIT_VIEW_ARG(writ_json_string(name)));
            }
        }
        at++;
    }
    return WRIT_DONE;
}

static void
script_freep(struct writ_script **script)
{
    writ_script_free(*script);
}

WRIT_RESULT
writ_script_read(struct writ_view text, struct writ_script **ret, struct writ_err *err)
{
    WRIT_AUTO(struct writ_script *, script_freep) script = writ_alloc(sizeof *script);
    const struct writ_json *json = NULL;

    if (script == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory");
    }
    WRIT_TRY(writ_event_read(&script->reader, text, &json, err));
    script->answers = writ_json_get_typed(json, WRIT_LIT("answers"), WRIT_JSON_OBJECT);
    if (script->answers == NULL || json->count != 1) {
        WRIT_FAIL(err, WRIT_E_INVALID, "a script must be an object with the one member answers");
    }
    WRIT_JSON_EACH(agent, script->answers)
    {
        WRIT_TRY(check_list(writ_json_string(agent), writ_json_value(agent), err));
    }
    *ret = WRIT_TAKE(script);
    return WRIT_DONE;
}

/* ---- answering */

static uint64_t
hash_of(struct writ_view agent)
{
    char digits[16];
    uint64_t hash = 0;

    writ_crew_hash(agent, digits);
    WRIT_INVARIANT(writ_is_ok(writ_hex_read(writ_view(digits, sizeof digits), &hash, 8)));
    return hash;
}

WRIT_RESULT
writ_script_turn(struct writ_script *script, struct writ_view agent, size_t *ret)
{
    uint64_t hash = hash_of(agent);
    size_t first = SIZE_MAX;
    struct turn *turn;

    if (!writ_idmap_get(&script->by_hash, hash, &first)) {
        first = SIZE_MAX;
    }
    for (size_t at = first; at != SIZE_MAX; at = script->turns[at].next) {
        if (writ_view_equal(writ_buf_view(&script->turns[at].agent), agent)) {
            *ret = script->turns[at].asked++;
            return WRIT_DONE;
        }
    }
    WRIT_TRY(writ_vec_room(&script->turns, &script->cap, script->n, sizeof *script->turns));
    WRIT_TRY(writ_idmap_put(&script->by_hash, hash, script->n));
    turn = &script->turns[script->n++];
    *turn = (struct turn){writ_buf_make(WRIT_JSON_BYTES_MAX), 1, first};
    writ_buf_put(&turn->agent, agent);
    *ret = 0;
    return writ_buf_check(&turn->agent, NULL);
}

/* An inbound event with the answer of the script. */
static void
put_answer(struct writ_write *w, const struct writ_json *answer)
{
    for (size_t at = 0; at < 4; at++) { /* those of agent.step.completed */
        writ_auto_buf text = writ_buf_make(WRIT_JSON_BYTES_MAX);
        struct writ_view value = writ_event_json(answer, members[at], &text);
        if (value.ptr != NULL) {
            writ_write_name(w, writ_view_str(members[at]));
            writ_write_raw(w, value);
        }
    }
}

static void
put_failure(struct writ_write *w, struct writ_view message)
{
    writ_write_name(w, WRIT_LIT("error"));
    writ_write_object_begin(w);
    writ_write_text(w, "message", message);
    writ_write_text(w, "name", WRIT_LIT("Scripted"));
    writ_write_object_end(w);
}

/* The answer of the script to a step; NULL: there is none. */
static const struct writ_json *
find_answer(const struct writ_script *script, const struct writ_open_step *step)
{
    const struct writ_json *list = writ_json_get(script->answers, writ_buf_view(&step->agent));

    list = list != NULL ? list : writ_json_get(script->answers, writ_buf_view(&step->role));
    return writ_json_element(list, step->turn);
}

bool
writ_script_message(const struct writ_script *script, const struct writ_open_step *step, size_t nth,
    struct writ_buf *ret)
{
    const struct writ_json *message =
        writ_json_element(writ_json_get(find_answer(script, step), WRIT_LIT("messages")), nth);
    struct writ_write w = writ_write_to(ret);

    if (message == NULL) {
        return false;
    }
    writ_write_object_begin(&w);
    writ_write_text(&w, "correlationId", writ_buf_view(&step->id));
    WRIT_JSON_EACH(name, message)
    {
        if (!writ_view_is(writ_json_string(name), "correlationId")) {
            writ_write_name(&w, writ_json_string(name));
            writ_write_value(&w, writ_json_value(name));
        }
    }
    writ_write_object_end(&w);
    WRIT_IGNORE(writ_write_end(&w, NULL)); /* a failure stays in the buffer */
    return true;
}

WRIT_RESULT
writ_script_answer(const struct writ_script *script, const struct writ_open_step *step,
    struct writ_buf *ret, bool *ret_silent, struct writ_err *err)
{
    const struct writ_json *answer = find_answer(script, step);
    struct writ_write w = writ_write_to(ret);
    struct writ_view failed = answer == NULL
                                  ? WRIT_LIT("the script has no answer")
                                  : writ_json_string(writ_json_get(answer, WRIT_LIT("failed")));

    *ret_silent = writ_json_is_true(answer, WRIT_LIT("silent"));
    writ_write_object_begin(&w);
    writ_write_name(&w, WRIT_LIT("type"));
    writ_write_string(
        &w, failed.ptr != NULL ? WRIT_LIT("agent.step.failed") : WRIT_LIT("agent.step.completed"));
    writ_write_text(&w, "correlationId", writ_buf_view(&step->id));
    if (failed.ptr != NULL) {
        put_failure(&w, failed);
    } else {
        put_answer(&w, answer);
    }
    writ_write_object_end(&w);
    return writ_write_end(&w, err);
}
