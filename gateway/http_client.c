#include "gateway/http_client.h"

#include "gateway/dial.h"
#include "gateway/http_request.h"

#include <sys/epoll.h>
#include <sys/queue.h>

/* Invariants
 * (1) A call is WAITING (in waiting, no connection), BUSY (it and its connection point to each
 *     other) or ENDED (in ended, no connection); only finish() leaves ENDED, by calling on_end.
 * (2) sent is set before the first byte can have left: after a plain write that took something,
 *     before any write under TLS. A call that is sent never goes back to WAITING.
 * (3) Calls and connections that end are freed by finish() alone, which runs as a task: whoever is
 *     on the stack (a reader whose body callback cancelled its own call) finds them still there.
 * (4) A connection is idle only after a whole response, with nothing unread, that allows it.
 * (5) No function of the header calls back; only events, timers, tasks and answers do. */

#define CONNECTIONS_DEFAULT 256
#define WAITING_DEFAULT     1024
#define CONNECT_US_DEFAULT  (INT64_C(5) * 1000 * 1000)
#define KEEP_US_DEFAULT     (INT64_C(30) * 1000 * 1000)
#define ADDRESS_US_DEFAULT  (INT64_C(30) * 1000 * 1000)
#define SPARE_CALLS_MAX     64
#define READS_MAX           16 /* of one connection in one turn: the others have a turn too */
#define NEVER_US            INT64_MAX

enum call_state {
    CALL_SPARE = 0,
    CALL_WAITING,
    CALL_BUSY,
    CALL_ENDED,
};

struct conn;

struct writ_http_call {
    enum call_state state;
    struct writ_http_client *client;
    struct conn *conn;
    const struct writ_http_handler *handler;
    void *ctx;
    struct writ_buf head;
    struct writ_view body;
    size_t written; /* of head and body together */
    bool sent, no_body, paused, held, complete;
    uint64_t body_max;
    int64_t head_us, idle_us, total_due_us, phase_due_us;
    struct writ_timer timer; /* while WAITING */
    struct writ_http_response *response;
    struct writ_http_end end;
    TAILQ_ENTRY(writ_http_call) link;
};

struct conn {
    struct writ_http_client *client;
    struct writ_socket *socket;
    struct writ_watch watch;
    struct writ_timer timer; /* of the call, or of being idle: it never leaves the heap between */
    struct writ_task task;   /* go on reading */
    struct writ_http_call *call;
    struct writ_buf rest; /* read, and held back by a pause, from rest_at on */
    size_t rest_at;
    bool used, idle, dead, write_broken;
    TAILQ_ENTRY(conn) link; /* in conns, or in doomed */
    TAILQ_ENTRY(conn) idle_link;
};

struct dialing {
    struct writ_http_client *client;
    struct writ_dial *dial;
    TAILQ_ENTRY(dialing) link;
};

TAILQ_HEAD(call_list, writ_http_call);
TAILQ_HEAD(conn_list, conn);
TAILQ_HEAD(dialing_list, dialing);

struct writ_http_client {
    struct writ_loop *loop;
    struct writ_resolver *resolver;
    struct writ_http_options options;
    struct writ_http_origin origin;
    struct writ_tls *tls; /* NULL: plain */

    struct writ_addresses addresses;
    int64_t addresses_until_us;
    size_t address_first;
    struct writ_question *question; /* under way, or NULL */

    struct conn_list conns, doomed, idle;
    struct dialing_list dialing;
    struct call_list waiting, ended, spare;
    size_t spare_count;
    struct writ_http_stats stats;
    struct writ_task finish_task;
    bool closing;
    char input[WRIT_HTTP_CHUNK_BYTES];
};

static void dispatch(struct writ_http_client *client);
static void conn_read(struct conn *conn, bool to_the_end);

/* ---- ends */

static void
call_end(struct writ_http_call *call, enum writ_http_reason reason, const char *detail)
{
    struct writ_http_client *client = call->client;

    switch (call->state) {
    case CALL_WAITING:
        TAILQ_REMOVE(&client->waiting, call, link);
        client->stats.waiting--;
        break;
    case CALL_BUSY:
        call->conn->call = NULL;
        call->conn = NULL;
        client->stats.active--;
        break;
    case CALL_SPARE:
    case CALL_ENDED:
        return;
    }
    writ_loop_timer_cancel(&call->timer);
    call->state = CALL_ENDED;
    call->end = (struct writ_http_end){
        .reason = reason,
        .sent = call->sent ? WRIT_HTTP_SENT : WRIT_HTTP_NOT_SENT,
        .detail = detail,
    };
    TAILQ_INSERT_TAIL(&client->ended, call, link);
    writ_loop_defer(client->loop, &client->finish_task, WRIT_LOOP_SOON);
}

