#include "gateway/meet.h"

#include "gateway/refusal.h"

bool
writ_meet_is_late(const struct writ_request *request, struct writ_upstream *upstream)
{
    return request->session != NULL && upstream != NULL &&
           writ_session_is_late(request->session, writ_upstream_config(upstream)->name);
}

bool
writ_meet_is_due(const struct writ_request *request, struct writ_upstream *upstream)
{
    return writ_meet_is_late(request, upstream) && request->late.tried != upstream;
}

/* Whatever it was, nothing of the request was sent. */
static enum writ_reason
fault_of(const struct writ_upcall_answer *answer)
{
    if (answer->end == WRIT_UPCALL_NO_TOKEN) {
        return WRIT_REASON_UPSTREAM_TOKEN_MISSING;
    }
    return answer->status == 401 || answer->status == 403 ? WRIT_REASON_UPSTREAM_UNAUTHORIZED
                                                          : WRIT_REASON_UPSTREAM_UNAVAILABLE;
}

static void
met(struct writ_late_wait *wait)
{
    struct writ_request *request = wait->ctx;

    request->late.fault = fault_of(&wait->answer);
    writ_request_go(request, request->next);
}

enum writ_step
writ_meet_start(struct writ_request *request, struct writ_upstream *upstream, enum writ_step next)
{
    struct writ_late *late = &request->late;

    *late = (struct writ_late){
        .wait = {.done = met, .ctx = request}, .tried = upstream, .fault = WRIT_REASON_OVERLOADED};
    request->next = next;
    return writ_is_ok(writ_late_start(request->worker, request->session, upstream, &late->wait))
               ? WRIT_STEP_WAIT
               : next;
}

enum writ_reason
writ_meet_fault(const struct writ_request *request)
{
    return request->late.fault != WRIT_REASON_NONE ? request->late.fault
                                                   : WRIT_REASON_UPSTREAM_UNAVAILABLE;
}

enum writ_step
writ_meet_refuse(struct writ_request *request)
{
    enum writ_reason fault = writ_meet_fault(request);

    return writ_refusal_http(request, fault == WRIT_REASON_UPSTREAM_UNAUTHORIZED ? 502 : 503,
        fault == WRIT_REASON_OVERLOADED ? WRIT_RPC_INTERNAL_ERROR : WRIT_REFUSAL_CODE, fault, NULL);
}

enum writ_step
writ_meet_upstream(struct writ_request *request)
{
    struct writ_upstream *upstream = request->call->upstream;

    return writ_request_may_pass(request) && writ_meet_is_due(request, upstream)
               ? writ_meet_start(request, upstream, WRIT_STEP_LEARN)
               : WRIT_STEP_LEARN;
}
