/* answer_stream.c - libmicrohttpd takes the bytes of a stream from a queue. While the queue is
 * empty the connection is suspended; a write wakes it. Bytes written after the client has left are
 * dropped.
 *
 * libmicrohttpd copies them through its memory of the connection, some 11 KiB at a time. Many last
 * bytes go to the socket from where they are instead, as one chunk, while it is suspended: it asks
 * for bytes only when all before them are sent. */
#include "gateway/listener/answer_stream.h"

#include "gateway/io/memory_pages.h"
#include "gateway/listener/connection.h"
#include "gateway/listener/daemon.h"
#include "gateway/listener/incoming.h"
#include "gateway/listener/metrics.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#define STREAM_BLOCK 16384 /* for HTTP/1.0 clients, which get no chunks */
#define NO_BLOCK     1     /* chunks are made in the memory of the connection */
#define TOUCHED_MIN  4096  /* less is not given back */
#define TAKEN_LEAST  65536 /* bytes that are taken with their memory, or sent from it */
#define SENDS_MAX    4     /* at once: other connections need their turn too */

/* Of the bytes after the queue. */
static size_t
last_len(const struct writ_incoming *request)
{
    size_t len = 0;

    for (size_t i = 0; i < WRIT_INCOMING_LAST; i++) {
        len += request->last[i].len;
    }
    return len;
}

/* The same without what makes them a chunk. */
static size_t
content_len(const struct writ_incoming *request)
{
    return last_len(request) - request->last[0].len - request->last[WRIT_INCOMING_LAST - 1].len;
}

static void
advance_last(struct writ_incoming *request, size_t bytes)
{
    for (size_t i = 0; i < WRIT_INCOMING_LAST; i++) {
        struct writ_view *piece = &request->last[i];
        size_t taken = bytes < piece->len ? bytes : piece->len;
        *piece = writ_view_sub(*piece, taken, piece->len);
        bytes -= taken;
    }
}

static size_t
queued(const struct writ_incoming *request)
{
    return request->queue.len - request->queue_sent;
}

static size_t
pending(const struct writ_incoming *request)
{
    return queued(request) + last_len(request);
}

/* The next bytes that are in one place. */
static struct writ_view
front(const struct writ_incoming *request)
{
    size_t at = 0;

    if (queued(request) > 0) {
        return writ_view_sub(writ_buf_view(&request->queue), request->queue_sent, SIZE_MAX);
    }
    while (at + 1 < WRIT_INCOMING_LAST && request->last[at].len == 0) {
        at++;
    }
    return request->last[at];
}

static ssize_t
stream_send(struct writ_incoming *request, char *to, size_t max)
{
    struct writ_acceptor *acceptor = request->acceptor;
    size_t half = acceptor->options->max_queue_bytes / 2;
    struct writ_buf out = {.ptr = to, .cap = max, .max = max}; /* it cannot grow */
    struct writ_view bytes = writ_view_sub(front(request), 0, max);

    writ_buf_put(&out, bytes);
    WRIT_INVARIANT(out.len == bytes.len);
    if (queued(request) > 0) {
        request->queue_sent += bytes.len;
    } else {
        advance_last(request, bytes.len);
    }
    request->touched += bytes.len;
    request->wrote_us = writ_loop_now_us(acceptor->loop);
    writ_metrics_count(acceptor->metrics, WRIT_COUNTER_RESPONSE_BYTES, bytes.len);
    if (queued(request) == 0) {
        writ_buf_clear(&request->queue);
        request->queue_sent = 0;
    }
    if (request->starved && pending(request) <= half) {
        request->starved = false;
        writ_loop_defer(acceptor->loop, &request->room_task, WRIT_LOOP_SOON);
    }
    writ_daemon_poke(request->connection->daemon, 1); /* the taken bytes must still be written */
    return (ssize_t)bytes.len;
}

/* When the end of the body is the end of the connection, libmicrohttpd only marks it closed, and
 * closes it in a later run: certainly only when it has a timeout of its own. */
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

