/* meet.c - joins the session's missing upstream, then takes the request back to its step. A request
 * is never sent to an upstream that is not part of its session. */
#include "gateway/review/meet.h"

#include "gateway/request/refusal.h"

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

/* For any end of the join, nothing of the request was sent. */
static enum writ_reason
fault_of(const struct writ_upcall_answer *answer)
{
    if (answer->end == WRIT_UPCALL_NO_TOKEN) {
        return WRIT_REASON_UPSTREAM_TOKEN_MISSING;
    }
    if (answer->end == WRIT_UPCALL_PROGRAM) {
        return WRIT_REASON_UPSTREAM_PROGRAM_CHANGED;
    }
    return answer->status == 401 || answer->status == 403 ? WRIT_REASON_UPSTREAM_UNAUTHORIZED
                                                          : WRIT_REASON_UPSTREAM_UNAVAILABLE;
}

static void
met(struct writ_late_wait *wait)
{
    struct writ_request *request = wait->ctx;

    request->late.fault = fault_of(&wait->answer);
    writ_request_continue(request);
}

enum writ_step
writ_meet_start(struct writ_request *request, struct writ_upstream *upstream, enum writ_step next)
{
    struct writ_late *late = &request->late;

    *late = (struct writ_late){
        .wait = {.done = met, .ctx = request}, .tried = upstream, .fault = WRIT_REASON_OVERLOADED};
    return writ_is_ok(writ_late_start(request->worker, request->session, upstream, &late->wait))
               ? writ_request_wait(request, next)
               : next;
}

enum writ_reason
writ_meet_fault(const struct writ_request *request)
{
    return request->late.fault != WRIT_REASON_NONE ? request->late.fault
                                                   : WRIT_REASON_UPSTREAM_UNAVAILABLE;
}

/* An error of its own with the id of the message, other than that of the session. */
static bool
answers_message(const struct writ_mcp_message *sent, struct writ_view body)
{
    writ_auto_arena arena = writ_arena_new(64 * body.len + 65536);
    const struct writ_json *message = NULL;
    int64_t code = 0;

    if (arena == NULL || !writ_is_ok(writ_mcp_parse(body, arena, &message)) ||
        !writ_json_equal(writ_json_get(message, WRIT_LIT("id")), sent != NULL ? sent->id : NULL)) {
        return false;
    }
    return !writ_is_ok(writ_json_integer(
               writ_json_pointer(message, WRIT_LIT("/error/code")), INT64_MIN, INT64_MAX, &code)) ||
           code != WRIT_RPC_SESSION_NOT_FOUND;
}

bool
writ_meet_is_lost(const struct writ_request *request, struct writ_upstream *upstream,
    const struct writ_upcall_request *sent, const struct writ_upcall_answer *answer)
{
    const struct writ_upstream_config *config = writ_upstream_config(upstream);

    if (answer->end != WRIT_UPCALL_ANSWERED || answer->status != 404 || sent->session.len == 0 ||
        request->session == NULL || !writ_request_is_merged(request) ||
        config->kind != WRIT_UPSTREAM_HTTP || answers_message(sent->message, answer->body)) {
        return false;
    }
    writ_session_lose(request->session, config->name, sent->session);
    return true;
}

bool
writ_meet_hides(const struct writ_request *request, unsigned status)
{
    return status == 404 && request->session != NULL && writ_request_is_merged(request);
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
    struct writ_upstream *upstream = request->call->callee.upstream;

    return writ_request_may_pass(request) && writ_meet_is_due(request, upstream)
               ? writ_meet_start(request, upstream, WRIT_STEP_DISCOVER)
               : WRIT_STEP_DISCOVER;
}
