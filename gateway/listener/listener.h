/* listener.h - the HTTP side of the gateway: sockets, connections, TLS, framing, routes.
 *
 * libmicrohttpd parses; it never listens or waits. Every loop has its own SO_REUSEPORT socket and
 * accepts on it, and feeds several small daemons (resuming one connection walks all suspended ones
 * of its daemon). Before a handler sees a request, the checks of framing.h have passed, the route
 * was found, Host and Origin are allowed and the body is read whole. What fails is answered with
 * a status, a JSON-RPC shaped error with a reason, and `Connection: close`; nothing more is read
 * from that connection.
 *
 * Invariants a handler can rely on: exactly one exchange per request, in order, one at a time per
 * connection; a request that was cut before its end never becomes an exchange. */
#ifndef WRIT_GATEWAY_LISTENER_H
#define WRIT_GATEWAY_LISTENER_H

#include "base/clock.h"
#include "gateway/listener/exchange.h"

struct writ_loop;
struct writ_metrics;
struct writ_listener;
struct writ_certificate;

typedef void writ_exchange_handler(struct writ_exchange *x, void *ctx);

/** Bits of writ_route.methods. */
#define WRIT_ROUTE_GET     (1U << WRIT_METHOD_GET)
#define WRIT_ROUTE_POST    (1U << WRIT_METHOD_POST)
#define WRIT_ROUTE_DELETE  (1U << WRIT_METHOD_DELETE)
#define WRIT_ROUTE_OPTIONS (1U << WRIT_METHOD_OPTIONS)

/** One row of the table of routes. The first row that fits is taken. */
struct writ_route {
    struct writ_view path; /* exact, or with `prefix` this and what follows it */
    bool prefix;           /* the rest is x->suffix */
    bool slash;            /* the path with a '/' behind it is the same */
    unsigned methods;      /* WRIT_ROUTE_* ; another method is a 405 with Allow */
    bool json;             /* a POST must be application/json (UTF-8), else 415 */
    bool problems;         /* refusals are problems of RFC 9457 */
    bool any_origin;       /* do not check Origin: what is there is for everybody to read */
    size_t max_body_bytes; /* more is a 413; 0: no body at all */
    writ_exchange_handler *handler; /* called on the loop's thread */
    void *ctx;
};

/** The TLS of a listener. PEM text, read by the caller, borrowed for the call. */
struct writ_listener_tls {
    struct writ_view certificate; /* the chain, leaf first; empty: plain HTTP */
    struct writ_view key;         /* unencrypted private key */
    struct writ_view client_ca;   /* authorities for client certificates; empty: none asked for */
    bool client_required;         /* with client_ca: without a good certificate a 403 */
};

/** Everything about a listener. 0 takes the default of the member. Borrowed for the call, but for
 * `routes` and what they point to, `clock` and `metrics`, which must outlive the listener. */
struct writ_listener_options {
    struct writ_view address; /* "127.0.0.1:8700", "[::1]:0" */
    const struct writ_route *routes;
    size_t route_count;
    const struct writ_view *hosts;   /* further allowed Host values, with or without a port; */
    size_t host_count;               /* always allowed: the address itself; on loopback localhost */
    const struct writ_view *origins; /* allowed Origin values ("https://app.example"); always */
    size_t origin_count;             /* allowed: none at all, and http(s):// + an allowed Host */
    struct writ_listener_tls tls;
    const struct writ_clock *clock; /* NULL: the system's */
    struct writ_metrics *metrics;   /* shard i belongs to loop i; NULL: not counted */

    size_t max_head_bytes;    /* 1024 .. 65536, default 16384 */
    size_t max_arena_bytes;   /* of one exchange beyond its body, default 8 MiB */
    size_t max_queue_bytes;   /* of one stream, default 256 KiB */
    size_t max_bodies_bytes;  /* of all requests of one loop, default no limit; more: 503 */
    unsigned max_connections; /* of one loop, default 4096 */
    unsigned max_exchanges;   /* unanswered ones of one loop, default 2048; more: 503 */
    int64_t head_timeout_ms;  /* from the first byte of a head to its end, default 10000 */
    int64_t body_timeout_ms;  /* from the end of the head to that of the body, 30000 */
    int64_t idle_timeout_ms;  /* between requests, default 60000 */
    int64_t write_timeout_ms; /* no progress with an answer, default 60000 */
};

/**
 * Binds the sockets and attaches to the loops. Call it before the loops run, on one thread.
 *
 * @param loops  borrowed until writ_listener_free
 * @param ret    new, free with writ_listener_free; written only on success
 *
 * @return WRIT_OK
 *         WRIT_E_INVALID  an option is out of range, an address or certificate cannot be used
 *         WRIT_E_IO       the address cannot be bound
 *         WRIT_E_NOMEM, WRIT_E_CRYPTO
 */
WRIT_RESULT writ_listener_open(const struct writ_listener_options *options,
    struct writ_loop *const *loops, size_t loop_count, struct writ_listener **ret,
    struct writ_err *err);

/** The port that was bound (of use when the address said 0). */
uint16_t writ_listener_port(const struct writ_listener *listener);

/**
 * Reads and tries a new certificate, key or authority, and changes nothing yet.
 *
 * @param ret  for writ_listener_take; else drop with writ_certificate_drop
 *
 * @return WRIT_OK, WRIT_E_INVALID (unusable, or a listener without TLS), WRIT_E_LIMIT, WRIT_E_NOMEM
 */
WRIT_RESULT writ_listener_prepare(const struct writ_listener *listener,
    const struct writ_listener_tls *tls, struct writ_certificate **ret, struct writ_err *err);

/** Connections that come from now on get it; those that are open keep theirs. The caller keeps his
 * reference. From any thread. */
void writ_listener_take(struct writ_listener *listener, struct writ_certificate *certificate);

/** Stops accepting and closes idle connections; open exchanges go on, each closing its connection
 * with its answer. From any thread. */
void writ_listener_drain(struct writ_listener *listener);

/** How many exchanges are not answered yet. From any thread; for waiting after a drain. */
unsigned writ_listener_open_exchanges(const struct writ_listener *listener);

/** Closes everything. Only when the loops have stopped. Unanswered exchanges end here: their memory
 * is freed and no callback is called. NULL does nothing. */
void writ_listener_free(struct writ_listener *listener);

#endif
