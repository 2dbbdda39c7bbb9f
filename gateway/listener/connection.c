/* connection.c
 *
 * Invariants:
 *  (1) a connection lives until libmicrohttpd has closed it and its request, if any, was freed.
 *  (2) only libmicrohttpd closes its descriptor. A connection that is cut gets a timeout of its own
 * there: libmicrohttpd then checks it in every run and closes it when a second passes without a
 * byte. The socket is shut down, so that no more bytes come.
 *  (3) the connection of a stalled body is suspended until bytes come. libmicrohttpd 0.9.75 would
 *      try to continue it in every run: a body whose chunk line fills the read buffer is never read
 *      from again, and always counts as work. */
#include "gateway/listener/connection.h"

#include "gateway/listener/daemon.h"
#include "gateway/listener/linger.h"
#include "gateway/listener/metrics.h"
#include "gateway/listener/problem.h"
#include "gateway/listener/site.h"

#include <gnutls/gnutls.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define CONNECTION_MAGIC 0x57434f4eU
#define CUT_TIMEOUT_S    1U /* the smallest timeout of libmicrohttpd */

struct writ_connection *
writ_connection_of(struct MHD_Connection *mhd)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    struct writ_connection *connection = info != NULL ? info->socket_context : NULL;

    WRIT_INVARIANT(connection != NULL && connection->magic == CONNECTION_MAGIC);
    return connection;
}

/* ---- addresses */

static void
note_peer(struct writ_connection *connection, const union writ_ipport *from)
{
    if (from->any.sa_family == AF_UNIX) {
        connection->peer.address = WRIT_LIT("unix");
        connection->peer.loopback = true;
        connection->peer.same_user = true; /* acceptor.c closes others */
        return;
    }
    connection->peer.address = writ_ipport_text(from, true, connection->address);
    connection->peer.loopback = writ_ipport_is_loopback(from);
}

static void
note_local(struct writ_connection *connection)
{
    union writ_ipport local = {0};
    socklen_t size = sizeof local;

    if (getsockname(connection->fd, &local.any, &size) == 0) {
        connection->local = writ_ipport_text(&local, false, connection->local_text);
    }
}

/* ---- bytes of our own */

/* All or nothing: a part cannot be taken back. */
bool
writ_connection_send(struct writ_connection *connection, struct writ_view bytes)
{
    if (connection->peer.tls) {
        const union MHD_ConnectionInfo *info =
            MHD_get_connection_info(connection->mhd, MHD_CONNECTION_INFO_GNUTLS_SESSION);
        return info != NULL &&
               gnutls_record_send(info->tls_session, bytes.ptr, bytes.len) == (ssize_t)bytes.len;
    }
    return send(connection->fd, bytes.ptr, bytes.len, MSG_NOSIGNAL | MSG_DONTWAIT) ==
           (ssize_t)bytes.len;
}

/* ---- life */

/* Bytes and FIN that arrive together are one edge for libmicrohttpd; it reads the bytes and waits
 * for another edge. Shutting down the reading side, which has ended anyway, makes one. */
static void
show_fin(struct writ_connection *connection)
{
    (void)shutdown(connection->fd, SHUT_RD);
}

void
writ_connection_resume(struct writ_connection *connection)
{
    if (connection->suspended) {
        connection->suspended = false;
        connection->held = false;
        connection->on_room = NULL;
        MHD_resume_connection(connection->mhd);
    }
}

bool
writ_connection_await_room(
    struct writ_connection *connection, void (*fn)(struct writ_connection *connection))
{
    if (!writ_is_ok(writ_loop_rewatch(&connection->watch, EPOLLOUT | EPOLLRDHUP | EPOLLET, NULL))) {
        return false;
    }
    connection->on_room = fn;
    if (!connection->suspended) {
        connection->suspended = true;
        MHD_suspend_connection(connection->mhd);
    }
    return true;
}

static void
on_watch(struct writ_watch *watch, uint32_t events)
{
    struct writ_connection *connection = watch->ctx;

    if ((events & (EPOLLHUP | EPOLLERR)) != 0) {
        writ_connection_cut(connection);
        return;
    }
    if (connection->on_room != NULL && (events & EPOLLOUT) != 0) {
        connection->on_room(connection);
    }
    if (connection->held) {
        writ_connection_resume(connection);
        writ_daemon_poke(connection->daemon, 1);
    }
    if ((events & EPOLLRDHUP) == 0) {
        return; /* bytes, which a held connection waited for once */
    }
    connection->fin = true;
    if (connection->probe_after_us >= 0) {
        writ_connection_after_fin(connection, connection->probe_after_us, connection->probe.fn);
    }
    if (connection->phase != WRIT_CONNECTION_OPEN && connection->phase != WRIT_CONNECTION_WRITE) {
        show_fin(connection);
    }
}

