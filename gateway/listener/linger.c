/* linger.c
 *
 * Invariant: the list is in the order of the last bytes, the newest first. */
#include "gateway/listener/linger.h"

#include "gateway/listener/listener_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define LINGERS_MAX      256         /* at once, per loop */
#define LINGER_US        30000000    /* how long, in all */
#define SILENCE_US       2000000     /* how long without a byte */
#define LINGER_BYTES_MAX (64U << 20) /* how much is thrown away */
#define LINGER_PIECE     (1U << 20)  /* bytes dropped in one turn, at most */

struct writ_linger {
    struct writ_acceptor *acceptor;
    struct writ_watch watch;
    struct writ_timer timer;
    int fd;
    int64_t end_us; /* whatever the client does */
    size_t bytes;
    struct writ_linger *next, **link;
};

static void
list_add(struct writ_linger *linger)
{
    linger->next = linger->acceptor->lingers;
    linger->link = &linger->acceptor->lingers;
    if (linger->next != NULL) {
        linger->next->link = &linger->next;
    }
    linger->acceptor->lingers = linger;
}

static void
list_remove(struct writ_linger *linger)
{
    *linger->link = linger->next;
    if (linger->next != NULL) {
        linger->next->link = linger->link;
    }
}

static void
linger_end(struct writ_linger *linger)
{
    writ_loop_unwatch(&linger->watch);
    writ_loop_timer_cancel(&linger->timer);
    list_remove(linger);
    linger->acceptor->linger_count--;
    (void)close(linger->fd);
    writ_free(linger);
}

/* Not the oldest one: a client that sends a long body would lose its answer to clients that send
 * nothing. */
static void
end_most_silent(struct writ_acceptor *acceptor)
{
    struct writ_linger *last = acceptor->lingers;

    while (last->next != NULL) {
        last = last->next;
    }
    linger_end(last);
}

static void
wait_for_bytes(struct writ_linger *linger)
{
    struct writ_loop *loop = linger->acceptor->loop;
    int64_t silent_us = writ_loop_now_us(loop) + SILENCE_US;

    writ_loop_timer_set(
        loop, &linger->timer, silent_us < linger->end_us ? silent_us : linger->end_us);
}

static void
on_timer(struct writ_timer *timer)
{
    linger_end(timer->ctx);
}

static void
on_bytes(struct writ_watch *watch, uint32_t events)
{
    struct writ_linger *linger = watch->ctx;
    /* tcp(7): MSG_TRUNC drops bytes of a stream without a copy */
    ssize_t n = recv(linger->fd, NULL, LINGER_PIECE, MSG_DONTWAIT | MSG_TRUNC);

    (void)events;
    if (n > 0) {
        linger->bytes += (size_t)n;
        list_remove(linger);
        list_add(linger);
        wait_for_bytes(linger);
    }
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR) ||
        linger->bytes > LINGER_BYTES_MAX) {
        linger_end(linger);
    }
}

/* Begins with a second descriptor of the socket, because libmicrohttpd closes the first. */
void
writ_linger_begin(struct writ_acceptor *acceptor, int fd)
{
    struct writ_linger *linger;
    int own;

    if (acceptor->linger_count >= LINGERS_MAX) {
        end_most_silent(acceptor);
    }
    own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (own < 0) {
        return;
    }
    linger = writ_alloc(sizeof *linger);
    if (linger == NULL || !writ_is_ok(writ_loop_watch(acceptor->loop, &linger->watch, own,
                              EPOLLIN | EPOLLRDHUP, on_bytes, linger, NULL))) {
        writ_free(linger);
        (void)close(own);
        return;
    }
    (void)shutdown(own, SHUT_WR);
    linger->acceptor = acceptor;
    linger->fd = own;
    linger->timer = (struct writ_timer){.fn = on_timer, .ctx = linger};
    linger->end_us = writ_loop_now_us(acceptor->loop) + LINGER_US;
    wait_for_bytes(linger);
    list_add(linger);
    acceptor->linger_count++;
}

void
writ_linger_close_all(struct writ_acceptor *acceptor)
{
    while (acceptor->lingers != NULL) {
        linger_end(acceptor->lingers);
    }
}