static void
conn_close(struct conn *conn)
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

/* ends the call of a connection that cannot go on */
static void
conn_fail(struct conn *conn, enum writ_http_reason reason, const char *detail)
{
    if (conn->write_broken && reason == WRIT_HTTP_CLOSED_EARLY) {
        reason = WRIT_HTTP_WRITE_FAILED; /* that came first */
    }
    if (conn->call != NULL) {
        call_end(conn->call, reason, detail);
    }
    conn_close(conn);
}

static void
call_free(struct writ_http_call *call)
{
    writ_http_response_free(call->response);
    writ_buf_wipe_secret(&call->head); /* a credential is in it */
    writ_free(call);
}

static void
call_recycle(struct writ_http_call *call)
{
    struct writ_http_client *client = call->client;

    if (client->spare_count >= SPARE_CALLS_MAX) {
        call_free(call);
        return;
    }
    writ_wipe(call->head.ptr, call->head.len); /* a credential was in it */
    call->state = CALL_SPARE;
    client->spare_count++;
    TAILQ_INSERT_HEAD(&client->spare, call, link);
}

static void
finish(struct writ_task *task)
{
    struct writ_http_client *client = task->ctx;
    struct writ_http_call *call;
    struct conn *conn;

    while ((call = TAILQ_FIRST(&client->ended)) != NULL) {
        TAILQ_REMOVE(&client->ended, call, link);
        call->handler->on_end(call->ctx, call, &call->end);
        call_recycle(call);
    }
    while ((conn = TAILQ_FIRST(&client->doomed)) != NULL) {
        TAILQ_REMOVE(&client->doomed, conn, link);
        writ_buf_wipe(&conn->rest);
        writ_free(conn);
    }
    if (!client->closing) {
        dispatch(client); /* what was closed made room */
    }
}

/* ---- deadlines */

static int64_t
after(const struct writ_http_client *client, int64_t span_us)
{
    return span_us > 0 ? writ_loop_now_us(client->loop) + span_us : NEVER_US;
}

static void
conn_arm(struct conn *conn)
{
    const struct writ_http_call *call = conn->call;
    int64_t due_us = call->total_due_us;

    if (!call->paused && call->phase_due_us < due_us) {
        due_us = call->phase_due_us;
    }
    if (due_us != NEVER_US) {
        writ_loop_timer_set(conn->client->loop, &conn->timer, due_us);
    }
}

static void
conn_timer(struct writ_timer *timer)
{
    struct conn *conn = timer->ctx;
    struct writ_http_call *call = conn->call;
    int64_t now_us = writ_loop_now_us(conn->client->loop);

    if (call == NULL) {
        conn_close(conn);
    } else if (now_us >= call->total_due_us) {
        conn_fail(conn, WRIT_HTTP_TOTAL_TIMEOUT, NULL);
    } else if (!call->paused && now_us >= call->phase_due_us) {
        bool has_head = writ_http_response_has_head(call->response);
        conn_fail(conn, has_head ? WRIT_HTTP_IDLE_TIMEOUT : WRIT_HTTP_HEAD_TIMEOUT, NULL);
    } else {
        conn_arm(conn);
    }
}

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

    call_end(call, total ? WRIT_HTTP_TOTAL_TIMEOUT : WRIT_HTTP_CONNECT_TIMEOUT,
        "no connection was free");
}

/* ---- reading */

/* the whole response is here: the call is done, the connection may serve another */
static void
conn_complete(struct conn *conn)
{
    struct writ_http_client *client = conn->client;
    struct writ_http_call *call = conn->call;
    bool keep = writ_http_response_keeps_open(call->response) && !conn->write_broken &&
                call->written == call->head.len + call->body.len && !client->closing &&
                client->stats.idle < client->options.idle_max;

    call_end(call, WRIT_HTTP_OK, NULL);
    if (!keep) {
        conn_close(conn);
        return;
    }
    conn->used = true; /* keeps (4) */
    conn->idle = true;
    TAILQ_INSERT_HEAD(&client->idle, conn, idle_link);
    client->stats.idle++;
    writ_loop_timer_set(
        client->loop, &conn->timer, writ_loop_now_us(client->loop) + client->options.keep_us);
    dispatch(client);
}