/* A stream may wait for hours. `to` is for bytes that did not come, so its content is of no use. */
static void
stream_rest(struct writ_incoming *request, char *to, size_t max)
{
    if (request->touched >= TOUCHED_MIN) {
        writ_memory_pages_give_back(to, max);
        request->touched = 0;
    }
    request->connection->suspended = true;
    MHD_suspend_connection(request->connection->mhd);
}

/* ---- last bytes, past libmicrohttpd */

static bool
goes_past(const struct writ_incoming *request)
{
    return queued(request) == 0 && last_len(request) >= TAKEN_LEAST &&
           !request->connection->peer.tls && !request->x.http_1_0;
}

/* Makes the last bytes one chunk (RFC 9112 7.1). */
static void
make_chunk(struct writ_incoming *request)
{
    struct writ_buf line = writ_buf_over(request->chunk_line, sizeof request->chunk_line);

    writ_buf_fmt(&line, "%zx\r\n", last_len(request));
    request->last[0] = writ_buf_view(&line);
    request->last[WRIT_INCOMING_LAST - 1] = WRIT_LIT("\r\n");
}

/* What the socket takes now; false: it is broken. */
static bool
send_last(struct writ_incoming *request)
{
    struct writ_acceptor *acceptor = request->acceptor;
    struct iovec pieces[WRIT_INCOMING_LAST];
    struct msghdr message = {.msg_iov = pieces, .msg_iovlen = WRIT_INCOMING_LAST};

    for (int i = 0; i < SENDS_MAX && last_len(request) > 0; i++) {
        size_t before = content_len(request);
        ssize_t sent;

        for (size_t at = 0; at < WRIT_INCOMING_LAST; at++) { /* sendmsg does not write to them */
            pieces[at] = (struct iovec){(void *)request->last[at].ptr, request->last[at].len};
        }
        sent = sendmsg(request->connection->fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0) {
            return errno == EAGAIN || errno == EINTR;
        }
        advance_last(request, (size_t)sent);
        request->wrote_us = writ_loop_now_us(acceptor->loop);
        writ_metrics_count(
            acceptor->metrics, WRIT_COUNTER_RESPONSE_BYTES, before - content_len(request));
    }
    return true;
}

static void
send_more(struct writ_connection *connection)
{
    struct writ_incoming *request = connection->request;

    if (!send_last(request) ||
        (last_len(request) > 0 && !writ_connection_await_room(connection, send_more))) {
        writ_connection_cut(connection);
    } else if (last_len(request) == 0) {
        writ_connection_resume(connection);
        writ_daemon_poke(connection->daemon, 2); /* one to end the body, one to write that */
    }
}

/* libmicrohttpd is suspended until all is sent, if it is not already. */
static bool
send_past(struct writ_incoming *request)
{
    make_chunk(request);
    return send_last(request) &&
           (last_len(request) == 0 || writ_connection_await_room(request->connection, send_more));
}

/* libmicrohttpd asks for the next bytes of a stream. */
static ssize_t
stream_read(void *cls, uint64_t position, char *to, size_t max)
{
    struct writ_incoming *request = writ_incoming_of(cls);

    (void)position;
    if (!request->failed && goes_past(request)) {
        request->failed = !send_past(request);
        if (request->connection->suspended) {
            return 0;
        }
    }
    if (request->failed) {
        return stream_last(request, MHD_CONTENT_READER_END_WITH_ERROR);
    }
    if (pending(request) > 0) {
        return stream_send(request, to, max);
    }
    if (request->ended) {
        return stream_last(request, MHD_CONTENT_READER_END_OF_STREAM);
    }
    stream_rest(request, to, max);
    return 0;
}

static void
wake(struct writ_incoming *request)
{
    writ_connection_resume(request->connection);
    writ_daemon_poke(request->connection->daemon, 2); /* one to take the bytes, one to write them */
}

void
writ_answer_stream_begin(
    struct writ_incoming *request, unsigned status, const struct writ_header *headers, size_t count)
{
    struct writ_acceptor *acceptor = request->acceptor;
    struct MHD_Response *response;

