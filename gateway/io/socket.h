/* socket.h - a connection to an upstream, over TCP or a Unix socket, as one stream of bytes, plain
 * or under TLS.
 *
 * Non-blocking; the owner watches the descriptor and calls again. For one thread. */
#ifndef WRIT_GATEWAY_SOCKET_H
#define WRIT_GATEWAY_SOCKET_H

#include "gateway/io/resolver.h"
#include "gateway/io/tls.h"

#include <sys/uio.h>

enum writ_socket_io {
    WRIT_SOCKET_FAILED = 0, /* broken; writ_socket_fault has the reason */
    WRIT_SOCKET_DONE,
    WRIT_SOCKET_AGAIN,  /* wait for the descriptor */
    WRIT_SOCKET_CLOSED, /* the other side ended the stream in order */
};

struct writ_socket;

/** Begins to connect; `tls` (borrowed until the close) may be NULL. Connected when the descriptor
 * is writable and writ_socket_handshake is DONE. WRIT_E_NOMEM (no memory or descriptors), WRIT_E_IO
 * (refused at once). */
WRIT_RESULT writ_socket_open(const struct writ_address *address, struct writ_tls *tls,
    struct writ_socket **ret, struct writ_err *err);

/** Ends the stream and closes the descriptor; unwatch it first. NULL is permitted. */
void writ_socket_close(struct writ_socket *socket);

int writ_socket_fd(const struct writ_socket *socket);
bool writ_socket_is_secure(const struct writ_socket *socket);

/** Goes on connecting and shaking hands. */
enum writ_socket_io writ_socket_handshake(struct writ_socket *socket);

/** True when the transport is connected: later failures are of TLS. */
bool writ_socket_is_connected(const struct writ_socket *socket);

/** Writes the first bytes of the views, in one system call. DONE: `ret` bytes were taken. After
 * AGAIN call again with the same bytes. */
enum writ_socket_io writ_socket_write(
    struct writ_socket *socket, const struct writ_view *views, size_t count, size_t *ret);

/** Reads at most `max` bytes. DONE: `ret` bytes came. */
enum writ_socket_io writ_socket_read(struct writ_socket *socket, char *to, size_t max, size_t *ret);

/** Ends this side of the stream: close_notify, then the end of the bytes. Reading goes on, until
 * CLOSED. After AGAIN call it again. Nothing can be written any more. */
enum writ_socket_io writ_socket_finish(struct writ_socket *socket);

/** Checks without reading: AGAIN is alive and silent, DONE has bytes waiting. */
enum writ_socket_io writ_socket_peek(struct writ_socket *socket);

/** True after a failure: the other side ended the bytes of TLS without close_notify, and did not
 * reset the connection. */
bool writ_socket_is_cut(const struct writ_socket *socket);

/** The fault, for logs. Static storage. */
const char *writ_socket_fault(const struct writ_socket *socket);

#endif