/* keeps what a pause held back */
static void
conn_hold(struct conn *conn, struct writ_view input)
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
        conn_fail(conn, WRIT_HTTP_NO_RESOURCES, "no memory for held bytes");
    }
}

/* hands bytes to the reader of the response; false: do not go on reading now */
static bool
conn_feed(struct conn *conn, struct writ_view input)
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
        conn_fail(conn, reason, detail);
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
        call->phase_due_us = after(conn->client, call->idle_us);
        conn_arm(conn);
    }
    return true;
}

/* `unread`: the last read may have left bytes behind */
static void
conn_settle(struct conn *conn, bool unread)
{
    if (conn->call->paused) {
        return; /* told when it is resumed */
    }
    if (unread && writ_socket_peek(conn->socket) == WRIT_SOCKET_DONE) {
        conn_fail(conn, WRIT_HTTP_PROTOCOL_ERROR, "bytes after the end of the response");
        return;
    }
    conn_complete(conn);
}

static void
conn_ended(struct conn *conn, enum writ_socket_io io)
{
    struct writ_http_call *call = conn->call;
    const char *detail = NULL;
    enum writ_http_reason reason;

    if (io == WRIT_SOCKET_FAILED) {
        conn_fail(conn, WRIT_HTTP_CLOSED_EARLY, writ_socket_fault(conn->socket));
        return;
    }
    if (writ_http_response_finish(call->response) == WRIT_HTTP_COMPLETE) {
        call->complete = true;
        conn_settle(conn, false);
        return;
    }
    reason = writ_http_response_fault(call->response, &detail);
    conn_fail(conn, reason, detail);
}

/* One read, and what it brings. False: there is nothing more to do now. A read that brings less
 * than it could has emptied a plain socket; another edge tells of what comes after it (epoll(7)).
 */