    request->state = WRIT_INCOMING_STREAM;
    request->touched = TOUCHED_MIN; /* libmicrohttpd has zeroed all */
    request->wrote_us = writ_loop_now_us(acceptor->loop);
    writ_metrics_count(acceptor->metrics, WRIT_COUNTER_STREAMS, 1);
    writ_metrics_gauge(acceptor->metrics, WRIT_GAUGE_STREAMS_OPEN, 1);
    writ_metrics_mark(acceptor->metrics, WRIT_VECTOR_STATUS, status / 100);
    writ_incoming_stop_waiting(request);
    if (request->detached) {
        return;
    }
    writ_arena_give_back(request->x.arena);
    response = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN,
        request->x.http_1_0 ? STREAM_BLOCK : NO_BLOCK, stream_read, request, NULL);
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

bool
writ_answer_stream_take(struct writ_incoming *request, struct writ_buf *bytes)
{
    struct writ_buf queue = request->queue;

    if (pending(request) > 0 || request->detached || request->failed || bytes->len < TAKEN_LEAST) {
        return false;
    }
    WRIT_INVARIANT(request->state == WRIT_INCOMING_STREAM);
    request->queue = *bytes;
    request->queue.max = queue.max;
    *bytes = writ_buf_make(bytes->max);
    writ_buf_wipe(&queue);
    request->queue_sent = 0;
    request->wrote_us = writ_loop_now_us(request->acceptor->loop);
    wake(request);
    return true;
}

WRIT_RESULT
writ_answer_stream_write(struct writ_incoming *request, struct writ_view bytes)
{
    size_t max = request->acceptor->options->max_queue_bytes, held = pending(request);

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
        request->queue.failed = WRIT_E_UNSET; /* queued bytes stay valid */
        return (writ_result){WRIT_E_NOMEM};
    }
    writ_buf_put(&request->queue, bytes);
    wake(request);
    return WRIT_DONE;
}

void
writ_answer_stream_end(
    struct writ_incoming *request, bool whole, const struct writ_view last[WRIT_EXCHANGE_LAST])
{
    WRIT_INVARIANT(request->state == WRIT_INCOMING_STREAM);
    for (size_t i = 0; last != NULL && i < WRIT_EXCHANGE_LAST; i++) {
        request->last[i + 1] = last[i];
    }
    request->failed = request->failed || !whole;
    writ_incoming_finish(request, 0);
    if (request->detached) {
        writ_incoming_free(request);
        return;
    }
    request->ended = true;
    writ_connection_set_phase(request->connection, WRIT_CONNECTION_WRITE,
        writ_incoming_write_ms(request, pending(request)));
    wake(request);
}

/* ---- heartbeats */

static void
beat_if_due(struct writ_incoming *request, int64_t now_us)
{
    bool streams = request->state == WRIT_INCOMING_STREAM && !request->detached && !request->failed;

    if (streams && request->heartbeat_us > 0 && pending(request) == 0 &&
        now_us - request->wrote_us >= request->heartbeat_us) {
        if (!writ_is_ok(writ_answer_stream_write(request, WRIT_LIT(":\n\n")))) {
            request->wrote_us = now_us; /* no memory: the next beat is as good */
        }
    }
}

void
writ_answer_stream_beat(struct writ_incoming *request)
{
    request->wrote_us = INT64_MIN / 2;
    beat_if_due(request, writ_loop_now_us(request->acceptor->loop));
}

/* True for a stream whose client takes no more bytes. */
static bool
is_stuck(const struct writ_incoming *request, int64_t now_us)
{
    return pending(request) > 0 &&
           now_us - request->wrote_us > request->acceptor->options->write_timeout_ms * 1000;
}

void
writ_answer_stream_sweep(struct writ_incoming *request, int64_t now_us)
{
    if (request->state != WRIT_INCOMING_STREAM) {
        return;
    }
    beat_if_due(request, now_us);
    if (is_stuck(request, now_us)) {
        writ_connection_cut(request->connection);
    }
}
