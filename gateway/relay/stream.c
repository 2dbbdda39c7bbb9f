/* stream.c - STREAM and LEAVE: streams of events (GET, subscriptions/listen), and the end of a
 * session (DELETE). */
#include "gateway/relay/fanout.h"
#include "gateway/relay/pass.h"
#include "gateway/relay/stream_merge.h"
#include "gateway/request/finish.h"
#include "gateway/request/refusal.h"
#include "gateway/state/session_row.h"

/* ---- LEAVE ---- */

/* The endpoint's only server, which has a session of its own, keeps it: it cannot read the request
 * (400), or does not let clients end sessions (405). Then the gateway keeps it too. */
static bool
is_kept(const struct writ_request *request, const struct writ_fanout *fanout)
{
    const struct writ_branch *branch = fanout->branches;

    return request->endpoint->only != NULL && branch->upcall.request.session.len > 0 &&
           branch->answer.end == WRIT_UPCALL_ANSWERED &&
           (branch->answer.status == 400 || branch->answer.status == 405);
}

/* On the endpoint of all upstreams the session ends whatever they answer: from here on its streams
 * are not requested again. */
enum writ_step
writ_stream_leave(struct writ_request *request)
{
    enum writ_step next = writ_fanout_begin(request, (struct writ_view){NULL, 0}, WRIT_STEP_LEFT);

    if (request->part != NULL && request->endpoint->only == NULL) { /* the servers were told */
        atomic_store(&request->session->left, true);
    }
    return next;
}

enum writ_step
writ_stream_left(struct writ_request *request)
{
    const struct writ_fanout *fanout = request->part;

    if (is_kept(request, fanout)) {
        return writ_pass_answer(request, &fanout->branches[0].answer);
    }
    atomic_store(&request->session->left, true);
    writ_session_row_seal(request->worker, request->session);
    request->entry = (struct writ_entry){
        .kind = WRIT_ENTRY_SESSION_DROP, .session = {.hash = request->session->hash}};
    return writ_request_submit(request, WRIT_STEP_FORGET);
}

enum writ_step
writ_stream_forget(struct writ_request *request)
{
    /* only now: earlier, another request could have restored it from its row */
    writ_sessions_remove(request->worker->gateway->sessions, &request->session->hash);
    if (request->entry.code != WRIT_OK && request->entry.code != WRIT_E_ABSENT) {
        return writ_refusal_http(
            request, 503, WRIT_RPC_INTERNAL_ERROR, WRIT_REASON_LEDGER_UNAVAILABLE, NULL);
    }
    return writ_finish_reply(request, 200, NULL, 0, (struct writ_view){NULL, 0});
}

/* ---- STREAM ---- */

static void
token_is_over(struct writ_timer *timer)
{
    writ_stream_merge_stop(timer->ctx);
}

/* A stream lasts no longer than the token of its request: the client reconnects with another
 * one. */
static void
watch_token(struct writ_request *request)
{
    const struct writ_clock *clock = request->worker->gateway->clock;
    int64_t left_us = request->identity.expires_us - writ_clock_wall_us(clock);

    if (request->identity.expires_us > 0) {
        request->timer = (struct writ_timer){.fn = token_is_over, .ctx = request};
        writ_loop_timer_set(request->worker->loop, &request->timer,
            writ_loop_now_us(request->worker->loop) + (left_us > 0 ? left_us : 0));
    }
}

static bool
accepts_events(const struct writ_request *request)
{
    struct writ_view accept = writ_exchange_list(request->x, WRIT_LIT("Accept"));

    return writ_view_search(accept, WRIT_LIT("text/event-stream")) < accept.len;
}

enum writ_step
writ_stream_open(struct writ_request *request)
{
    if (request->x->method == WRIT_METHOD_GET && !accepts_events(request)) {
        return writ_refusal_http(request, 406, WRIT_RPC_SERVER_ERROR, WRIT_REASON_MALFORMED_REQUEST,
            "Not Acceptable: Client must accept text/event-stream");
    }
    watch_token(request);
    return writ_stream_merge_open(request);
}
