/* acceptor.c - accepts a bounded number of connections in a turn and sweeps deadlines by a timer.
 * One spare descriptor is kept, so that a connection can be turned away when no descriptor is
 * left. */
#include "gateway/listener/acceptor.h"

#include "gateway/io/unix_socket.h"
#include "gateway/listener/answer_stream.h"
#include "gateway/listener/certificate.h"
#include "gateway/listener/connection.h"
#include "gateway/listener/daemon.h"
#include "gateway/listener/incoming.h"
#include "gateway/listener/linger.h"
#include "gateway/listener/metrics.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define ACCEPTS_MAX 32     /* in one turn: other events need their turn too */
#define SWEEP_US    250000 /* between two checks of deadlines and heartbeats */

static const char busy[] = "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\n"
                           "Retry-After: 1\r\nContent-Length: 0\r\n\r\n";

static void
turn_away(struct writ_acceptor *acceptor, int fd)
{
    if (acceptor->certificate == NULL) {
        (void)send(fd, busy, sizeof busy - 1, MSG_NOSIGNAL | MSG_DONTWAIT);
    }
    (void)close(fd);
    writ_metrics_count(acceptor->metrics, WRIT_COUNTER_CONNECTIONS_REFUSED, 1);
}

static void
adopt(struct writ_acceptor *acceptor, int fd, const union writ_ipport *from, socklen_t from_len)
{
    const struct writ_listener_options *options = acceptor->options;
    struct writ_connection *connection;
    struct writ_daemon *daemon;

    if (acceptor->connection_count >= options->max_connections) {
        turn_away(acceptor, fd);
        return;
    }
    if (from->any.sa_family == AF_UNIX && !writ_unix_socket_is_ours(fd)) {
        (void)close(fd); /* another user: not even an answer */
        writ_metrics_count(acceptor->metrics, WRIT_COUNTER_CONNECTIONS_REFUSED, 1);
        return;
    }
    daemon = writ_daemon_find(acceptor);
    connection = daemon != NULL ? writ_connection_new(daemon, fd, from) : NULL;
    if (connection == NULL) {
        turn_away(acceptor, fd);
        return;
    }
    writ_connection_set_phase(connection, WRIT_CONNECTION_FRESH, options->head_timeout_ms);
    acceptor->adding = connection;
    writ_metrics_count(acceptor->metrics, WRIT_COUNTER_CONNECTIONS, 1);
    if (MHD_add_connection(daemon->mhd, fd, &from->any, from_len) != MHD_YES &&
        acceptor->adding != NULL) {
        /* refused before it was announced; libmicrohttpd has closed the socket */
        acceptor->adding = NULL;
        writ_loop_unwatch(&connection->watch);
        writ_connection_free(connection);
        return;
    }
    writ_daemon_poke(daemon, 1);
}

/* Without descriptors a waiting connection would keep the loop awake for ever: a spare descriptor
 * is used to accept and drop it. */