struct writ_connection *
writ_connection_new(struct writ_daemon *daemon, int fd, const union writ_ipport *from)
{
    struct writ_acceptor *acceptor = daemon->acceptor;
    struct writ_connection *connection = writ_alloc(sizeof *connection);

    if (connection == NULL) {
        return NULL;
    }
    connection->magic = CONNECTION_MAGIC;
    connection->fd = fd;
    connection->daemon = daemon;
    connection->probe_after_us = -1;
    connection->probe.ctx = connection;
    note_peer(connection, from);
    connection->peer.tls = daemon->certificate != NULL;
    if (acceptor->site->wildcard) {
        note_local(connection);
    }
    if (!writ_is_ok(writ_loop_watch(acceptor->loop, &connection->watch, fd, EPOLLRDHUP | EPOLLET,
            on_watch, connection, NULL))) {
        writ_free(connection);
        return NULL;
    }
    return connection;
}

void
writ_connection_free(struct writ_connection *connection)
{
    connection->magic = 0;
    writ_free(connection->certificate);
    writ_free(connection);
}

void
writ_connection_set_phase(
    struct writ_connection *connection, enum writ_connection_phase phase, int64_t timeout_ms)
{
    int64_t now = writ_loop_now_us(connection->daemon->acceptor->loop);

    connection->phase = phase;
    connection->deadline_us = timeout_ms > 0 ? now + timeout_ms * 1000 : 0;
    if (phase == WRIT_CONNECTION_IDLE && connection->daemon->acceptor->draining) {
        connection->deadline_us = now + WRIT_DRAIN_GRACE_US;
    }
    if (phase == WRIT_CONNECTION_IDLE && connection->fin) {
        show_fin(connection);
    }
}

/* libmicrohttpd has no call that closes a connection. It sees that the socket is shut down, and a
 * failed request is refused at its next callback; the timeout closes a connection that waits for
 * neither. keeps (2) */
void
writ_connection_cut(struct writ_connection *connection)
{
    if (connection->request != NULL) {
        connection->request->failed = true;
    }
    connection->dead = true;
    (void)shutdown(connection->fd, SHUT_RDWR);
    (void)MHD_set_connection_option(connection->mhd, MHD_CONNECTION_OPTION_TIMEOUT, CUT_TIMEOUT_S);
    writ_connection_resume(connection);
    writ_daemon_poke(connection->daemon, 2);
}

void
writ_connection_after_fin(
    struct writ_connection *connection, int64_t after_us, void (*fn)(struct writ_timer *timer))
{
    struct writ_loop *loop = connection->watch.loop;

    connection->probe_after_us = after_us;
    connection->probe.fn = fn;
    if (connection->fin) {
        writ_loop_timer_set(loop, &connection->probe, writ_loop_now_us(loop) + after_us);
    }
}

/* ---- deadlines */

/* An answer from outside libmicrohttpd, for a request that cannot be answered through it. */
void
writ_connection_refuse(struct writ_connection *connection, const struct writ_framing_fault *fault,
    const char *status_line)
{
    writ_auto_buf body = writ_buf_make(4096);
    writ_auto_buf all = writ_buf_make(8192);
    struct writ_view type;

    type = writ_problem_refusal(
        connection->request != NULL ? connection->request->route : NULL, fault, &body);
    writ_buf_fmt(&all, "HTTP/1.1 %s\r\nConnection: close\r\n", status_line);
    writ_buf_fmt(&all, "Content-Type: " WRIT_VIEW_FMT "\r\nContent-Length: %zu\r\n\r\n",
        WRIT_VIEW_ARG(type), body.len);
    writ_buf_put(&all, writ_buf_view(&body));
    writ_metrics_mark(connection->daemon->acceptor->metrics, WRIT_VECTOR_REFUSALS, fault->reason);
    writ_metrics_mark(
        connection->daemon->acceptor->metrics, WRIT_VECTOR_STATUS, fault->status / 100);
    connection->refused = true;
    if (writ_is_ok(writ_buf_check(&all, NULL))) {
        (void)writ_connection_send(connection, writ_buf_view(&all));
    }
}

/* The number of bytes that libmicrohttpd has taken from the socket so far, and the number that wait
 * there. False where the kernel does not count them: on a Unix socket, before Linux 4.1, under
 * QEMU's user mode. Only body_timeout ends such a body. */
