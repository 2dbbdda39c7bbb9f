/* dial.c - opens one socket at a time: TCP, then TLS, then the next address.
 *
 * Invariants:
 * (1) `tried` is the number of addresses that failed; the present one, if there is a socket, is
 *     number `tried`, counted from `first`.
 * (2) result holds the last failure, which is reported when no address is left. */
#include "gateway/http/dial.h"

#include "base/alloc.h"

#include <sys/epoll.h>

struct writ_dial {
    struct writ_loop *loop;
    struct writ_addresses addresses;
    size_t first, tried;
    struct writ_tls *tls;
    int64_t deadline_us;
    writ_dial_fn *fn;
    void *ctx;
    struct writ_socket *socket;
    struct writ_watch watch;
    struct writ_timer timer;
    struct writ_task task;
    struct writ_dial_result result;
};

static void
drop_socket(struct writ_dial *dial)
{
    writ_loop_unwatch(&dial->watch);
    writ_loop_timer_cancel(&dial->timer);
    writ_socket_close(dial->socket);
    dial->socket = NULL;
}

static void
finish(struct writ_dial *dial)
{
    struct writ_dial_result result = dial->result;

    if (result.reason == WRIT_HTTP_OK) {
        writ_loop_unwatch(&dial->watch);
        writ_loop_timer_cancel(&dial->timer);
        result.socket = WRIT_TAKE(dial->socket);
    }
    dial->fn(dial->ctx, dial, &result);
    writ_dial_cancel(dial);
}

static void
note(struct writ_dial *dial, enum writ_http_reason reason, const char *detail)
{
    dial->result = (struct writ_dial_result){.reason = reason, .detail = detail};
}

static size_t
index_of(const struct writ_dial *dial)
{
    return (dial->first + dial->tried) % dial->addresses.count;
}

/* advances the present socket; false: it failed, and the reason is noted */
static bool
advance(struct writ_dial *dial)
{
    bool tls = dial->tls != NULL;

    switch (writ_socket_handshake(dial->socket)) {
    case WRIT_SOCKET_AGAIN:
        return true;
    case WRIT_SOCKET_DONE:
        note(dial, WRIT_HTTP_OK, NULL);
        dial->result.index = index_of(dial);
        finish(dial);
        return true;
    case WRIT_SOCKET_CLOSED:
    case WRIT_SOCKET_FAILED:
        break;
    }
    note(dial,
        tls && writ_socket_is_connected(dial->socket) ? WRIT_HTTP_TLS_FAILED
                                                      : WRIT_HTTP_CONNECT_FAILED,
        writ_socket_fault(dial->socket));
    return false;
}

static void try_next(struct writ_dial *dial);

static void
on_event(struct writ_watch *watch, uint32_t events)
{
    struct writ_dial *dial = watch->ctx;

    (void)events;
    if (!advance(dial)) {
        dial->tried++;
        try_next(dial);
    }
}

static void
on_timer(struct writ_timer *timer)
{
    struct writ_dial *dial = timer->ctx;

    note(dial, WRIT_HTTP_CONNECT_TIMEOUT, NULL);
    dial->tried++;
    try_next(dial);
}

/* opens a socket to the next address; false: failed, and the reason is noted */
static bool
open_socket(struct writ_dial *dial)
{
    size_t left = dial->addresses.count - dial->tried;
    int64_t now_us = writ_loop_now_us(dial->loop);
    int64_t share_us = (dial->deadline_us - now_us) / (int64_t)left;
    writ_result r =
        writ_socket_open(&dial->addresses.list[index_of(dial)], dial->tls, &dial->socket, NULL);

    if (writ_is_ok(r)) {
        r = writ_loop_watch(dial->loop, &dial->watch, writ_socket_fd(dial->socket),
            EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, on_event, dial, NULL);
        r.code = writ_is_ok(r) ? WRIT_OK : WRIT_E_NOMEM;
    }
    if (!writ_is_ok(r)) {
        note(
            dial, r.code == WRIT_E_NOMEM ? WRIT_HTTP_NO_RESOURCES : WRIT_HTTP_CONNECT_FAILED, NULL);
        return false;
    }
    writ_loop_timer_set(dial->loop, &dial->timer, now_us + share_us);
    return true;
}

static void
try_next(struct writ_dial *dial)
{
    drop_socket(dial);
    if (dial->tried > 0 && writ_loop_now_us(dial->loop) >= dial->deadline_us) {
        dial->tried = dial->addresses.count;
    }
    while (dial->tried < dial->addresses.count) {
        if (open_socket(dial)) {
            return;
        }
        drop_socket(dial);
        dial->tried++;
    }
    finish(dial);
}

static void
begin(struct writ_task *task)
{
    try_next(task->ctx);
}

struct writ_dial *
writ_dial_start(struct writ_loop *loop, const struct writ_addresses *addresses, size_t first,
    struct writ_tls *tls, int64_t deadline_us, writ_dial_fn *fn, void *ctx)
{
    struct writ_dial *dial = writ_alloc(sizeof *dial);

    if (dial == NULL) {
        return NULL;
    }
    dial->loop = loop;
    dial->addresses = *addresses;
    dial->first = first;
    dial->tls = tls;
    dial->deadline_us = deadline_us;
    dial->fn = fn;
    dial->ctx = ctx;
    dial->timer = (struct writ_timer){.fn = on_timer, .ctx = dial};
    dial->task = (struct writ_task){.fn = begin, .ctx = dial};
    note(dial, WRIT_HTTP_CONNECT_FAILED, "no address");
    writ_loop_defer(loop, &dial->task, WRIT_LOOP_SOON);
    return dial;
}

void
writ_dial_cancel(struct writ_dial *dial)
{
    writ_loop_undefer(&dial->task);
    drop_socket(dial);
    writ_free(dial);
}
