/* guard_state.c - asks for the state of the target and gives the answer to the guard. An uncertain
 * state refuses the call. */
#include "gateway/guard/guard_state.h"

#include "gateway/guard/guard_message.h"

#define ANSWER_ARENA ((size_t)64 << 20)

/* ---- what was seen */

static void
saw_page(struct writ_probe_get *get)
{
    struct writ_guard_ask *ask = get->ctx;
    struct writ_probe_state state;

    writ_probe_read_page(&ask->wanted, get->status, get->body, false, ask->arena, &state);
    ask->saw(ask, &state);
}

void
writ_guard_state_told(struct writ_guard_ask *ask, struct writ_view response)
{
    struct writ_probe_state state = {0};

    if (response.len > 0) {
        writ_probe_read_response(&ask->wanted, response, false, ask->arena, &state);
    }
    ask->saw(ask, &state);
}

/* ---- the question */

static WRIT_RESULT
ask_server(struct writ_guard_ask *ask)
{
    writ_auto_buf question = writ_buf_make(WRIT_PROBE_QUESTION_MAX);
    struct writ_view copy;

    WRIT_TRY(writ_probe_make_id(WRIT_GUARD_MESSAGE_ID, ask->id));
    WRIT_TRY(writ_probe_put(&question, &ask->wanted, writ_view_str(ask->id), ask->call));
    copy = writ_view_copy(writ_buf_view(&question), ask->arena);
    if (copy.ptr == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    return ask->guard->look(ask, copy);
}

static WRIT_RESULT
begin(struct writ_guard_ask *ask, const struct writ_tool_rule *rule)
{
    const struct writ_json *arguments = writ_json_get(ask->call->params, WRIT_LIT("arguments"));

    if (arguments == NULL) {
        WRIT_TRY(writ_json_read(
            WRIT_LIT("{}"), &writ_json_limits_default, ask->arena, &arguments, NULL));
    }
    WRIT_TRY(writ_policy_probe(rule, arguments, ask->arena, &ask->wanted, NULL));
    if (ask->wanted.probe->kind == WRIT_PROBE_HTTP) {
        ask->get = (struct writ_probe_get){.done = saw_page, .ctx = ask};
        return writ_probe_get_start(
            &ask->guard->probed, ask->wanted.uri, ask->wanted.probe->timeout_us, &ask->get);
    }
    return ask_server(ask);
}

enum writ_reason
writ_guard_state_start(struct writ_guard_ask *ask)
{
    const struct writ_guard *guard = ask->guard;
    bool bound = ask->answer.target_state_digest.ptr != NULL;
    const struct writ_tool_rule *rule =
        guard->probes != NULL ? writ_guard_probes_find(guard->probes, ask->tool) : NULL;

    if (rule == NULL) {
        return bound && !guard->options->any_state ? WRIT_REASON_TARGET_STATE_UNAVAILABLE
                                                   : WRIT_REASON_CREDENTIAL_OK;
    }
    if (!bound) { /* decided without a probe, although one is needed */
        return WRIT_REASON_STATE_DRIFT;
    }
    return writ_is_ok(begin(ask, rule)) ? WRIT_REASON_NONE : WRIT_REASON_TARGET_STATE_UNAVAILABLE;
}

/* ---- whose message it is */

enum writ_guard_answer
writ_guard_state_is_answer(const struct writ_guard_ask *ask, struct writ_view message)
{
    writ_auto_arena arena = NULL;
    const struct writ_json *body = NULL, *id;

    if (writ_view_search(message, WRIT_LIT(WRIT_GUARD_MESSAGE_ID)) == message.len) {
        return WRIT_GUARD_NO_ANSWER;
    }
    arena = writ_arena_new(ANSWER_ARENA);
    if (arena == NULL ||
        !writ_is_ok(writ_json_read(message, &writ_guard_message_limits, arena, &body, NULL))) {
        return WRIT_GUARD_NO_ANSWER;
    }
    id = writ_json_get(body, WRIT_LIT("id"));
    if (!writ_guard_message_is_own(id) || writ_json_get(body, WRIT_LIT("method")) != NULL) {
        return WRIT_GUARD_NO_ANSWER;
    }
    return ask != NULL && writ_view_equal(writ_json_string(id), writ_view_str(ask->id))
               ? WRIT_GUARD_ANSWER
               : WRIT_GUARD_ANSWER_LATE;
}
