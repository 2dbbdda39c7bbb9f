/* http_conn.c - moves bytes between a socket and the call it carries. A call is marked sent before
 * its first byte can leave. Invariants are in http_parts.h. */
#include "gateway/http/http_conn.h"

#include "gateway/http/http_call.h"

#include <sys/epoll.h>

#define READS_MAX 16 /* of one connection in one turn: other connections need their turn too */

/* ---- ends and rests */

void
writ_http_conn_close(struct writ_http_conn *conn)
{
    struct writ_http_client *client = conn->client;

    if (conn->dead) {
        return;
    }
    conn->dead = true;
    if (conn->idle) {
        TAILQ_REMOVE(&client->idle, conn, idle_link);
        client->stats.idle--;
        conn->idle = false;
    }
    writ_loop_unwatch(&conn->watch);
    writ_loop_timer_cancel(&conn->timer);
    writ_loop_undefer(&conn->task);
    writ_socket_close(conn->socket);
    conn->socket = NULL;
    client->stats.open--;
    TAILQ_REMOVE(&client->conns, conn, link);
    TAILQ_INSERT_TAIL(&client->doomed, conn, link); /* keeps (3) */
    writ_loop_defer(client->loop, &client->finish_task, WRIT_LOOP_SOON);
}

void
writ_http_conn_fail(struct writ_http_conn *conn, enum writ_http_reason reason, const char *detail)
{
    if (conn->write_broken && reason == WRIT_HTTP_CLOSED_EARLY) {
        reason = WRIT_HTTP_WRITE_FAILED; /* that came first */
    }
    if (conn->call != NULL) {
        writ_http_call_end(conn->call, reason, detail);
    }
    writ_http_conn_close(conn);
}

void
writ_http_conn_rest(struct writ_http_conn *conn)
{
    struct writ_http_client *client = conn->client;

    conn->idle = true;
    conn->rested_us = writ_loop_now_us(client->loop);
    TAILQ_INSERT_HEAD(&client->idle, conn, idle_link);
    client->stats.idle++;
    writ_loop_timer_set(client->loop, &conn->timer, conn->rested_us + conn->keep_us);
}

void
writ_http_conn_free(struct writ_http_conn *conn)
{
    writ_buf_wipe(&conn->rest);
    writ_free(conn);
}

/* ---- deadlines */

static void
conn_arm(struct writ_http_conn *conn)
{
    const struct writ_http_call *call = conn->call;
    int64_t due_us = call->total_due_us;

    if (!call->paused && call->phase_due_us < due_us) {
        due_us = call->phase_due_us;
    }
    if (due_us != WRIT_HTTP_NEVER_US) {
        writ_loop_timer_set(conn->client->loop, &conn->timer, due_us);
    }
}

static void
conn_timer(struct writ_timer *timer)
{
    struct writ_http_conn *conn = timer->ctx;
    struct writ_http_call *call = conn->call;
    int64_t now_us = writ_loop_now_us(conn->client->loop);

    if (call == NULL) {
        writ_http_conn_close(conn);
    } else if (now_us >= call->total_due_us) {
        writ_http_conn_fail(conn, WRIT_HTTP_TOTAL_TIMEOUT, NULL);
    } else if (!call->paused && now_us >= call->phase_due_us) {
        bool has_head = writ_http_response_has_head(call->response);
        writ_http_conn_fail(conn, has_head ? WRIT_HTTP_IDLE_TIMEOUT : WRIT_HTTP_HEAD_TIMEOUT, NULL);
    } else {
        conn_arm(conn);
    }
}

/* ---- reading */

/* the response is complete: the call is done, the connection may serve another one */
static void
conn_complete(struct writ_http_conn *conn)
{
    struct writ_http_client *client = conn->client;
    struct writ_http_call *call = conn->call;
    bool keep = writ_http_response_keeps_open(call->response) && !conn->write_broken &&
                call->written == call->head.len + call->body.len && !client->closing &&
                client->stats.idle < client->options.idle_max && conn->keep_us > 0;

    writ_http_call_end(call, WRIT_HTTP_OK, NULL);
    if (!keep) {
        writ_http_conn_close(conn);
        return;
    }
    conn->used = true;         /* keeps (4) */
    writ_http_conn_rest(conn); /* the finish task gives it to a waiting call */
}

/* keeps bytes that a pause held back */
static void
conn_hold(struct writ_http_conn *conn, struct writ_view input)
{
    struct writ_view rest = writ_buf_view(&conn->rest);

    conn->call->held = true;
    if (rest.len > 0) { /* the input was the rest itself */
        conn->rest_at = rest.len - input.len;
        return;
    }
    writ_buf_put(&conn->rest, input);
    conn->rest_at = 0;
    if (!writ_is_ok(writ_buf_check(&conn->rest, NULL))) {
        writ_http_conn_fail(conn, WRIT_HTTP_NO_RESOURCES, "no memory for held bytes");
    }
}

