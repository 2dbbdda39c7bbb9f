/* acceptor.h - one loop's share of a listener: its socket, its daemons, its connections. Inside of
 * the listener. Only for the thread of its loop, except functions that say "any thread". */
#ifndef WRIT_GATEWAY_ACCEPTOR_H
#define WRIT_GATEWAY_ACCEPTOR_H

#include "gateway/listener/listener_parts.h"

/** Takes over `fd`, which listens and does not block. The caller zeroes the acceptor before, except
 * `options`, `site` and `callbacks`; close it also after a failure. WRIT_E_IO. */
WRIT_RESULT writ_acceptor_open(struct writ_acceptor *acceptor, struct writ_loop *loop, int fd,
    struct writ_certificate *certificate, struct writ_err *err);

/** Any thread: stops accepting; see writ_listener_drain. */
void writ_acceptor_drain(struct writ_acceptor *acceptor);

/** Any thread: gives new connections another certificate. */
void writ_acceptor_reload(struct writ_acceptor *acceptor, struct writ_certificate *certificate);

/** Ends everything at once. Only when the loop has stopped. */
void writ_acceptor_close(struct writ_acceptor *acceptor);

#endif
