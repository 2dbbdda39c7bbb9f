/* bridge_session.c - the session of a client of the older revisions: its id and revision come with
 * the answer to initialize, its stream is open as long as it is, and when the gateway does not know
 * it any more, the bridge opens another one with the client's own words. */
#include "gateway/bridge/bridge_session.h"

#include "gateway/bridge/bridge_call.h"
#include "gateway/bridge/bridge_output.h"

#define PAUSE_LEAST_US INT64_C(100000)
#define PAUSE_MOST_US  INT64_C(30000000)
#define ARENA_MAX      ((size_t)64 << 20)

static const char initialized[] = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}";

/* ---- opening ---- */

/* False: the gateway did not open a session. */
static bool
take_session(struct writ_bridge_call *call)
{
    struct writ_bridge *bridge = call->bridge;
    writ_auto_arena arena = writ_arena_new(ARENA_MAX);
    const struct writ_json *answer = NULL;
    struct writ_view version;

    if (arena == NULL || call->status != 200 ||
        !writ_is_ok(writ_mcp_parse(writ_buf_view(&call->body), arena, &answer))) {
        return false;
    }
    version = writ_json_string(writ_json_pointer(answer, WRIT_LIT("/result/protocolVersion")));
    if (version.len == 0 || call->session.len == 0) {
        return false;
    }
    writ_buf_clear(&bridge->version);
    writ_buf_clear(&bridge->session);
    writ_buf_clear(&bridge->stream_id);
    writ_buf_put(&bridge->version, version);
    writ_buf_put(&bridge->session, writ_buf_view(&call->session));
    bridge->opened++;
    bridge->state = WRIT_BRIDGE_OPEN;
    return true;
}

/* Calls that wait for a session that does not come. */
static void
fail_waiting(struct writ_bridge *bridge, enum writ_reason reason)
{
    struct writ_bridge_call *call = TAILQ_FIRST(&bridge->calls), *next;

    for (; call != NULL; call = next) {
        next = TAILQ_NEXT(call, link);
        if (call->http == NULL && call->kind == WRIT_BRIDGE_LINE) {
            writ_bridge_call_refuse(call, reason, WRIT_LIT(""));
        } else if (call->http == NULL && call->kind == WRIT_BRIDGE_RESUMED) {
            writ_bridge_call_lose(call); /* it was sent */
        }
    }
}

static void
reopened(struct writ_bridge_call *call)
{
    struct writ_bridge *bridge = call->bridge;
    bool good = take_session(call);
    struct writ_bridge_call *next;

    writ_bridge_call_free(call);
    next = good ? writ_bridge_call_new(bridge, WRIT_BRIDGE_REOPENED, writ_view_str(initialized))
                : NULL;
    if (next == NULL) {
        bridge->state = WRIT_BRIDGE_NO_SESSION;
        fail_waiting(bridge, WRIT_REASON_SESSION_UNKNOWN);
        return;
    }
    bridge->state = WRIT_BRIDGE_REOPENING; /* until that is taken */
    writ_bridge_call_send(next);
}

void
writ_bridge_session_answered(struct writ_bridge_call *call)
{
    struct writ_bridge *bridge = call->bridge;

    switch (call->kind) {
    case WRIT_BRIDGE_LINE:
        (void)take_session(call); /* a refusal reaches the client as it is */
        return;
    case WRIT_BRIDGE_REOPEN:
        reopened(call);
        return;
    case WRIT_BRIDGE_REOPENED:
        writ_bridge_call_free(call);
        bridge->state = WRIT_BRIDGE_OPEN;
        writ_bridge_session_listen(bridge);
        writ_bridge_call_send_all(bridge);
        return;
    case WRIT_BRIDGE_LEAVE:
        writ_bridge_call_free(call);
        writ_bridge_output_finish(bridge);
        return;
    case WRIT_BRIDGE_STREAM:
    case WRIT_BRIDGE_RESUMED:
        break;
    }
}

void
writ_bridge_session_reopen(struct writ_bridge_call *call)
{
    struct writ_bridge *bridge = call->bridge;
    struct writ_bridge_call *opening;

    if (bridge->state == WRIT_BRIDGE_REOPENING) {
        return; /* it waits with the others */
    }
    if (call->opened != bridge->opened) { /* there is another one since */
        writ_bridge_call_send(call);
        return;
    }
    opening = bridge->opening.len > 0 ? writ_bridge_call_new(bridge, WRIT_BRIDGE_REOPEN,
                                            writ_buf_view(&bridge->opening))
                                      : NULL;
    if (opening == NULL) {
        writ_bridge_call_refuse(call, WRIT_REASON_SESSION_UNKNOWN, WRIT_LIT(""));
        return;
    }
    writ_bridge_output_say("the session has ended; another one begins");
    bridge->state = WRIT_BRIDGE_REOPENING;
    writ_bridge_call_send(opening);
}

/* ---- the stream ---- */

static void
on_stream_timer(struct writ_timer *timer)
{
    writ_bridge_session_listen(timer->ctx);
}

void
writ_bridge_session_listen(struct writ_bridge *bridge)
{
    if (bridge->stream != NULL || bridge->state != WRIT_BRIDGE_OPEN || bridge->leaving) {
        return;
    }
    bridge->stream = writ_bridge_call_new(bridge, WRIT_BRIDGE_STREAM, WRIT_LIT(""));
    if (bridge->stream != NULL) {
        writ_bridge_call_send(bridge->stream);
    }
}

void
writ_bridge_session_unheard(struct writ_bridge_call *call)
{
    struct writ_bridge *bridge = call->bridge;
    int64_t wait_us = call->retry_ms != WRIT_SSE_NO_RETRY ? call->retry_ms * 1000 : 0;
    bool none = call->status == 405;
    bool resumes = call->is_stream && bridge->linked; /* another gateway does not know the id */

    writ_buf_clear(&bridge->stream_id);
    if (resumes) {
        writ_buf_put(&bridge->stream_id, writ_buf_view(&call->last_id));
    }
    if (call->status == 404) { /* the next message opens another session */
        writ_bridge_call_free(call);
        return;
    }
    writ_bridge_call_free(call);
    if (none || bridge->leaving) {
        return;
    }
    bridge->pause_us = bridge->pause_us < PAUSE_LEAST_US ? PAUSE_LEAST_US : bridge->pause_us * 2;
    bridge->pause_us = bridge->pause_us > PAUSE_MOST_US ? PAUSE_MOST_US : bridge->pause_us;
    wait_us = wait_us > bridge->pause_us ? wait_us : bridge->pause_us;
    bridge->stream_timer.fn = on_stream_timer;
    bridge->stream_timer.ctx = bridge;
    writ_loop_timer_set(
        bridge->loop, &bridge->stream_timer, writ_loop_now_us(bridge->loop) + wait_us);
}

/* ---- the end ---- */

void
writ_bridge_session_leave(struct writ_bridge *bridge)
{
    struct writ_bridge_call *call = NULL;

    if (bridge->leaving) {
        return;
    }
    bridge->leaving = true;
    writ_loop_timer_cancel(&bridge->stream_timer);
    if (bridge->session.len > 0 && bridge->linked) {
        call = writ_bridge_call_new(bridge, WRIT_BRIDGE_LEAVE, WRIT_LIT(""));
    }
    if (call == NULL) {
        writ_bridge_output_finish(bridge);
        return;
    }
    writ_bridge_call_send(call);
}
