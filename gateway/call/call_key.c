/* call_key.c - chooses the run of a call: the one that its caller names, its session, or a window
 * of time. The name of a window contains its agent, so that no call lands in the run of another
 * caller. */
#include "gateway/call/call_key.h"

#include "evidence/record/derive.h"

static writ_result
window_name(const struct writ_request *request, int64_t start_us, struct writ_view *ret)
{
    char start[WRIT_TIME_TEXT];
    struct writ_buf text = writ_buf_in(request->x->arena, WRIT_LEDGER_NAME_MAX);

    writ_time_format(start_us, start);
    writ_buf_str(&text, "agent:");
    writ_buf_put(&text, request->identity.agent.id);
    writ_buf_str(&text, ":");
    writ_buf_str(&text, start);
    WRIT_TRY(writ_buf_check(&text, NULL));
    *ret = writ_buf_view(&text);
    return WRIT_DONE;
}

/* The run that the caller names, else the session, else a window of the agent's time; a duplicate
 * is also searched in the windows beside it, so that its edges are no loophole. */
writ_result
writ_call_key_run(struct writ_request *request)
{
    struct writ_call *call = request->call;
    struct writ_view stated = call->caller_claims.boundary;
    int64_t window_us = writ_request_config(request)->sessions.window_us;
    int64_t now_us = writ_clock_wall_us(request->worker->gateway->clock);
    int64_t start_us = now_us - now_us % window_us;

    call->run.next = call->run.previous = (struct writ_view){NULL, 0};
    if (call->mrtr.follows) { /* all rounds belong to one run */
        call->run.id = call->mrtr.previous.boundary_id.view;
        return WRIT_DONE;
    }
    if (stated.ptr != NULL) {
        call->run.id = stated;
        return WRIT_DONE;
    }
    if (request->session != NULL) {
        call->run.id = request->session->boundary_id;
        return WRIT_DONE;
    }
    WRIT_TRY(window_name(request, start_us, &call->run.id));
    WRIT_TRY(window_name(request, start_us + window_us, &call->run.next));
    return window_name(request, start_us - window_us, &call->run.previous);
}

writ_result
writ_call_key_digest(
    const struct writ_digest *digest, struct writ_arena *arena, struct writ_member_text *ret)
{
    char *text = writ_arena_get(arena, WRIT_DIGEST_TEXT);

    if (text == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    writ_digest_text(digest, text);
    *ret = writ_member_text(writ_view(text, WRIT_DIGEST_TEXT - 1));
    return WRIT_DONE;
}

writ_result
writ_call_key_arguments(const struct writ_request *request, const struct writ_json *arguments,
    struct writ_member_text *ret)
{
    struct writ_digest digest;

    WRIT_TRY(writ_digest_json(
        arguments, (size_t)writ_request_config(request)->limits.body_bytes, &digest, NULL));
    return writ_call_key_digest(&digest, request->x->arena, ret);
}
