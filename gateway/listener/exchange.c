/* exchange.c - hands answers and streams to libmicrohttpd. An exchange is answered exactly once;
 * bytes written after its client has left are dropped. */
#include "gateway/listener/exchange.h"

#include "gateway/listener/connection.h"

#define STREAM_BLOCK 16384 /* towards HTTP/1.0 clients, who get no chunks */

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

/* Copies into memory that libmicrohttpd owns: a buffer that cannot grow, on top of it. */
static void
copy_out(char *to, size_t max, struct writ_view bytes)
{
    struct writ_buf out = {.ptr = to, .cap = max, .max = max};

    writ_buf_put(&out, bytes);
    WRIT_INVARIANT(out.len == bytes.len);
}

static ssize_t
stream_send(struct writ_incoming *request, char *to, size_t max)
{
    struct writ_acceptor *acceptor = request->acceptor;
    size_t half = acceptor->options->max_queue_bytes / 2;
    struct writ_view bytes =
        writ_view_sub(writ_buf_view(&request->queue), request->queue_sent, max);

    copy_out(to, max, bytes);
    request->queue_sent += bytes.len;
    request->wrote_us = writ_loop_now_us(acceptor->loop);
    writ_metrics_count(acceptor->metrics, WRIT_COUNTER_RESPONSE_BYTES, bytes.len);
    if (writ_incoming_pending(request) == 0) {
        writ_buf_clear(&request->queue);
        request->queue_sent = 0;
    }
    if (request->starved && writ_incoming_pending(request) <= half) {
        request->starved = false;
        writ_loop_defer(acceptor->loop, &request->room_task, WRIT_LOOP_SOON);
    }
    writ_daemon_poke(request->connection->daemon, 1); /* what was taken still has to be written */
    return (ssize_t)bytes.len;
}

/* Where the end is the connection's as well, libmicrohttpd only marks it closed, and closes it when
 * it comes by again: for certain only to one that has a timeout of its own. */
static ssize_t
stream_last(struct writ_incoming *request, ssize_t how)
{
    struct writ_connection *connection = request->connection;

    if (request->failed || request->x.http_1_0) {
        (void)MHD_set_connection_option(connection->mhd, MHD_CONNECTION_OPTION_TIMEOUT, 1U);
    }
    writ_daemon_poke(connection->daemon, 1);
    return how;
}

/* libmicrohttpd asks for the next bytes of a stream. */
static ssize_t
stream_read(void *cls, uint64_t position, char *to, size_t max)
{
    struct writ_incoming *request = writ_incoming_of(cls);

    (void)position;
    if (request->failed) {
        return stream_last(request, MHD_CONTENT_READER_END_WITH_ERROR);
    }
    if (writ_incoming_pending(request) > 0) {
        return stream_send(request, to, max);
    }
    if (request->ended) {
        return stream_last(request, MHD_CONTENT_READER_END_OF_STREAM);
    }
    request->connection->suspended = true;
    MHD_suspend_connection(request->connection->mhd);
    return 0;
}

static void
wake(struct writ_incoming *request)
{
    struct writ_connection *connection = request->connection;

    if (connection->suspended) {
        connection->suspended = false;
        MHD_resume_connection(connection->mhd);
    }
    writ_daemon_poke(connection->daemon, 2); /* one to take the bytes, one to write them */
}

void
writ_exchange_stream(
    struct writ_exchange *x, unsigned status, const struct writ_header *headers, size_t count)
{
    struct writ_incoming *request;
    struct writ_acceptor *acceptor;
    struct MHD_Response *response;

    if (x->hooks != NULL) {
        x->hooks->stream(x);
        return;
    }
    request = writ_incoming_of(x);
    acceptor = request->acceptor;
    WRIT_INVARIANT(request->state == WRIT_INCOMING_OPEN && status >= 200 && status < 600);
    request->state = WRIT_INCOMING_STREAM;
    request->wrote_us = writ_loop_now_us(acceptor->loop);
    writ_metrics_count(acceptor->metrics, WRIT_COUNTER_STREAMS, 1);
    writ_metrics_gauge(acceptor->metrics, WRIT_GAUGE_STREAMS_OPEN, 1);
    writ_metrics_mark(acceptor->metrics, WRIT_VECTOR_STATUS, status / 100);
    writ_incoming_stop_waiting(request);
    if (request->detached) {
        return;
    }
    response = MHD_create_response_from_callback(
        MHD_SIZE_UNKNOWN, STREAM_BLOCK, stream_read, request, NULL);
    if (response != NULL && !writ_incoming_add_headers(request, response, headers, count)) {
        MHD_destroy_response(response);
        response = NULL;
    }
    if (response == NULL) {
        request->failed = true;
        writ_connection_cut(request->connection);
        return;
    }
    writ_incoming_queue(request, status, response);
}

WRIT_RESULT
writ_exchange_write(struct writ_exchange *x, struct writ_view bytes)
{
    struct writ_incoming *request;
    size_t max, held;

    if (x->hooks != NULL) {
        return x->hooks->write(x, bytes);
    }
    request = writ_incoming_of(x);
    max = request->acceptor->options->max_queue_bytes;
    held = writ_incoming_pending(request);
    WRIT_INVARIANT(request->state == WRIT_INCOMING_STREAM);
    if (request->detached || request->failed || bytes.len == 0) {
        return WRIT_DONE;
    }
    if (held > 0 && (bytes.len > max || held > max - bytes.len)) {
        request->starved = true;
        return (writ_result){WRIT_E_BUSY};
    }
    if (held == 0) {
        request->wrote_us = writ_loop_now_us(request->acceptor->loop);
    }
    if (request->queue_sent > max) {
        writ_buf_consume(&request->queue, request->queue_sent);
        request->queue_sent = 0;
    }
    if (writ_buf_reserve(&request->queue, bytes.len) == NULL) {
        request->queue.failed = WRIT_E_UNSET; /* what is queued stays good */
        return (writ_result){WRIT_E_NOMEM};
    }
    writ_buf_put(&request->queue, bytes);
    wake(request);
    return WRIT_DONE;
}

void
writ_exchange_end(struct writ_exchange *x)
{
    struct writ_incoming *request;

    if (x->hooks != NULL) {
        x->hooks->end(x, true);
        return;
    }
    request = writ_incoming_of(x);
    WRIT_INVARIANT(request->state == WRIT_INCOMING_STREAM);
    writ_incoming_finish(request, 0);
    if (request->detached) {
        writ_incoming_free(request);
        return;
    }
    request->connection->daemon->answering++;
    request->ended = true;
    writ_connection_set_phase(request->connection, WRIT_CONNECTION_WRITE,
        writ_incoming_write_ms(request, writ_incoming_pending(request)));
    wake(request);
}

void
writ_exchange_abort(struct writ_exchange *x)
{
    struct writ_incoming *request;

    if (x->hooks != NULL) {
        x->hooks->end(x, false);
        return;
    }
    request = writ_incoming_of(x);
    WRIT_INVARIANT(request->state == WRIT_INCOMING_STREAM);
    request->failed = true;
    writ_exchange_end(x);
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

void
writ_exchange_probe(struct writ_exchange *x, int64_t after_ms)
{
    struct writ_incoming *request = writ_incoming_of(x->whole != NULL ? x->whole : x);

    if (!request->detached) {
        writ_connection_probe_at(request->connection, after_ms * 1000);
    }
}
