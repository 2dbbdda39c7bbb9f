/* undeclared.c - the answer outlives the request on whose stream the server asked. */
#include "gateway/call/undeclared.h"

#include "base/alloc.h"
#include "evidence/json/write.h"

#define REFUSAL_MAX 65536

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
writ_undeclared_refuse(const struct writ_request *request, struct writ_upstream *upstream,
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