/* passes bytes to the reader of the response; false: stop reading for now */
static bool
conn_feed(struct writ_http_conn *conn, struct writ_view input)
{
    struct writ_http_call *call = conn->call;
    enum writ_http_progress progress = writ_http_response_feed(call->response, &input);
    const char *detail = NULL;
    enum writ_http_reason reason;

    if (conn->call != call) {
        return false; /* a callback cancelled it */
    }
    switch (progress) {
    case WRIT_HTTP_FAILED:
        reason = writ_http_response_fault(call->response, &detail);
        writ_http_conn_fail(conn, reason, detail);
        return false;
    case WRIT_HTTP_PAUSED:
        conn_hold(conn, input);
        return false;
    case WRIT_HTTP_COMPLETE:
        call->complete = true;
        return true;
    case WRIT_HTTP_MORE:
        break;
    }
    if (writ_http_response_has_head(call->response)) {
        call->phase_due_us = writ_http_parts_after(conn->client, call->idle_us);
        conn_arm(conn);
    }
    return true;
}

/* `unread`: bytes may be left after the last read */
static void
conn_settle(struct writ_http_conn *conn, bool unread)
{
    if (conn->call->paused) {
        return; /* continues when it is resumed */
    }
    if (unread && writ_socket_peek(conn->socket) == WRIT_SOCKET_DONE) {
        writ_http_conn_fail(conn, WRIT_HTTP_PROTOCOL_ERROR, "bytes after the end of the response");
        return;
    }
    conn_complete(conn);
}

static void
conn_ended(struct writ_http_conn *conn, enum writ_socket_io io)
{
    struct writ_http_call *call = conn->call;
    const char *detail = NULL;
    enum writ_http_reason reason;

    if (io == WRIT_SOCKET_FAILED) {
        writ_http_conn_fail(conn, WRIT_HTTP_CLOSED_EARLY, writ_socket_fault(conn->socket));
        return;
    }
    if (writ_http_response_finish(call->response) == WRIT_HTTP_COMPLETE) {
        call->complete = true;
        conn_settle(conn, false);
        return;
    }
    reason = writ_http_response_fault(call->response, &detail);
    writ_http_conn_fail(conn, reason, detail);
}

/* One read, and its bytes. False: nothing more to do now. A short read has emptied a plain socket;
 * another edge announces later bytes (epoll(7)).
 */
static bool
conn_read_once(struct writ_http_conn *conn, bool to_the_end)
{
    char *input = conn->client->input;
    bool secure = writ_socket_is_secure(conn->socket), full;
    size_t got = 0;
    enum writ_socket_io io = writ_socket_read(conn->socket, input, WRIT_HTTP_CHUNK_BYTES, &got);

    switch (io) {
    case WRIT_SOCKET_AGAIN:
        if (conn->write_broken) {
            writ_http_conn_fail(conn, WRIT_HTTP_WRITE_FAILED, writ_socket_fault(conn->socket));
        }
        return false;
    case WRIT_SOCKET_CLOSED:
    case WRIT_SOCKET_FAILED:
        conn_ended(conn, io);
        return false;
    case WRIT_SOCKET_DONE:
        break;
    }
    if (!conn_feed(conn, writ_view(input, got))) {
        return false;
    }
    full = secure || got == WRIT_HTTP_CHUNK_BYTES;
    if (conn->call->complete) {
        conn_settle(conn, full);
        return false;
    }
    return full || to_the_end;
}

static void
conn_read(struct writ_http_conn *conn, bool to_the_end)
{
    for (int i = 0; i < READS_MAX; i++) {
        if (conn->call == NULL || conn->call->paused || !conn_read_once(conn, to_the_end)) {
            return;
        }
    }
    writ_loop_defer(conn->client->loop, &conn->task, WRIT_LOOP_LAST);
}

/* after a pause, or when a turn was not enough */
static void
conn_go_on(struct writ_task *task)
{
    struct writ_http_conn *conn = task->ctx;
    struct writ_http_call *call = conn->call;

    if (call == NULL || call->paused) {
        return;
    }
    if (call->held) {
        struct writ_view rest = writ_buf_view(&conn->rest);
        call->held = false;
        if (!conn_feed(conn, writ_view_sub(rest, conn->rest_at, rest.len))) {
            return;
        }
        writ_buf_clear(&conn->rest);
        conn->rest_at = 0;
    }
    if (call->complete) {
        conn_settle(conn, true);
        return;
    }
    conn_read(conn, true);
}

void
writ_http_conn_resume(struct writ_http_conn *conn)
{
    struct writ_http_call *call = conn->call;

    if (writ_http_response_has_head(call->response)) {
        call->phase_due_us = writ_http_parts_after(conn->client, call->idle_us);
    }
    conn_arm(conn);
    writ_loop_defer(conn->client->loop, &conn->task, WRIT_LOOP_SOON);
}

