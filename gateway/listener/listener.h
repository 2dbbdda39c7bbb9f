/* listener.h - the HTTP side of the gateway: sockets, connections, TLS, framing, routes.
 *
 * libmicrohttpd parses; it never listens or waits. Every loop has its own SO_REUSEPORT socket and
 * accepts on it, and feeds several small daemons (resuming one connection walks all suspended ones
 * of its daemon). Before a handler sees a request, the checks of framing.h have passed, the route
 * was found, Host and Origin are allowed and the body is read completely. A request that fails
 * these checks gets a status, a JSON-RPC error with a reason, and `Connection: close`; nothing more
 * is read from that connection.
 *
 * Invariants a handler can rely on: exactly one exchange per request, in order, one at a time per
 * connection; a request that was cut before its end never becomes an exchange. */
#ifndef WRIT_GATEWAY_LISTENER_H
#define WRIT_GATEWAY_LISTENER_H

#include "gateway/listener/exchange.h"

struct writ_loop;
struct writ_listener;
struct writ_certificate;

/**
 * Binds the sockets and attaches to the loops. Call it before the loops run, on one thread.
 *
 * @param loops  borrowed until writ_listener_free
 * @param ret    new, free with writ_listener_free; written only on success
 *
 * @return WRIT_OK
 *         WRIT_E_INVALID  an option is out of range, an address or certificate cannot be used
 *         WRIT_E_BUSY, WRIT_E_ABSENT, WRIT_E_LIMIT  of a Unix socket, as writ_unix_socket_listen
 *         WRIT_E_IO       the address cannot be bound
 *         WRIT_E_NOMEM, WRIT_E_CRYPTO
 */
WRIT_RESULT writ_listener_open(const struct writ_listener_options *options,
    struct writ_loop *const *loops, size_t loop_count, struct writ_listener **ret,
    struct writ_err *err);

/** The port that was bound (useful when the address has port 0); 0 for a Unix socket. */
uint16_t writ_listener_port(const struct writ_listener *listener);

/**
 * Reads and tests a new certificate, key or authority, and changes nothing yet.
 *
 * @param ret  for writ_listener_take; else drop with writ_certificate_drop
 *
 * @return WRIT_OK, WRIT_E_INVALID (unusable, or a listener without TLS), WRIT_E_LIMIT, WRIT_E_NOMEM
 */
WRIT_RESULT writ_listener_prepare(const struct writ_listener *listener,
    const struct writ_listener_tls *tls, struct writ_certificate **ret, struct writ_err *err);

/** New connections get it; open ones keep theirs. The caller keeps its reference. Any thread. */
void writ_listener_take(struct writ_listener *listener, struct writ_certificate *certificate);

/** Stops accepting and closes idle connections; open exchanges continue, and the answer of each
 * closes its connection. Any thread. */
void writ_listener_drain(struct writ_listener *listener);

/** Whether the drain has reached every loop, and the requests that had arrived by then are open
 * exchanges. Any thread. */
bool writ_listener_is_settled(const struct writ_listener *listener);

/** Unix time at which the certificate for new connections expires; 0: without TLS, or unknown. Any
 * thread. */
int64_t writ_listener_expires_s(const struct writ_listener *listener);

/** The number of open connections. Any thread; for waiting after a drain. */
unsigned writ_listener_open_connections(const struct writ_listener *listener);

/** The number of exchanges whose answer is not out yet. Any thread; for waiting after a drain. */
unsigned writ_listener_open_exchanges(const struct writ_listener *listener);

/** Closes everything. Only when the loops have stopped. Unanswered exchanges end here: their memory
 * is freed and no callback is called. NULL is permitted. */
void writ_listener_free(struct writ_listener *listener);

#endif
