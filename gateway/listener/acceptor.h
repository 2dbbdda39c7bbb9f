/* acceptor.h - one loop's share of a listener: its socket, its daemons, its connections.
 *
 * Inside of the listener: acceptor, daemon (one libmicrohttpd daemon), connection, request (one
 * exchange), linger. All of it is touched on the thread of its loop alone, but for what says "any
 * thread". */
#ifndef WRIT_GATEWAY_ACCEPTOR_H
#define WRIT_GATEWAY_ACCEPTOR_H

#include "gateway/listener/certificate.h"
#include "gateway/io/loop.h"
#include "gateway/listener/metrics.h"
#include "gateway/listener/site.h"

struct writ_connection;
struct writ_linger;
struct writ_daemon;
struct writ_incoming;

struct writ_acceptor {
    const struct writ_listener_options *options; /* with the defaults filled in */
    const struct writ_site *site;
    struct writ_loop *loop;
    struct writ_metrics_shard *metrics;
    int fd;       /* listening; -1 once it drains */
    int spare_fd; /* given up to turn a connection away when there are no descriptors left */
    struct writ_watch watch;
    struct writ_timer sweep, poke;
    struct writ_task run;
    struct writ_daemon *daemons;
    struct writ_connection *connections;
    unsigned connection_count;
    struct writ_connection *adding; /* while MHD_add_connection runs */
    struct writ_incoming *spares;   /* kept for the next requests */
    unsigned spare_count;
    struct writ_incoming *gone; /* their clients have left; their handlers have not answered */
    unsigned exchanges;         /* not answered yet */
    atomic_uint exchanges_seen; /* the same for other threads */
    size_t bodies_bytes;        /* that requests hold */
    struct writ_linger *lingers;
    unsigned linger_count;
    bool draining, closing;
    struct writ_certificate *certificate; /* for new daemons; NULL: plain HTTP */
    _Atomic(struct writ_certificate *) next_certificate;
    atomic_bool reload_posted;
    struct writ_post drain_post, reload_post;
};

/** Takes over `fd`, which listens and does not block. The acceptor is zeroed before, but for
 * `options` and `site`; close it also after a failure. WRIT_E_IO. */
WRIT_RESULT writ_acceptor_open(struct writ_acceptor *acceptor, struct writ_loop *loop, int fd,
    struct writ_certificate *certificate, struct writ_err *err);

/** Any thread: stops accepting; see writ_listener_drain. */
void writ_acceptor_drain(struct writ_acceptor *acceptor);

/** Any thread: gives new connections another certificate. */
void writ_acceptor_reload(struct writ_acceptor *acceptor, struct writ_certificate *certificate);

/** Ends everything at once. Only when the loop has stopped. */
void writ_acceptor_close(struct writ_acceptor *acceptor);

/** Counts open exchanges: +1 or -1. */
void writ_acceptor_count(struct writ_acceptor *acceptor, int change);

#endif