static bool
conn_read_once(struct conn *conn, bool to_the_end)
{
    char *input = conn->client->input;
    bool secure = writ_socket_is_secure(conn->socket), full;
    size_t got = 0;
    enum writ_socket_io io = writ_socket_read(conn->socket, input, WRIT_HTTP_CHUNK_BYTES, &got);

    switch (io) {
    case WRIT_SOCKET_AGAIN:
        if (conn->write_broken) {
            conn_fail(conn, WRIT_HTTP_WRITE_FAILED, writ_socket_fault(conn->socket));
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
conn_read(struct conn *conn, bool to_the_end)
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
    struct conn *conn = task->ctx;
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

/* ---- writing */

/* the pooled connection was dead: nothing was sent, so the call may take another one */
static void
call_requeue(struct writ_http_call *call)
{
    struct writ_http_client *client = call->client;

    call->conn->call = NULL;
    call->conn = NULL;
    client->stats.active--;
    call->state = CALL_WAITING;
    TAILQ_INSERT_HEAD(&client->waiting, call, link);
    client->stats.waiting++;
    writ_loop_timer_set(
        client->loop, &call->timer, writ_loop_now_us(client->loop) + client->options.connect_us);
}

static void
conn_write_failed(struct conn *conn)
{
    struct writ_http_call *call = conn->call;

    if (call->sent) {
        conn->write_broken = true; /* an answer may be here already, such as a 413 */
        writ_loop_defer(conn->client->loop, &conn->task, WRIT_LOOP_SOON); /* keeps (5) */
    } else if (conn->used) {
        call_requeue(call);
        conn_close(conn);
    } else {
        conn_fail(conn, WRIT_HTTP_WRITE_FAILED, writ_socket_fault(conn->socket));
    }
}

static void
conn_write(struct conn *conn)
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

static void
conn_attach(struct conn *conn, struct writ_http_call *call)
{
    struct writ_http_client *client = conn->client;

    if (conn->idle) {
        TAILQ_REMOVE(&client->idle, conn, idle_link);
        client->stats.idle--;
        conn->idle = false;
        client->stats.reused += conn->used ? 1 : 0;
    }
    if (call->state == CALL_WAITING) {
        TAILQ_REMOVE(&client->waiting, call, link);
        client->stats.waiting--;
        writ_loop_timer_cancel(&call->timer);
    }
    call->state = CALL_BUSY;
    call->conn = conn;
    conn->call = call;
    client->stats.active++;
    writ_http_response_begin(call->response, call->no_body, call->body_max);
    call->phase_due_us = after(client, call->head_us);
    conn_arm(conn);
    conn_write(conn);
}

/* ---- connections */

static void
conn_event(struct writ_watch *watch, uint32_t events)
{
    struct conn *conn = watch->ctx;
    bool secure = writ_socket_is_secure(conn->socket);

    if (conn->call == NULL) {
        if ((events & ~(uint32_t)EPOLLOUT) != 0 &&
            writ_socket_peek(conn->socket) != WRIT_SOCKET_AGAIN) {
            conn_close(conn); /* it ended, or speaks without being asked */
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

/* an idle connection that is still alive as far as can be seen */
static struct conn *
take_idle(struct writ_http_client *client)
{
    struct conn *conn;

    while ((conn = TAILQ_FIRST(&client->idle)) != NULL) {
        if (writ_socket_peek(conn->socket) == WRIT_SOCKET_AGAIN) {
            return conn;
        }
        conn_close(conn);
    }
    return NULL;
}

static struct conn *
conn_new(struct writ_http_client *client, struct writ_socket *socket)
{
    struct conn *conn = writ_alloc(sizeof *conn);

    if (conn == NULL) {
        return NULL;
    }
    conn->client = client;
    conn->socket = socket;
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

/* a connection attempt failed: it was for the call that waits longest, unless another one comes */
static void
fail_oldest(struct writ_http_client *client, enum writ_http_reason reason, const char *detail)
{
    if (client->stats.waiting > client->stats.connecting) {
        call_end(TAILQ_FIRST(&client->waiting), reason, detail);
    }
}

static void
dial_done(void *ctx, struct writ_dial *dial, const struct writ_dial_result *result)
{
    struct dialing *dialing = ctx;
    struct writ_http_client *client = dialing->client;
    struct conn *conn;

    (void)dial;
    TAILQ_REMOVE(&client->dialing, dialing, link);
    client->stats.connecting--;
    writ_free(dialing);
    if (result->reason != WRIT_HTTP_OK) {
        client->addresses_until_us = 0; /* ask again: it may have moved */
        fail_oldest(client, result->reason, result->detail);
        return;
    }
    client->address_first = result->index;
    conn = conn_new(client, result->socket);
    if (conn == NULL) {
        writ_socket_close(result->socket);
        fail_oldest(client, WRIT_HTTP_NO_RESOURCES, "no memory for a connection");
        return;
    }
    conn->idle = true; /* for a moment: dispatch takes it */
    TAILQ_INSERT_HEAD(&client->idle, conn, idle_link);
    client->stats.idle++;
    writ_loop_timer_set(
        client->loop, &conn->timer, writ_loop_now_us(client->loop) + client->options.keep_us);
    dispatch(client);
}

static bool
dial_one(struct writ_http_client *client)
{
    struct dialing *dialing = writ_alloc(sizeof *dialing);

    if (dialing == NULL) {
        return false;
    }
    dialing->client = client;
    dialing->dial =
        writ_dial_start(client->loop, &client->addresses, client->address_first, client->tls,
            writ_loop_now_us(client->loop) + client->options.connect_us, dial_done, dialing);
    if (dialing->dial == NULL) {
        writ_free(dialing);
        return false;
    }
    TAILQ_INSERT_TAIL(&client->dialing, dialing, link);
    client->stats.connecting++;
    return true;
}

/* ---- addresses */

static void
resolved(void *ctx, const struct writ_addresses *found, const char *fault)
{
    struct writ_http_client *client = ctx;

    client->question = NULL;
    if (found->count == 0) {
        while (!TAILQ_EMPTY(&client->waiting)) {
            call_end(TAILQ_FIRST(&client->waiting), WRIT_HTTP_RESOLVE_FAILED, fault);
        }
        return;
    }
    client->addresses = *found;
    client->address_first = 0;
    client->addresses_until_us = after(client, client->options.address_us);
    dispatch(client);
}

/* true when the addresses may be used now; else they are asked for */
static bool
has_addresses(struct writ_http_client *client)
{
    writ_result r;

    if (writ_loop_now_us(client->loop) < client->addresses_until_us) {
        return true;
    }
    if (writ_resolver_numeric(
            writ_view_str(client->origin.host), client->origin.port, &client->addresses)) {
        client->address_first = 0;
        client->addresses_until_us = NEVER_US;
        return true;
    }
    if (client->question == NULL) {
        r = writ_resolver_ask(client->resolver, client->loop, writ_view_str(client->origin.host),
            client->origin.port, resolved, client, &client->question);
        if (!writ_is_ok(r)) {
            fail_oldest(client, WRIT_HTTP_NO_RESOURCES, "the resolver takes no question");
        }
    }
    return false;
}

/* gives free connections to waiting calls, and opens connections for the rest */
static void
dispatch(struct writ_http_client *client)
{
    struct conn *conn;

    while (!TAILQ_EMPTY(&client->waiting) && (conn = take_idle(client)) != NULL) {
        conn_attach(conn, TAILQ_FIRST(&client->waiting));
    }
    while (client->stats.waiting > client->stats.connecting &&
           client->stats.open + client->stats.connecting < client->options.connections_max &&
           has_addresses(client)) {
        if (!dial_one(client)) {
            fail_oldest(client, WRIT_HTTP_NO_RESOURCES, "no memory to connect");
        }
    }
}

/* ---- calls */

static void
forward_head(void *ctx, const struct writ_http_head *head)
{
    struct writ_http_call *call = ctx;

    if (call->state == CALL_BUSY && call->handler->on_head != NULL) {
        call->handler->on_head(call->ctx, call, head);
    }
}

static void
forward_body(void *ctx, struct writ_view bytes)
{
    struct writ_http_call *call = ctx;

    if (call->state == CALL_BUSY && call->handler->on_body != NULL) {
        call->handler->on_body(call->ctx, call, bytes);
    }
}

static const struct writ_http_response_events events = {forward_head, forward_body};

static struct writ_http_call *
call_take(struct writ_http_client *client)
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

static WRIT_RESULT
call_prepare(struct writ_http_call *call, const struct writ_http_request *request,
    const struct writ_http_handler *handler, void *ctx, struct writ_err *err)
{
    struct writ_http_client *client = call->client;

    call->handler = handler;
    call->ctx = ctx;
    call->body = request->body;
    call->written = 0;
    call->sent = call->paused = call->held = call->complete = false;
    call->no_body = writ_view_is(request->method, "HEAD");
    call->body_max = request->body_max;
    call->head_us = request->head_us;
    call->idle_us = request->idle_us;
    call->total_due_us = after(client, request->total_us);
    writ_buf_clear(&call->head);
    return writ_http_request_put(&call->head, request, &client->origin, err);
}

static void
call_wait(struct writ_http_call *call)
{
    struct writ_http_client *client = call->client;

    call->state = CALL_WAITING;
    TAILQ_INSERT_TAIL(&client->waiting, call, link);
    client->stats.waiting++;
    waiting_arm(call);
    dispatch(client);
}

writ_result
writ_http_client_send(struct writ_http_client *client, const struct writ_http_request *request,
    const struct writ_http_handler *handler, void *ctx, struct writ_http_call **ret,
    struct writ_err *err)
{
    struct writ_http_call *call;
    struct conn *conn;
    writ_result r;

    if (client->stats.waiting >= client->options.waiting_max || client->closing) {
        WRIT_FAIL(err, WRIT_E_BUSY, "%zu calls wait for a connection to %s", client->stats.waiting,
            client->origin.field);
    }
    call = call_take(client);
    if (call == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for a call");
    }
    r = call_prepare(call, request, handler, ctx, err);
    if (!writ_is_ok(r)) {
        call_recycle(call);
        return r;
    }
    *ret = call;
    conn = TAILQ_EMPTY(&client->waiting) ? take_idle(client) : NULL;
    if (conn != NULL) {
        conn_attach(conn, call);
    } else {
        call_wait(call);
    }
    return WRIT_DONE;
}

void
writ_http_client_pause(struct writ_http_call *call)
{
    call->paused = true;
    if (call->state == CALL_BUSY) {
        writ_http_response_pause(call->response);
    }
}

void
writ_http_client_resume(struct writ_http_call *call)
{
    if (!call->paused) {
        return;
    }
    call->paused = false;
    if (call->state == CALL_BUSY) {
        if (writ_http_response_has_head(call->response)) {
            call->phase_due_us = after(call->client, call->idle_us);
        }
        conn_arm(call->conn);
        writ_loop_defer(call->client->loop, &call->conn->task, WRIT_LOOP_SOON);
    }
}

void
writ_http_client_cancel(struct writ_http_call *call)
{
    struct conn *conn = call->conn;

    call_end(call, WRIT_HTTP_CANCELLED, NULL);
    if (conn != NULL) {
        conn_close(conn);
    }
}

bool
writ_http_client_is_sent(const struct writ_http_call *call)
{
    return call->sent;
}

struct writ_http_stats
writ_http_client_stats(const struct writ_http_client *client)
{
    return client->stats;
}

/* ---- life */

static void
set_defaults(struct writ_http_options *options)
{
    options->connections_max =
        options->connections_max > 0 ? options->connections_max : CONNECTIONS_DEFAULT;
    options->idle_max = options->idle_max > 0 ? options->idle_max : options->connections_max;
    options->waiting_max = options->waiting_max > 0 ? options->waiting_max : WAITING_DEFAULT;
    options->connect_us = options->connect_us > 0 ? options->connect_us : CONNECT_US_DEFAULT;
    options->keep_us = options->keep_us > 0 ? options->keep_us : KEEP_US_DEFAULT;
    options->address_us = options->address_us > 0 ? options->address_us : ADDRESS_US_DEFAULT;
}

static WRIT_RESULT
open_tls(struct writ_http_client *client, struct writ_err *err)
{
    struct writ_addresses numeric;
    struct writ_tls_options options = {
        .host = client->origin.host,
        .host_is_address = writ_resolver_numeric(writ_view_str(client->origin.host), 0, &numeric),
        .ca_file = client->options.ca_file,
        .cert_file = client->options.cert_file,
        .key_file = client->options.key_file,
    };

    return client->origin.secure ? writ_tls_open(&options, &client->tls, err) : WRIT_DONE;
}

writ_result
writ_http_client_open(struct writ_loop *loop, struct writ_resolver *resolver,
    const struct writ_http_options *options, struct writ_http_client **ret, struct writ_err *err)
{
    struct writ_http_origin origin;
    struct writ_http_client *client;
    writ_result r;

    WRIT_TRY(writ_http_request_origin(options->url, &origin, err));
    client = writ_alloc(sizeof *client);
    if (client == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for an HTTP client");
    }
    client->loop = loop;
    client->resolver = resolver;
    client->options = *options;
    client->origin = origin;
    set_defaults(&client->options);
    client->finish_task = (struct writ_task){.fn = finish, .ctx = client};
    TAILQ_INIT(&client->conns);
    TAILQ_INIT(&client->doomed);
    TAILQ_INIT(&client->idle);
    TAILQ_INIT(&client->dialing);
    TAILQ_INIT(&client->waiting);
    TAILQ_INIT(&client->ended);
    TAILQ_INIT(&client->spare);
    r = open_tls(client, err);
    if (!writ_is_ok(r)) {
        writ_free(client);
        return r;
    }
    /* what was borrowed for the call of open */
    client->options.url = WRIT_LIT("");
    client->options.ca_file = client->options.cert_file = client->options.key_file = NULL;
    *ret = client;
    return WRIT_DONE;
}

void
writ_http_client_close(struct writ_http_client *client)
{
    struct dialing *dialing;
    struct conn *conn;
    struct writ_http_call *call;

    if (client == NULL) {
        return;
    }
    client->closing = true;
    if (client->question != NULL) {
        writ_resolver_forget(client->question);
    }
    while ((dialing = TAILQ_FIRST(&client->dialing)) != NULL) {
        TAILQ_REMOVE(&client->dialing, dialing, link);
        writ_dial_cancel(dialing->dial);
        writ_free(dialing);
    }
    while ((conn = TAILQ_FIRST(&client->conns)) != NULL) {
        conn_fail(conn, WRIT_HTTP_CANCELLED, NULL);
    }
    while ((call = TAILQ_FIRST(&client->waiting)) != NULL) {
        call_end(call, WRIT_HTTP_CANCELLED, NULL);
    }
    writ_loop_undefer(&client->finish_task);
    finish(&client->finish_task);
    while ((call = TAILQ_FIRST(&client->spare)) != NULL) {
        TAILQ_REMOVE(&client->spare, call, link);
        call_free(call);
    }
    writ_tls_close(client->tls);
    writ_free(client);
}