/* ---- writing */

static void
conn_write_failed(struct writ_http_conn *conn)
{
    struct writ_http_call *call = conn->call;

    if (call->sent) {
        conn->write_broken = true; /* an answer may be here already, such as a 413 */
        writ_loop_defer(conn->client->loop, &conn->task, WRIT_LOOP_SOON); /* keeps (5) */
    } else if (conn->used) {
        writ_http_call_requeue(call);
        writ_http_conn_close(conn);
    } else {
        writ_http_conn_fail(conn, WRIT_HTTP_WRITE_FAILED, writ_socket_fault(conn->socket));
    }
}

static void
conn_write(struct writ_http_conn *conn)
{
    struct writ_http_call *call = conn->call;
    size_t all = call->head.len + call->body.len;

    while (call->written < all && !conn->write_broken) {
        size_t in_body = call->written > call->head.len ? call->written - call->head.len : 0;
        struct writ_view views[2] = {
            writ_view_sub(writ_buf_view(&call->head), call->written, call->head.len),
            writ_view_sub(call->body, in_body, call->body.len),
        };
        size_t first = views[0].len > 0 ? 0 : 1, taken = 0;
        enum writ_socket_io io;

        if (!call->sent && call->may_begin != NULL && !call->may_begin(call->begin_ctx)) {
            writ_http_conn_fail(conn, WRIT_HTTP_WITHHELD, NULL);
            return;
        }
        if (writ_socket_is_secure(conn->socket)) {
            call->sent = true; /* keeps (2) */
        }
        io = writ_socket_write(
            conn->socket, &views[first], views[1].len > 0 ? 2 - first : 1, &taken);
        switch (io) {
        case WRIT_SOCKET_DONE:
            call->sent = true;
            call->written += taken;
            break;
        case WRIT_SOCKET_AGAIN:
            return;
        case WRIT_SOCKET_CLOSED:
        case WRIT_SOCKET_FAILED:
            conn_write_failed(conn);
            return;
        }
    }
}

void
writ_http_conn_attach(struct writ_http_conn *conn, struct writ_http_call *call)
{
    struct writ_http_client *client = conn->client;

    if (conn->idle) {
        TAILQ_REMOVE(&client->idle, conn, idle_link);
        client->stats.idle--;
        conn->idle = false;
        client->stats.reused += conn->used ? 1 : 0;
    }
    if (call->state == WRIT_HTTP_CALL_WAITING) {
        TAILQ_REMOVE(&client->waiting, call, link);
        client->stats.waiting--;
        writ_loop_timer_cancel(&call->timer);
    }
    call->state = WRIT_HTTP_CALL_BUSY;
    call->conn = conn;
    conn->call = call;
    client->stats.active++;
    writ_http_response_begin(call->response, call->no_body, call->body_max);
    call->phase_due_us = writ_http_parts_after(client, call->head_us);
    conn_arm(conn);
    conn_write(conn);
}

/* ---- events */

static void
conn_event(struct writ_watch *watch, uint32_t events)
{
    struct writ_http_conn *conn = watch->ctx;
    bool secure = writ_socket_is_secure(conn->socket);

    if (conn->call == NULL) {
        if ((events & ~(uint32_t)EPOLLOUT) != 0 &&
            writ_socket_peek(conn->socket) != WRIT_SOCKET_AGAIN) {
            writ_http_conn_close(conn); /* it ended, or sent bytes without a request */
        }
        return;
    }
    if ((events & EPOLLOUT) != 0 || secure) {
        conn_write(conn);
    }
    if (conn->call != NULL && (secure || (events & ~(uint32_t)EPOLLOUT) != 0)) {
        conn_read(conn, (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0);
    }
}

struct writ_http_conn *
writ_http_conn_new(struct writ_http_client *client, struct writ_socket *socket)
{
    struct writ_http_conn *conn = writ_alloc(sizeof *conn);

    if (conn == NULL) {
        return NULL;
    }
    conn->client = client;
    conn->socket = socket;
    conn->keep_us = client->options.keep_us;
    conn->timer = (struct writ_timer){.fn = conn_timer, .ctx = conn};
    conn->task = (struct writ_task){.fn = conn_go_on, .ctx = conn};
    conn->rest = writ_buf_make(WRIT_HTTP_CHUNK_BYTES);
    /* registered once, for its whole life: no system call per request */
    if (!writ_is_ok(writ_loop_watch(client->loop, &conn->watch, writ_socket_fd(socket),
            EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, conn_event, conn, NULL))) {
        writ_free(conn);
        return NULL;
    }
    TAILQ_INSERT_TAIL(&client->conns, conn, link);
    client->stats.open++;
    client->stats.opened++;
    return conn;
}
