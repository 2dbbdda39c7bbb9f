/* exchange.c - the functions of an exchange for its handler. A part of an exchange has hooks in
 * place of a request. An exchange is answered exactly once. */
#include "gateway/listener/exchange.h"

#include "gateway/listener/answer_stream.h"
#include "gateway/listener/connection.h"
#include "gateway/listener/incoming.h"

#define PROBE_AGAIN_US 15000000
#define INTERIM        "HTTP/1.1 100 Continue\r\n\r\n"

/* ---- what was asked */

struct writ_view
writ_exchange_header(const struct writ_exchange *x, struct writ_view name)
{
    const struct writ_incoming *request =
        (const struct writ_incoming *)(x->whole != NULL ? x->whole : x);

    for (size_t i = 0; i < request->header_count; i++) {
        if (writ_view_equal_nocase(request->headers[i].name, name)) {
            return request->headers[i].value;
        }
    }
    return (struct writ_view){0};
}

struct writ_view
writ_exchange_list(const struct writ_exchange *x, struct writ_view name)
{
    size_t n = 0, lines = 0, bytes = 0;
    const struct writ_header *all = writ_exchange_headers(x, &n);
    struct writ_buf list;

    for (size_t i = 0; i < n; i++) {
        if (writ_view_equal_nocase(all[i].name, name)) {
            lines++;
            bytes += all[i].value.len + 2;
        }
    }
    if (lines < 2) {
        return writ_exchange_header(x, name);
    }
    list = writ_buf_in(x->arena, bytes);
    for (size_t i = 0; i < n; i++) {
        if (writ_view_equal_nocase(all[i].name, name)) {
            writ_buf_str(&list, list.len > 0 ? ", " : "");
            writ_buf_put(&list, all[i].value);
        }
    }
    return writ_is_ok(writ_buf_check(&list, NULL)) ? writ_buf_view(&list)
                                                   : writ_exchange_header(x, name);
}

const struct writ_header *
writ_exchange_headers(const struct writ_exchange *x, size_t *ret_count)
{
    const struct writ_incoming *request =
        (const struct writ_incoming *)(x->whole != NULL ? x->whole : x);

    *ret_count = request->header_count;
    return request->headers;
}

/* ---- answers */

void
writ_exchange_reply(struct writ_exchange *x, unsigned status, const struct writ_header *headers,
    size_t count, struct writ_view body)
{
    struct writ_incoming *request;

    if (x->hooks != NULL) {
        x->hooks->reply(x, status, body);
        return;
    }
    request = writ_incoming_of(x);
    WRIT_INVARIANT(request->state == WRIT_INCOMING_OPEN && status >= 200 && status < 600);
    writ_incoming_answer(request, status, headers, count, body, MHD_RESPMEM_MUST_COPY);
}

void
writ_exchange_reply_held(struct writ_exchange *x, unsigned status,
    const struct writ_header *headers, size_t count, struct writ_view body)
{
    struct writ_incoming *request;

    if (x->hooks != NULL) {
        x->hooks->reply(x, status, body);
        return;
    }
    request = writ_incoming_of(x);
    WRIT_INVARIANT(request->state == WRIT_INCOMING_OPEN && status >= 200 && status < 600);
    writ_incoming_answer(request, status, headers, count, body, MHD_RESPMEM_PERSISTENT);
}

/* ---- streams */

void
writ_exchange_stream(
    struct writ_exchange *x, unsigned status, const struct writ_header *headers, size_t count)
{
    struct writ_incoming *request;

    if (x->hooks != NULL) {
        x->hooks->stream(x);
        return;
    }
    request = writ_incoming_of(x);
    WRIT_INVARIANT(request->state == WRIT_INCOMING_OPEN && status >= 200 && status < 600);
    writ_answer_stream_begin(request, status, headers, count);
}

WRIT_RESULT
writ_exchange_write(struct writ_exchange *x, struct writ_view bytes)
{
    if (x->hooks != NULL) {
        return x->hooks->write(x, bytes);
    }
    return writ_answer_stream_write(writ_incoming_of(x), bytes);
}

WRIT_RESULT
writ_exchange_write_all(struct writ_exchange *x, struct writ_buf *bytes)
{
    if (x->hooks == NULL && writ_answer_stream_take(writ_incoming_of(x), bytes)) {
        return WRIT_DONE;
    }
    WRIT_TRY(writ_exchange_write(x, writ_buf_view(bytes)));
    writ_buf_clear(bytes);
    return WRIT_DONE;
}

void
writ_exchange_end(struct writ_exchange *x)
{
    if (x->hooks != NULL) {
        x->hooks->end(x, true);
        return;
    }
    writ_answer_stream_end(writ_incoming_of(x), true, NULL);
}

void
writ_exchange_end_with(struct writ_exchange *x, const struct writ_view last[WRIT_EXCHANGE_LAST])
{
    WRIT_INVARIANT(x->hooks == NULL);
    writ_answer_stream_end(writ_incoming_of(x), true, last);
}

void
writ_exchange_abort(struct writ_exchange *x)
{
    if (x->hooks != NULL) {
        x->hooks->end(x, false);
        return;
    }
    writ_answer_stream_end(writ_incoming_of(x), false, NULL);
}

void
writ_exchange_heartbeat(struct writ_exchange *x, int64_t interval_ms)
{
    writ_incoming_of(x->whole != NULL ? x->whole : x)->heartbeat_us = interval_ms * 1000;
}

/* ---- callbacks */

void
writ_exchange_on_gone(
    struct writ_exchange *x, void (*fn)(struct writ_exchange *x, void *ctx), void *ctx)
{
    struct writ_incoming *request;

    if (x->hooks != NULL) {
        x->hooks->on_gone(x, fn, ctx);
        return;
    }
    request = writ_incoming_of(x);
    request->on_gone = fn;
    request->on_gone_ctx = ctx;
    if (x->gone && fn != NULL) {
        writ_loop_defer(request->acceptor->loop, &request->gone_task, WRIT_LOOP_SOON);
    }
}

void
writ_exchange_on_room(
    struct writ_exchange *x, void (*fn)(struct writ_exchange *x, void *ctx), void *ctx)
{
    struct writ_incoming *request;

    if (x->hooks != NULL) {
        x->hooks->on_room(x, fn, ctx);
        return;
    }
    request = writ_incoming_of(x);
    request->on_room = fn;
    request->on_room_ctx = ctx;
}

static void
on_probe(struct writ_timer *timer)
{
    struct writ_connection *connection = timer->ctx;
    struct writ_incoming *request = connection->request;
    bool open = request != NULL && !request->detached && !connection->dead;

    if (open && request->state == WRIT_INCOMING_OPEN && !request->x.http_1_0) {
        if (!writ_connection_send(connection, WRIT_LIT(INTERIM))) {
            writ_connection_cut(connection);
            return;
        }
    } else if (open && request->state == WRIT_INCOMING_STREAM && request->heartbeat_us > 0) {
        writ_answer_stream_beat(request);
    } else {
        return;
    }
    /* a client that half-closes first and leaves later says nothing more: ask again */
    writ_loop_timer_set(timer->loop, timer, writ_loop_now_us(timer->loop) + PROBE_AGAIN_US);
}

void
writ_exchange_probe(struct writ_exchange *x, int64_t after_ms)
{
    struct writ_incoming *request = writ_incoming_of(x->whole != NULL ? x->whole : x);

    if (!request->detached) {
        writ_connection_after_fin(request->connection, after_ms * 1000, on_probe);
    }
}
