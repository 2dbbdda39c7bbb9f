/* daemon.h - one libmicrohttpd daemon, run from a loop. Inside of the listener. */
#ifndef WRIT_GATEWAY_DAEMON_H
#define WRIT_GATEWAY_DAEMON_H

#include "gateway/listener/listener_parts.h"

#define WRIT_DAEMON_CONNECTIONS 512 /* resuming one walks all suspended ones of its daemon */

/** Bytes that libmicrohttpd has for one connection: the head of a request, what it notes of that,
 * and the head of the answer. */
size_t writ_daemon_memory(const struct writ_listener_options *options);

/** A daemon with room for one more connection, possibly a new one; NULL when none can be made. */
struct writ_daemon *writ_daemon_find(struct writ_acceptor *acceptor);

/** Starts and stops a daemon with this material, as a test. WRIT_E_INVALID. */
WRIT_RESULT writ_daemon_try(const struct writ_listener_options *options,
    const struct writ_daemon_callbacks *callbacks, const struct writ_certificate *certificate,
    struct writ_err *err);

/** Runs the daemon at least `runs` times before the turn ends, because it has work. */
void writ_daemon_poke(struct writ_daemon *daemon, unsigned runs);

/** Runs the daemon once, so that it checks its timeouts. */
void writ_daemon_visit(struct writ_daemon *daemon);

/** The function of the acceptor's tasks `run` and `poke`. */
void writ_daemon_on_task(struct writ_task *task);
void writ_daemon_on_timer(struct writ_timer *timer);

/** No new connections for the daemons that are there. */
void writ_daemon_retire_all(struct writ_acceptor *acceptor);

/** Stops every daemon and closes every connection. */
void writ_daemon_stop_all(struct writ_acceptor *acceptor);

#endif
