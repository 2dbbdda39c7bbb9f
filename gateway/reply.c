/* reply.c - REPLY: a client's answer to a server's request. */
#include "gateway/reply.h"

#include "gateway/meet.h"
#include "gateway/pass.h"
#include "gateway/refusal.h"
#include "gateway/rewrite.h"

#include "base/text.h"
#include "evidence/write.h"

#define REFUSAL_MAX 65536
#define ID_MAX      4096 /* bytes of the id of a server's request, with its upstream's name */

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
        writ_upstream_find(request->worker->gateway, writ_view_sub(text, 0, slash));
    struct writ_view kind = writ_view_sub(text, slash, 3);
    struct writ_view id = writ_view_sub(text, slash + 3, SIZE_MAX);

    if (upstream == NULL || writ_meet_is_late(request, upstream) ||
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

/* ---- an answer in the stead of the client ---- */

/* It outlives the request on whose stream the server asked. */
struct stead {
    struct writ_upcall upcall;
    struct writ_mcp_message message;
    struct writ_agent agent;
    struct writ_session *session;
    struct writ_buf body;
};

static void
stead_free(struct stead *stead)
{
    writ_session_drop(stead->session);
    writ_buf_wipe(&stead->body);
    writ_free(stead);
}

/* Whatever became of it: the server waits for no more than its own time. */
static void
stead_end(struct writ_upcall *upcall, const struct writ_upcall_answer *answer)
{
    (void)answer;
    stead_free(upcall->ctx);
}

static const struct writ_upcall_events stead_events = {.end = stead_end};

static writ_result
put_refusal(const struct writ_json *message, int code, struct writ_buf *ret)
{
    struct writ_write w = writ_write_to(ret);

    writ_mcp_open(&w, writ_json_get(message, WRIT_LIT("id")));
    writ_write_name(&w, WRIT_LIT("error"));
    writ_mcp_put_error(&w, code, "the client declared no capability for this request");
    writ_write_object_end(&w);
    return writ_write_end(&w, NULL);
}

void
writ_reply_refuse(const struct writ_request *request, struct writ_upstream *upstream,
    const struct writ_json *message, int code)
{
    const struct writ_upstream_config *to = writ_upstream_config(upstream);
    struct writ_session *session = request->session;
    struct stead *stead = writ_alloc(sizeof *stead);

    if (stead == NULL) {
        return;
    }
    (void)atomic_fetch_add(&session->holders, 1);
    stead->session = session;
    stead->body = writ_buf_make(REFUSAL_MAX);
    if (!writ_is_ok(put_refusal(message, code, &stead->body))) {
        stead_free(stead);
        return;
    }
    stead->message.kind = WRIT_MCP_RESPONSE;
    stead->agent = (struct writ_agent){.id = session->agent_id, .tenant = session->tenant};
    stead->upcall = (struct writ_upcall){.events = &stead_events,
        .ctx = stead,
        .request = {.method = WRIT_METHOD_POST,
            .message = &stead->message,
            .body = writ_buf_view(&stead->body),
            .session = writ_session_upstream(session, to->name),
            .version = session->version,
            .body_max = REFUSAL_MAX,
            .event_max = REFUSAL_MAX,
            .timeout_us = to->list_timeout_us,
            .total_us = to->list_timeout_us,
            .scope = session->id,
            .agent = &stead->agent,
            .client = session->client}};
    writ_upcall_start(upstream, request->worker, &stead->upcall);
}
