/* reply.c - REPLY: a client's answer to a server's request. */
#include "gateway/mcp/server_id.h"
#include "gateway/request/finish.h"
#include "gateway/upstream/upstream.h"

#include "gateway/review/continuation.h"
#include "gateway/review/meet.h"
#include "gateway/relay/pass.h"
#include "gateway/request/refusal.h"
#include "gateway/mcp/rewrite.h"

/* The upstream that sent the request, and its own id; NULL: no request of an upstream has this
 * id. */
static struct writ_upstream *
find_asker(struct writ_request *request, struct writ_buf *ret_id_json, bool *ret_foreign)
{
    struct writ_view id = writ_json_string(request->message.id), name;
    struct writ_upstream *upstream;

    if (!writ_is_ok(writ_server_id_read(id, &name, ret_id_json))) {
        return NULL;
    }
    upstream = writ_upstream_asker_find(request->worker->gateway, name, ret_foreign);
    return request->endpoint->only == NULL || request->endpoint->only == upstream ? upstream : NULL;
}

enum writ_step
writ_reply_start(struct writ_request *request)
{
    writ_auto_buf id = writ_buf_make(WRIT_SERVER_ID_JSON_MAX);
    writ_auto_buf body = writ_buf_make(2 * request->x->body.len + 65536);
    bool foreign = false;
    struct writ_upstream *upstream = find_asker(request, &id, &foreign);
    struct writ_view copy;

    if (request->session == NULL) {
        return writ_refusal_http(request, 400, WRIT_RPC_SERVER_ERROR, WRIT_REASON_MALFORMED_REQUEST,
            "an answer belongs to a session");
    }
    if (writ_continuation_is(writ_json_string(request->message.id))) {
        return WRIT_STEP_VOTE;
    }
    if (upstream != NULL && foreign) {
        return writ_refusal_http(request, 400, WRIT_RPC_SERVER_ERROR, WRIT_REASON_ANSWER_UNKNOWN,
            "the request came from a child of another gateway, or of an earlier start");
    }
    if (upstream == NULL ||
        !writ_is_ok(writ_rewrite_id(request->message.body, writ_buf_view(&id), &body))) {
        return writ_finish_accepted(
            request); /* to no known request; a server accepts that as well */
    }
    copy = writ_view_copy(writ_buf_view(&body), request->x->arena);
    if (copy.ptr == NULL) {
        return writ_refusal_http(
            request, 503, WRIT_RPC_INTERNAL_ERROR, WRIT_REASON_OVERLOADED, NULL);
    }
    return writ_pass_send(request, upstream, (struct writ_view){NULL, 0}, copy);
}