static bool
count_bytes(const struct writ_connection *connection, uint64_t *ret_taken, int *ret_waiting)
{
    struct tcp_info info = {0};
    socklen_t size = sizeof info;

    if (ioctl(connection->fd, FIONREAD, ret_waiting) != 0 ||
        getsockopt(connection->fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0 ||
        info.tcpi_bytes_received == 0) { /* although the head has come */
        return false;
    }
    *ret_taken = info.tcpi_bytes_received - (uint64_t)*ret_waiting;
    return true;
}

/* keeps (3) */
static void
hold(struct writ_connection *connection)
{
    if (writ_is_ok(writ_loop_rewatch(&connection->watch, EPOLLIN | EPOLLRDHUP | EPOLLET, NULL))) {
        connection->suspended = true;
        connection->held = true;
        MHD_suspend_connection(connection->mhd);
    }
}

/* Bytes or a FIN that libmicrohttpd leaves in the socket after a run are behind a chunk line or a
 * trailer that does not fit into its buffer: that request cannot complete. */
static void
look_at_body(struct writ_connection *connection)
{
    static const struct writ_framing_fault large = {
        431, WRIT_REASON_HEAD_TOO_LARGE, "a chunk line or the trailer"};
    uint64_t taken = 0;
    int waiting = 0;

    if (connection->suspended || !count_bytes(connection, &taken, &waiting)) {
        return;
    }
    if (taken != connection->taken) {
        connection->taken = taken;
        connection->ignored = waiting > 0;
    } else if (waiting == 0 && !connection->fin) {
        hold(connection);
    } else if (connection->ignored) {
        writ_connection_refuse(connection, &large, "431 Request Header Fields Too Large");
        writ_connection_cut(connection);
        return;
    } else {
        connection->ignored = true;
    }
    if (waiting > 0 || connection->fin) {
        writ_daemon_poke(connection->daemon, 1);
    }
}

static void
expire(struct writ_connection *connection)
{
    static const struct writ_framing_fault late = {408, WRIT_REASON_REQUEST_TIMEOUT, NULL};

    switch (connection->phase) {
    case WRIT_CONNECTION_HEAD:
    case WRIT_CONNECTION_BODY:
        writ_connection_refuse(connection, &late, "408 Request Timeout");
        break;
    case WRIT_CONNECTION_FRESH:
    case WRIT_CONNECTION_OPEN:
    case WRIT_CONNECTION_WRITE:
    case WRIT_CONNECTION_IDLE:
        break;
    }
    writ_connection_cut(connection);
}

void
writ_connection_sweep(struct writ_connection *connection, int64_t now_us)
{
    if (connection->dead) {
        writ_daemon_visit(connection->daemon);
        return;
    }
    if (connection->deadline_us > 0 && now_us >= connection->deadline_us) {
        expire(connection);
        return;
    }
    if (connection->phase == WRIT_CONNECTION_BODY) {
        look_at_body(connection);
    }
}

/* ---- libmicrohttpd opens and closes */

static void
on_closed(struct writ_connection *connection)
{
    struct writ_daemon *daemon = connection->daemon;
    struct writ_acceptor *acceptor = daemon->acceptor;

    writ_loop_unwatch(&connection->watch);
    writ_loop_timer_cancel(&connection->probe);
    if (connection->refused && !connection->dead && !acceptor->closing) {
        writ_linger_begin(acceptor, connection->fd);
    }
    *connection->link = connection->next;
    if (connection->next != NULL) {
        connection->next->link = connection->link;
    }
    if (connection->peer.tls && connection->phase == WRIT_CONNECTION_FRESH) {
        writ_metrics_count(acceptor->metrics, WRIT_COUNTER_TLS_FAILURES, 1);
    }
    writ_metrics_gauge(acceptor->metrics, WRIT_GAUGE_CONNECTIONS_OPEN, -1);
    acceptor->connection_count--;
    atomic_store_explicit(
        &acceptor->connections_seen, acceptor->connection_count, memory_order_relaxed);
    daemon->connections--;
    connection->closed = true;
    if (connection->request == NULL) { /* keeps (1) */
        writ_connection_free(connection);
    }
}

void
writ_connection_on_notify(void *cls, struct MHD_Connection *mhd, void **socket_ctx,
    enum MHD_ConnectionNotificationCode code)
{
    struct writ_daemon *daemon = cls;
    struct writ_acceptor *acceptor = daemon->acceptor;

    switch (code) {
    case MHD_CONNECTION_NOTIFY_STARTED: {
        struct writ_connection *connection = acceptor->adding;
        acceptor->adding = NULL;
        connection->mhd = mhd;
        connection->next = acceptor->connections;
        connection->link = &acceptor->connections;
        if (connection->next != NULL) {
            connection->next->link = &connection->next;
        }
        acceptor->connections = connection;
        acceptor->connection_count++;
        atomic_store_explicit(
            &acceptor->connections_seen, acceptor->connection_count, memory_order_relaxed);
        daemon->connections++;
        writ_metrics_gauge(acceptor->metrics, WRIT_GAUGE_CONNECTIONS_OPEN, 1);
        *socket_ctx = connection;
        break;
    }
    case MHD_CONNECTION_NOTIFY_CLOSED:
        on_closed(*socket_ctx);
        break;
    }
}
