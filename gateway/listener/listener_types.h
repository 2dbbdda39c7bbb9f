/* listener_types.h - the types of a listener for its owner and handlers: peers, exchanges, routes,
 * options. exchange.h and listener.h have their functions. */
#ifndef WRIT_GATEWAY_LISTENER_TYPES_H
#define WRIT_GATEWAY_LISTENER_TYPES_H

#include "base/alloc.h"
#include "base/bytes.h"
#include "gateway/http/header.h"

#include <stdbool.h>
#include <stdint.h>

#define WRIT_EXCHANGE_LAST 2 /* pieces of which any may be empty */

struct writ_clock;
struct writ_loop;
struct writ_metrics;
struct writ_metrics_shard;
struct writ_service_sockets;

/** The other end of a connection. Borrowed: lives as long as the exchange. */
struct writ_peer {
    struct writ_view address; /* "127.0.0.1:53412", "[::1]:53412" or "unix", for logs */
    bool loopback;            /* 127.0.0.0/8, ::1 or their mapped forms, or a Unix socket */
    bool same_user;           /* over a Unix socket: the client runs as our user, or as root */
    bool tls;
    /* A client certificate that our own check accepted (chain to the configured authority, time,
     * purpose). Empty without one. */
    struct writ_view certificate_subject; /* RFC 4514 distinguished name */
    struct writ_view certificate_name;    /* first URI, else first DNS subject alternative name */
    struct writ_view certificate_digest;  /* SHA-256 of its DER form, 64 hex digits */
};

struct writ_exchange;

/** The functions that take the answer of a part of an exchange (batch.c), in place of the
 * listener. */
struct writ_exchange_hooks {
    void (*reply)(struct writ_exchange *x, unsigned status, struct writ_view body);
    void (*stream)(struct writ_exchange *x);
    writ_result (*write)(struct writ_exchange *x, struct writ_view bytes);
    void (*end)(struct writ_exchange *x, bool whole);
    void (*on_gone)(struct writ_exchange *x, void (*fn)(struct writ_exchange *, void *), void *ctx);
    void (*on_room)(struct writ_exchange *x, void (*fn)(struct writ_exchange *, void *), void *ctx);
};

/** One exchange. Only `user` may be written. */
struct writ_exchange {
    struct writ_loop *loop;
    struct writ_arena *arena; /* all memory of this exchange; bounded, freed when it ends */
    struct writ_metrics_shard *metrics;
    const struct writ_peer *peer;
    enum writ_method method;
    struct writ_view path;  /* from the first '/', without the query; no escapes, no dot segments */
    struct writ_view query; /* the text after '?', undecoded; empty without one */
    struct writ_view suffix;     /* the rest of `path` after the prefix of the route */
    struct writ_view body;       /* the whole body */
    int64_t arrived_us;          /* monotonic time of the end of the head */
    bool http_1_0;               /* no 1xx and no chunks towards this client */
    bool gone;                   /* the client left; see writ_exchange_on_gone */
    void *user;                  /* the handler's own */
    struct writ_exchange *whole; /* the exchange of which this is a part, with the same head; NULL:
                                    none */
    const struct writ_exchange_hooks *hooks; /* of a part */
};

typedef void writ_exchange_handler(struct writ_exchange *x, void *ctx);

/** Bits of writ_route.methods. */
#define WRIT_ROUTE_GET     (1U << WRIT_METHOD_GET)
#define WRIT_ROUTE_POST    (1U << WRIT_METHOD_POST)
#define WRIT_ROUTE_DELETE  (1U << WRIT_METHOD_DELETE)
#define WRIT_ROUTE_OPTIONS (1U << WRIT_METHOD_OPTIONS)

/** One row of the table of routes. The first row that matches is taken. */
struct writ_route {
    struct writ_view path;          /* exact, or with `prefix` this and what follows it */
    bool prefix;                    /* the rest is x->suffix */
    bool slash;                     /* the path with a '/' after it is the same */
    unsigned methods;               /* WRIT_ROUTE_* ; another method is a 405 with Allow */
    bool json;                      /* a POST must be application/json (UTF-8), else 415 */
    bool problems;                  /* refusals are problems of RFC 9457 */
    bool any_origin;                /* Origin is not checked: the content is public */
    size_t max_body_bytes;          /* more is a 413; 0: no body at all */
    writ_exchange_handler *handler; /* called on the loop's thread */
    void *ctx;
};

/** The TLS of a listener. PEM text, read by the caller, borrowed for the call. */
struct writ_listener_tls {
    struct writ_view certificate; /* the chain, leaf first; empty: plain HTTP */
    struct writ_view key;         /* unencrypted private key */
    struct writ_view client_ca;   /* authorities for client certificates; empty: none requested */
    bool client_required;         /* with client_ca: without a good certificate a 403 */
};

/** The options of a listener. 0 takes the default of the member. Borrowed for the call, except
 * `routes` and their objects, `clock` and `metrics`, which must outlive the listener. */
struct writ_listener_options {
    struct writ_view address; /* "127.0.0.1:8700", "[::1]:0", "unix:/run/user/1000/writ/sock" */
    struct writ_service_sockets *passed; /* sockets that the process was started with; NULL: none.
                                          * The listener takes the one of its address */
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

#endif
