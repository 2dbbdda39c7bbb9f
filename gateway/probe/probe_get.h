/* probe_get.h - the HTTP GET of a probe, to any server, without data of the caller.
 *
 * Connections are kept to a few servers, because the URLs of a policy name only a few: the host of
 * a URL cannot contain an argument of a call. For the thread of one loop. */
#ifndef WRIT_GATEWAY_PROBE_GET_H
#define WRIT_GATEWAY_PROBE_GET_H

#include "gateway/http/http_client.h"

#define WRIT_PROBE_SERVERS_MAX 16

/** One of them. */
struct writ_probe_server {
    struct writ_buf origin;
    struct writ_http_client *client;
};

/** The servers. The owner sets `loop` and `resolver`; the rest is zero. */
struct writ_probe_servers {
    struct writ_loop *loop;
    struct writ_resolver *resolver;
    struct writ_probe_server items[WRIT_PROBE_SERVERS_MAX];
    size_t n;
};

/** Closes the connections. Not from `done`. */
void writ_probe_get_close(struct writ_probe_servers *servers);

/** One request; lies in the caller's memory until `done`, which is called once, from the loop. */
struct writ_probe_get {
    void (*done)(struct writ_probe_get *get);
    void *ctx;
    /* the answer */
    unsigned status;       /* 0: no complete answer */
    struct writ_view body; /* borrowed for the call of `done` */
    /* its own */
    struct writ_buf text;
    struct writ_http_call *call; /* NULL: no open request */
};

/** Sends the request, with `done` and `ctx` set. WRIT_E_INVALID (not a URL), WRIT_E_LIMIT (too many
 * servers), WRIT_E_BUSY, WRIT_E_CRYPTO, WRIT_E_NOMEM: `done` is not called then. */
WRIT_RESULT writ_probe_get_start(struct writ_probe_servers *servers, struct writ_view url,
    int64_t timeout_us, struct writ_probe_get *get);

/** Gives up: `done` comes soon, and not from inside. */
void writ_probe_get_cancel(struct writ_probe_get *get);

#endif
