/* review_hold.c - HOLD and REJUDGE: a call whose review is open is held on its request, for a time:
 * with a timer that also checks the client and the gateway. After the verdict the request starts
 * again from its first check, without its earlier results: caller, policy, state of the target. */

#include "gateway/request/refusal.h"
#include "gateway/review/review_tell.h"
#include "policy/decide/approval.h"

#define SLICE_US INT64_C(1000000) /* between two checks of the client and of the gateway */
#define PROBE_MS 1000             /* after which a client that sent FIN is probed */

/* A caller that comes back as requested is waiting at the verdict: its call is held in any case. A
 * person who declined to open the page does not wait. */
static int64_t
hold_us(const struct writ_call *call)
{
    const struct writ_approval *approval = call->verdict.approval;

    return call->returned.declined            ? 0
           : call->returned.state.ptr != NULL ? approval->hold_retry_us
                                              : approval->hold_us;
}

/* Whether the request waits, or keeps waiting. One whose client has left, or whose gateway stops,
 * does not: no client would get the result. */
static bool
is_wanted(struct writ_request *request)
{
    const struct writ_call *call = request->call;
    int64_t now_us = writ_loop_now_us(request->x->loop);

    if (!call->review.asks || hold_us(call) == 0 || request->entry.kind != WRIT_ENTRY_DECISION ||
        request->entry.code != WRIT_OK || call->review.ask.state != WRIT_REVIEW_OPEN ||
        request->x->gone || request->worker->ending) {
        return false;
    }
    if (request->hold.until_us == 0) {
        request->hold.from_us = now_us;
        request->hold.until_us = now_us + hold_us(call);
        writ_exchange_probe(request->x, PROBE_MS);
    }
    return now_us < request->hold.until_us;
}

/* Starts again with the present configuration: the verdict is bound to the reviewed call, and
 * everything that may have changed since is checked again, the caller's token included. */
static enum writ_step
begin_again(struct writ_request *request)
{
    request->previous = request->generation; /* it has the agent, until that is authenticated
                                                again */
    request->generation = writ_generation_hold(request->worker->generation);
    request->entry = (struct writ_entry){.kind = WRIT_ENTRY_NONE};
    request->call = NULL;
    request->late = (struct writ_late){0};                           /* it may be up by now */
    writ_shares_release(&request->worker->shares, &request->charge); /* it counts again */
    return WRIT_STEP_AUTHENTICATE;
}

enum writ_step
writ_review_hold_judge(struct writ_request *request)
{
    writ_generation_drop(WRIT_TAKE(request->previous));
    if (request->session != NULL &&
        !writ_session_is_of(request->session, &request->identity.agent)) {
        return writ_refusal_http(
            request, 404, WRIT_RPC_SERVER_ERROR, WRIT_REASON_SESSION_UNKNOWN, NULL);
    }
    return request->endpoint->kind->judge;
}

static enum writ_step
await(struct writ_request *request)
{
    int64_t left_us = request->hold.until_us - writ_loop_now_us(request->x->loop);
    int64_t slice_us = left_us < SLICE_US ? left_us : SLICE_US;

    request->entry = (struct writ_entry){.kind = WRIT_ENTRY_REVIEW_AWAIT,
        .review_await = {.id = request->call->review.ask.id,
            .until_us = writ_clock_wall_us(request->worker->gateway->clock) + slice_us}};
    return writ_request_submit(request, WRIT_STEP_HOLD);
}

enum writ_step
writ_review_hold_wait(struct writ_request *request)
{
    const struct writ_entry *entry = &request->entry;
    bool came_back = entry->kind == WRIT_ENTRY_REVIEW_AWAIT;
    bool decided =
        came_back && entry->code == WRIT_OK && entry->review_await.state != WRIT_REVIEW_OPEN;

    if (!came_back && !is_wanted(request)) {
        return request->endpoint->kind->refused;
    }
    if (!came_back) {
        request->hold.decided = *entry;
        writ_review_tell_begin(request);
    }
    writ_review_tell_progress(request);
    if (!came_back) {
        return await(request);
    }
    request->entry = request->hold.decided;
    if (decided && !request->x->gone && !request->worker->ending) {
        return begin_again(request);
    }
    return is_wanted(request) && !decided ? await(request) : WRIT_STEP_ANSWER;
}
