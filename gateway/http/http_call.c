/* http_call.c - a call goes from WAITING to BUSY to ENDED, and its memory is used again after that.
 * Request bytes may contain a credential, so their buffer is wiped before it is reused or freed.
 * Invariants are in http_parts.h. */
#include "gateway/http/http_call.h"

#include "base/text.h"

#define SPARE_CALLS_MAX  64
#define KEPT_SECONDS_MAX 86400 /* a longer time is ignored */
#define SECOND_US        INT64_C(1000000)

void
writ_http_call_end(struct writ_http_call *call, enum writ_http_reason reason, const char *detail)
{
    struct writ_http_client *client = call->client;

    switch (call->state) {
    case WRIT_HTTP_CALL_WAITING:
        TAILQ_REMOVE(&client->waiting, call, link);
        client->stats.waiting--;
        break;
    case WRIT_HTTP_CALL_BUSY:
        call->conn->call = NULL;
        call->conn = NULL;
        client->stats.active--;
        break;
    case WRIT_HTTP_CALL_SPARE:
    case WRIT_HTTP_CALL_ENDED:
        return;
    }
    writ_loop_timer_cancel(&call->timer);
    client->endless -= call->endless ? 1 : 0;
    call->state = WRIT_HTTP_CALL_ENDED;
    call->end = (struct writ_http_end){
        .reason = reason,
        .sent = call->sent ? WRIT_HTTP_SENT : WRIT_HTTP_NOT_SENT,
        .detail = detail,
    };
    TAILQ_INSERT_TAIL(&client->ended, call, link);
    writ_loop_defer(client->loop, &client->finish_task, WRIT_LOOP_SOON);
}

void
writ_http_call_free(struct writ_http_call *call)
{
    writ_http_response_free(call->response);
    writ_buf_wipe_secret(&call->head); /* a credential is in it */
    writ_free(call);
}

void
writ_http_call_recycle(struct writ_http_call *call)
{
    struct writ_http_client *client = call->client;

    if (client->spare_count >= SPARE_CALLS_MAX) {
        writ_http_call_free(call);
        return;
    }
    writ_wipe(call->head.ptr, call->head.len); /* a credential was in it */
    call->state = WRIT_HTTP_CALL_SPARE;
    client->spare_count++;
    TAILQ_INSERT_HEAD(&client->spare, call, link);
}

/* ---- waiting */

static void
waiting_arm(struct writ_http_call *call)
{
    struct writ_http_client *client = call->client;
    int64_t due_us = writ_loop_now_us(client->loop) + client->options.connect_us;

    writ_loop_timer_set(
        client->loop, &call->timer, due_us < call->total_due_us ? due_us : call->total_due_us);
}

static void
waiting_timer(struct writ_timer *timer)
{
    struct writ_http_call *call = timer->ctx;
    bool total = writ_loop_now_us(call->client->loop) >= call->total_due_us;

    writ_http_call_end(call, total ? WRIT_HTTP_TOTAL_TIMEOUT : WRIT_HTTP_CONNECT_TIMEOUT,
        "no connection was free");
}

void
writ_http_call_wait(struct writ_http_call *call)
{
    struct writ_http_client *client = call->client;

    call->state = WRIT_HTTP_CALL_WAITING;
    TAILQ_INSERT_TAIL(&client->waiting, call, link);
    client->stats.waiting++;
    waiting_arm(call);
}

void
writ_http_call_requeue(struct writ_http_call *call)
{
    struct writ_http_client *client = call->client;

    call->conn->call = NULL;
    call->conn = NULL;
    client->stats.active--;
    call->state = WRIT_HTTP_CALL_WAITING;
    TAILQ_INSERT_HEAD(&client->waiting, call, link);
    client->stats.waiting++;
    waiting_arm(call);
}

/* ---- what the response's reader tells */

/* Keep-Alive: timeout=N (RFC 2068 19.7.1.1) is how long the server waits for the next request. Both
 * the answer and the next request need time on their way. */
static int64_t
kept_by(const struct writ_http_head *head, int64_t keep_us)
{
    struct writ_view rest = {NULL, 0};
    uint64_t seconds;

    (void)writ_http_response_field(head, "Keep-Alive", &rest);
    while (rest.len > 0) {
        size_t comma = writ_view_find(rest, ',');
        struct writ_view item = writ_view_trim(writ_view_sub(rest, 0, comma));
        size_t equals = writ_view_find(item, '=');
        rest = writ_view_sub(rest, comma + 1, SIZE_MAX);
        if (writ_view_equal_nocase(writ_view_sub(item, 0, equals), WRIT_LIT("timeout")) &&
            writ_is_ok(writ_text_u64(
                writ_view_sub(item, equals + 1, SIZE_MAX), 0, KEPT_SECONDS_MAX, &seconds))) {
            return (int64_t)seconds * SECOND_US -
                   (seconds > 1 ? SECOND_US : (int64_t)seconds * SECOND_US / 2);
        }
    }
    return keep_us;
}

static void
forward_head(void *ctx, const struct writ_http_head *head)
{
    struct writ_http_call *call = ctx;

    if (call->state == WRIT_HTTP_CALL_BUSY) {
        call->conn->keep_us = kept_by(head, call->client->options.keep_us);
    }
    if (call->state == WRIT_HTTP_CALL_BUSY && call->handler->on_head != NULL) {
        call->handler->on_head(call->ctx, call, head);
    }
}

static void
forward_body(void *ctx, struct writ_view bytes)
{
    struct writ_http_call *call = ctx;

    if (call->state == WRIT_HTTP_CALL_BUSY && call->handler->on_body != NULL) {
        call->handler->on_body(call->ctx, call, bytes);
    }
}

static const struct writ_http_response_events events = {forward_head, forward_body};

/* ---- beginning */

struct writ_http_call *
writ_http_call_take(struct writ_http_client *client)
{
    struct writ_http_call *call = TAILQ_FIRST(&client->spare);

    if (call != NULL) {
        TAILQ_REMOVE(&client->spare, call, link);
        client->spare_count--;
        return call;
    }
    call = writ_alloc(sizeof *call);
    if (call == NULL) {
        return NULL;
    }
    call->response = writ_http_response_new(&events, call);
    if (call->response == NULL) {
        writ_free(call);
        return NULL;
    }
    call->client = client;
    call->head = writ_buf_make(WRIT_HTTP_REQUEST_HEAD_MAX);
    call->timer = (struct writ_timer){.fn = waiting_timer, .ctx = call};
    return call;
}

WRIT_RESULT
writ_http_call_prepare(struct writ_http_call *call, const struct writ_http_request *request,
    const struct writ_http_handler *handler, void *ctx, struct writ_err *err)
{
    struct writ_http_client *client = call->client;

    call->handler = handler;
    call->ctx = ctx;
    call->body = request->body;
    call->written = 0;
    call->sent = call->paused = call->held = call->complete = false;
    call->endless = request->endless;
    call->may_begin = request->may_begin;
    call->begin_ctx = request->begin_ctx;
    call->no_body = writ_view_is(request->method, "HEAD");
    call->body_max = request->body_max;
    call->head_us = request->head_us;
    call->idle_us = request->idle_us;
    call->fresh_us = request->fresh_us;
    call->total_due_us = writ_http_parts_after(client, request->total_us);
    writ_buf_clear(&call->head);
    return writ_http_request_put(&call->head, request, &client->origin, err);
}
