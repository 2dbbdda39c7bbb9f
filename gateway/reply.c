/* reply.c - REPLY: a client's answer to a server's request. */
#include "gateway/reply.h"

#include "gateway/pass.h"
#include "gateway/refusal.h"
#include "gateway/rewrite.h"

#include "base/text.h"

#define ID_MAX 4096 /* bytes of the id of a server's request, with its upstream's name */

writ_result
writ_reply_put_id(
    const struct writ_upstream *upstream, const struct writ_json *id, struct writ_buf *ret_json)
{
    writ_auto_buf text = writ_buf_make(ID_MAX);

    writ_buf_put(&text, writ_upstream_config(upstream)->name);
    writ_buf_str(&text, writ_json_type(id) == WRIT_JSON_NUMBER ? "/n/" : "/s/");
    writ_buf_put(&text, writ_json_text(id));
    WRIT_TRY(writ_buf_check(&text, NULL)); /* a part of it would find nobody's way back */
    writ_text_json(ret_json, writ_buf_view(&text));
    return writ_buf_check(ret_json, NULL);
}

/* Takes "fs/n/7" apart. */
static struct writ_upstream *
inward_id(struct writ_request *request, struct writ_buf *ret_id_json)
{
    struct writ_view text = writ_json_string(request->message.id);
    size_t slash = writ_view_find(text, '/');
    struct writ_upstream *upstream =
        writ_gateway_upstream(request->worker->gateway, writ_view_sub(text, 0, slash));
    struct writ_view kind = writ_view_sub(text, slash, 3);
    struct writ_view id = writ_view_sub(text, slash + 3, SIZE_MAX);

    if (upstream == NULL ||
        (request->endpoint->only != NULL && request->endpoint->only != upstream)) {
        return NULL;
    }
    if (writ_view_is(kind, "/s/")) {
        writ_text_json(ret_id_json, id);
        return upstream;
    }
    if (writ_view_is(kind, "/n/") && id.len > 0) {
        for (size_t i = 0; i < id.len; i++) {
            if ((id.ptr[i] < '0' || id.ptr[i] > '9') && !(i == 0 && id.ptr[i] == '-')) {
                return NULL;
            }
        }
        writ_buf_put(ret_id_json, id);
        return upstream;
    }
    return NULL;
}

static enum writ_step
swallow(struct writ_request *request)
{
    struct writ_exchange *x = request->x;

    writ_request_finish(request);
    writ_exchange_reply(x, 202, NULL, 0, (struct writ_view){NULL, 0});
    return WRIT_STEP_DONE;
}

enum writ_step
writ_reply_start(struct writ_request *request)
{
    writ_auto_buf id = writ_buf_make(WRIT_REPLY_ID_JSON_MAX);
    writ_auto_buf body = writ_buf_make(2 * request->x->body.len + 65536);
    struct writ_upstream *upstream = inward_id(request, &id);
    struct writ_view copy;

    if (request->session == NULL) {
        return writ_refusal_http(request, 400, WRIT_RPC_SERVER_ERROR, WRIT_REASON_MALFORMED_REQUEST,
            "an answer belongs to a session");
    }
    if (upstream == NULL ||
        !writ_is_ok(writ_rewrite_id(request->message.body, writ_buf_view(&id), &body))) {
        return swallow(request); /* to nothing that was asked; a server takes it as well */
    }
    copy = writ_view_copy(writ_buf_view(&body), request->x->arena);
    if (copy.ptr == NULL) {
        return writ_refusal_http(
            request, 503, WRIT_RPC_INTERNAL_ERROR, WRIT_REASON_OVERLOADED, NULL);
    }
    return writ_pass_send(request, upstream, (struct writ_view){NULL, 0}, copy);
}
