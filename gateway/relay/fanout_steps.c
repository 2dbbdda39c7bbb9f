/* fanout_steps.c - FANOUT: lists (lists.h), notices to all, a resource to the upstream that has it.
 */
#include "gateway/relay/fanout.h"
#include "gateway/relay/lists.h"
#include "gateway/request/finish.h"
#include "gateway/request/refusal.h"

#include "evidence/json/write.h"

/* ---- notices to all, and requests that any may answer ---- */

enum writ_step
writ_fanout_gather(struct writ_request *request)
{
    struct writ_fanout *legs = request->part;

    if (request->message.kind == WRIT_MCP_NOTIFICATION) {
        return writ_finish_accepted(request);
    }
    for (size_t i = 0; i < legs->n; i++) {
        if (writ_fanout_result(&legs->legs[i]) != NULL) {
            return writ_fanout_tell(request, &legs->legs[i]);
        }
    }
    return writ_fanout_tell_first(request, legs);
}

/* ---- a resource whose owner is unknown ---- */

/* No upstream has it. "Not found" of one does not count while another could not be asked: that one
 * may have it. Otherwise the first answer. */
static struct writ_leg *
leg_to_tell(struct writ_fanout *legs)
{
    struct writ_leg *told = NULL;

    for (size_t i = 0; i < legs->n; i++) {
        struct writ_leg *leg = &legs->legs[i];
        if (leg->answer.end == WRIT_UPCALL_TIMEOUT) {
            return leg;
        }
        if (told == NULL && leg->answer.end == WRIT_UPCALL_ANSWERED) {
            told = leg;
        }
    }
    return told != NULL ? told : &legs->legs[0];
}

/* One after the other, in the order of the configuration, until one has it. */
enum writ_step
writ_fanout_turn(struct writ_request *request)
{
    struct writ_fanout *legs = request->part;
    struct writ_leg *leg = &legs->legs[legs->turn];
    struct writ_view uri =
        writ_json_string(writ_json_get(request->message.params, WRIT_LIT("uri")));

    if (writ_fanout_result(leg) != NULL) {
        writ_owners_note(request->worker->gateway->owners, uri, writ_upstream_index(leg->upstream));
        return writ_fanout_tell(request, leg);
    }
    while (legs->turn + 1 < legs->n) {
        if (writ_fanout_ask(legs, &legs->legs[++legs->turn], request->x->body)) {
            return writ_fanout_wait(request);
        }
    }
    return writ_fanout_tell(request, leg_to_tell(legs));
}

static enum writ_step
start_turns(struct writ_request *request)
{
    struct writ_fanout *legs = writ_fanout_make(request, 0, WRIT_STEP_TURN);

    if (legs == NULL || legs->n == 0) {
        return writ_refusal_http(
            request, 503, WRIT_REFUSAL_CODE, WRIT_REASON_UPSTREAM_UNAVAILABLE, NULL);
    }
    (void)writ_fanout_ask(legs, &legs->legs[0], request->x->body);
    return writ_fanout_wait(request);
}

/* By the gateway itself. */
static enum writ_step
answer_ping(struct writ_request *request)
{
    static struct writ_fanout none;
    writ_auto_buf body = writ_buf_make(8192);
    struct writ_write w = writ_fanout_response(request, &body);

    writ_write_object_begin(&w);
    writ_write_object_end(&w);
    writ_write_object_end(&w);
    WRIT_IGNORE(writ_write_end(&w, NULL)); /* the buffer remembers */
    request->part = &none;
    return writ_fanout_answer(request, &body, (struct writ_header){0});
}

enum writ_step
writ_fanout_start(struct writ_request *request)
{
    if (request->method == WRIT_MCP_PING) {
        return answer_ping(request);
    }
    if (writ_method_route(request->method) == WRIT_ROUTE_LIST) {
        return writ_lists_start(request);
    }
    if (writ_method_route(request->method) == WRIT_ROUTE_URI ||
        request->method == WRIT_MCP_COMPLETE) {
        return start_turns(request);
    }
    return writ_fanout_begin(request, request->x->body, WRIT_STEP_GATHER);
}
