/* fanout_steps.c - FANOUT: lists (lists.h), notices to all, a resource to the upstream that has it.
 */
#include "gateway/call/inspect.h"
#include "gateway/relay/fanout.h"
#include "gateway/relay/lists.h"
#include "gateway/relay/reading.h"
#include "gateway/request/finish.h"
#include "gateway/request/refusal.h"

#include "evidence/json/write.h"

/* ---- notices to all, and requests that any may answer ---- */

enum writ_step
writ_fanout_gather(struct writ_request *request)
{
    struct writ_fanout *fanout = request->part;

    if (request->message.kind == WRIT_MCP_NOTIFICATION) {
        return writ_finish_accepted(request);
    }
    for (size_t i = 0; i < fanout->n; i++) {
        if (writ_fanout_result(&fanout->branches[i]) != NULL) {
            return writ_fanout_tell(request, &fanout->branches[i]);
        }
    }
    return writ_fanout_tell_first(request, fanout);
}

/* ---- a resource that no list has ---- */

/* No upstream has it. "Not found" of one does not count while another could not be asked: that one
 * may have it. Otherwise the first answer. */
static struct writ_branch *
branch_to_tell(struct writ_fanout *fanout)
{
    struct writ_branch *told = NULL;

    for (size_t i = 0; i < fanout->n; i++) {
        struct writ_branch *branch = &fanout->branches[i];
        if (branch->answer.end == WRIT_UPCALL_TIMEOUT) {
            return branch;
        }
        if (told == NULL && branch->answer.end == WRIT_UPCALL_ANSWERED) {
            told = branch;
        }
    }
    return told != NULL ? told : &fanout->branches[0];
}

/* The answer of the chosen upstream; its content first goes into the run. */
static enum writ_step
tell(struct writ_request *request, struct writ_branch *branch)
{
    if (!writ_reading_is_due(request) || branch->answer.end != WRIT_UPCALL_ANSWERED ||
        branch->answer.body.len == 0 ||
        writ_inspect_is_another(request, branch->upstream, &branch->answer)) {
        return writ_fanout_tell(request, branch);
    }
    writ_fanout_wipe(request);
    return writ_reading_record(request, branch->upstream, &branch->answer);
}

/* One after the other, in the order of the configuration, until one has it. */
enum writ_step
writ_fanout_turn(struct writ_request *request)
{
    struct writ_fanout *fanout = request->part;
    struct writ_branch *branch = &fanout->branches[fanout->turn];

    if (writ_fanout_result(branch) != NULL) {
        return tell(request, branch);
    }
    while (fanout->turn + 1 < fanout->n) {
        if (writ_fanout_ask(fanout, &fanout->branches[++fanout->turn], request->x->body)) {
            return writ_fanout_wait(request);
        }
    }
    return tell(request, branch_to_tell(fanout));
}

static enum writ_step
start_turns(struct writ_request *request)
{
    struct writ_fanout *fanout = writ_fanout_make(request, 0, WRIT_STEP_TURN);

    if (fanout == NULL || fanout->n == 0) {
        return writ_refusal_http(
            request, 503, WRIT_REFUSAL_CODE, WRIT_REASON_UPSTREAM_UNAVAILABLE, NULL);
    }
    (void)writ_fanout_ask(fanout, &fanout->branches[0], request->x->body);
    return writ_fanout_wait(request);
}

/* By the gateway itself. */
static enum writ_step
answer_ping(struct writ_request *request)
{
    static struct writ_fanout none;
    writ_auto_buf body = writ_buf_make(8192);
    struct writ_write w = writ_write_to(&body);

    writ_fanout_response(request, &w);
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
