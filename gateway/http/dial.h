/* dial.h - from the addresses of an upstream to one connection that is ready.
 *
 * Tries one address after the other, each for its share of the remaining time, TLS included. For
 * the thread of its loop. */
#ifndef WRIT_GATEWAY_DIAL_H
#define WRIT_GATEWAY_DIAL_H

#include "gateway/http/http_response.h"
#include "gateway/io/loop.h"
#include "gateway/io/socket.h"

struct writ_dial;

/** The result: OK with the socket, which is taken; else CONNECT_FAILED, CONNECT_TIMEOUT, TLS_FAILED
 * or NO_RESOURCES with NULL. `index` is the connected address. */
struct writ_dial_result {
    enum writ_http_reason reason;
    const char *detail; /* static, may be NULL */
    struct writ_socket *socket;
    size_t index;
};

/** Called once from the loop, never from inside writ_dial_start. The dial is freed when it
 * returns. */
typedef void writ_dial_fn(void *ctx, struct writ_dial *dial, const struct writ_dial_result *result);

/** Begins with address `first`, then the others in order. Addresses are copied, `tls` (may be NULL)
 * is borrowed as long as the socket lives. NULL: no memory. */
struct writ_dial *writ_dial_start(struct writ_loop *loop, const struct writ_addresses *addresses,
    size_t first, struct writ_tls *tls, int64_t deadline_us, writ_dial_fn *fn, void *ctx);

/** Cancels the dial; nothing is called. */
void writ_dial_cancel(struct writ_dial *dial);

#endif