static void
drop_one(struct writ_acceptor *acceptor)
{
    int fd;

    if (acceptor->spare_fd >= 0) {
        (void)close(acceptor->spare_fd);
    }
    fd = accept4(acceptor->fd, NULL, NULL, SOCK_CLOEXEC);
    if (fd >= 0) {
        turn_away(acceptor, fd);
    }
    acceptor->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static void
on_accept(struct writ_watch *watch, uint32_t events)
{
    struct writ_acceptor *acceptor = watch->ctx;

    (void)events;
    for (unsigned i = 0; i < ACCEPTS_MAX && acceptor->fd >= 0; i++) {
        union writ_ipport from = {0};
        socklen_t len = sizeof from;
        int fd = accept4(acceptor->fd, &from.any, &len, SOCK_NONBLOCK | SOCK_CLOEXEC);

        if (fd >= 0) {
            adopt(acceptor, fd, &from, len);
        } else if (errno == EMFILE || errno == ENFILE) {
            drop_one(acceptor);
            return;
        } else if (errno != EINTR && errno != ECONNABORTED) {
            return;
        }
    }
}

static void
on_sweep(struct writ_timer *timer)
{
    struct writ_acceptor *acceptor = timer->ctx;
    int64_t now = writ_loop_now_us(acceptor->loop);

    for (struct writ_connection *c = acceptor->connections; c != NULL; c = c->next) {
        writ_connection_sweep(c, now); /* does not close any connection itself: the list stays
                                          valid */
        if (c->request != NULL && !c->dead) {
            writ_answer_stream_sweep(c->request, now);
        }
    }
    writ_incoming_sweep(acceptor);
    writ_loop_timer_set(acceptor->loop, timer, now + SWEEP_US);
}

static void
stop_listening(struct writ_acceptor *acceptor)
{
    writ_loop_unwatch(&acceptor->watch);
    if (acceptor->fd >= 0) {
        (void)close(acceptor->fd);
        acceptor->fd = -1;
    }
}

static void
drain(struct writ_acceptor *acceptor)
{
    int64_t now = writ_loop_now_us(acceptor->loop);

    if (acceptor->draining) {
        return;
    }
    /* closing would reset connections that wait to be accepted: accept them */
    on_accept(&acceptor->watch, EPOLLIN);
    acceptor->draining = true;
    stop_listening(acceptor);
    for (struct writ_connection *c = acceptor->connections; c != NULL; c = c->next) {
        if (c->phase == WRIT_CONNECTION_IDLE) {
            /* a sweep closes it, unless a request comes before; one that is on its way comes in
             * time when the service manager holds the socket for the next process */
            c->deadline_us = now + (acceptor->options->passed != NULL ? WRIT_DRAIN_GRACE_US : 0);
        }
    }
}

/* A turn without events: the requests that had arrived before the drain are open exchanges. */
static void
on_settle(struct writ_task *task)
{
    struct writ_acceptor *acceptor = task->ctx;

    atomic_store(&acceptor->settled, true);
}

static void
on_drain(struct writ_post *post)
{
    struct writ_acceptor *acceptor = post->ctx;

    drain(acceptor);
    writ_loop_defer(acceptor->loop, &acceptor->settle, WRIT_LOOP_IDLE);
}

void
writ_acceptor_drain(struct writ_acceptor *acceptor)
{
    writ_loop_answer(acceptor->loop, &acceptor->drain_post);
}

static void
on_reload(struct writ_post *post)
{
    struct writ_acceptor *acceptor = post->ctx;
    struct writ_certificate *certificate;

    atomic_store(&acceptor->reload_posted, false);
    certificate = atomic_exchange(&acceptor->next_certificate, NULL);
    if (certificate != NULL) {
        writ_certificate_drop(acceptor->certificate);
        acceptor->certificate = certificate;
        writ_daemon_retire_all(acceptor);
    }
}

void
writ_acceptor_reload(struct writ_acceptor *acceptor, struct writ_certificate *certificate)
{
    writ_certificate_drop(
        atomic_exchange(&acceptor->next_certificate, writ_certificate_hold(certificate)));
    if (!atomic_exchange(&acceptor->reload_posted, true)) {
        writ_loop_answer(acceptor->loop, &acceptor->reload_post);
    }
}

WRIT_RESULT
writ_acceptor_open(struct writ_acceptor *acceptor, struct writ_loop *loop, int fd,
    struct writ_certificate *certificate, struct writ_err *err)
{
    size_t index = writ_loop_index(loop);

    acceptor->loop = loop;
    acceptor->metrics = acceptor->options->metrics != NULL
                            ? writ_metrics_shard(acceptor->options->metrics, index)
                            : NULL;
    acceptor->fd = fd;
    acceptor->certificate = writ_certificate_hold(certificate);
    acceptor->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    acceptor->sweep = (struct writ_timer){.fn = on_sweep, .ctx = acceptor};
    acceptor->poke = (struct writ_timer){.fn = writ_daemon_on_timer, .ctx = acceptor};
    acceptor->run = (struct writ_task){.fn = writ_daemon_on_task, .ctx = acceptor};
    acceptor->settle = (struct writ_task){.fn = on_settle, .ctx = acceptor};
    acceptor->drain_post = (struct writ_post){.fn = on_drain, .ctx = acceptor};
    acceptor->reload_post = (struct writ_post){.fn = on_reload, .ctx = acceptor};
    WRIT_TRY(writ_loop_watch(loop, &acceptor->watch, fd, EPOLLIN, on_accept, acceptor, err));
    writ_loop_timer_set(loop, &acceptor->sweep, writ_loop_now_us(loop) + SWEEP_US);
    return WRIT_DONE;
}

void
writ_acceptor_close(struct writ_acceptor *acceptor)
{
    acceptor->closing = true;
    stop_listening(acceptor);
    writ_loop_timer_cancel(&acceptor->sweep);
    writ_daemon_stop_all(acceptor);
    writ_loop_timer_cancel(&acceptor->poke);
    writ_loop_undefer(&acceptor->run);
    writ_loop_undefer(&acceptor->settle);
    writ_linger_close_all(acceptor);
    writ_incoming_free_all(acceptor);
    writ_certificate_drop(acceptor->certificate);
    writ_certificate_drop(atomic_exchange(&acceptor->next_certificate, NULL));
    if (acceptor->spare_fd >= 0) {
        (void)close(acceptor->spare_fd);
    }
}
