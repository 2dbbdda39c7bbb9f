/* resolver.h - resolves names of upstreams to addresses without blocking a loop.
 *
 * getaddrinfo blocks, so a helper thread calls it; the answer arrives on the loop. Addresses
 * written as numbers never reach the thread. */
#ifndef WRIT_GATEWAY_RESOLVER_H
#define WRIT_GATEWAY_RESOLVER_H

#include "gateway/io/loop.h"

#include <sys/socket.h>

#define WRIT_RESOLVER_ADDRESSES_MAX 16
#define WRIT_RESOLVER_QUEUE_MAX     1024 /* questions that may wait */
#define WRIT_RESOLVER_HOST_MAX      255  /* bytes of a host name */

struct writ_resolver;

struct writ_address {
    struct sockaddr_storage sock;
    socklen_t len;
};

/** The addresses of a name, in the order of RFC 6724. */
struct writ_addresses {
    struct writ_address list[WRIT_RESOLVER_ADDRESSES_MAX];
    size_t count;
};

/** A new resolver with its thread; any loop may use it. WRIT_E_NOMEM, WRIT_E_IO. */
WRIT_RESULT writ_resolver_open(struct writ_resolver **ret, struct writ_err *err);

/** Drops unanswered queries, and does not wait for the running one. Close the clients first, so
 * that they have forgotten their queries; close the resolver before the loops are freed. NULL is
 * permitted. */
void writ_resolver_close(struct writ_resolver *resolver);

/** Reads a numeric address, IPv6 with or without brackets. False when `host` is a name. */
bool writ_resolver_numeric(struct writ_view host, uint16_t port, struct writ_addresses *ret);

struct writ_question;

/** The answer: `found` has count 0 when the name has no address, and `fault` then the reason
 * (static, may be NULL). Borrowed for the call. The query is freed when it returns. */
typedef void writ_resolver_fn(void *ctx, const struct writ_addresses *found, const char *fault);

/** Starts a query; `fn` is called on the loop once, never from inside this call. WRIT_E_BUSY (queue
 * full), WRIT_E_LIMIT (name too long), WRIT_E_NOMEM. */
WRIT_RESULT writ_resolver_ask(struct writ_resolver *resolver, struct writ_loop *loop,
    struct writ_view host, uint16_t port, writ_resolver_fn *fn, void *ctx,
    struct writ_question **ret);

/** On the loop of the query: drops its answer. */
void writ_resolver_forget(struct writ_question *question);

#endif
