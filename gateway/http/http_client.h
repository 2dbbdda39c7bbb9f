/* http_client.h - calls to one HTTP/1.1 upstream from one loop.
 *
 * A client is the pool of connections that one loop keeps to one upstream; it lives on that loop
 * and is used from its thread alone. It writes a request at most once: from the first byte that was
 * handed to the system on, the call is SENT, and whatever happens then is reported and never
 * repeated. Only a pooled connection that is found dead before any byte of the request was taken is
 * replaced by a fresh one (security.md 1.5 C9).
 *
 * Redirects are reported, not followed; no proxy, no cookie, no environment variable has a say.
 * The client frames every request itself: it sets Host, Content-Length and Connection.
 *
 * Callbacks come from the loop, never from inside a function of this header. Each call that
 * writ_http_client_send accepted ends with exactly one on_end, also when it is cancelled; nothing
 * is called for it after that. A callback may pause, cancel or send; only on_end may free what the
 * call uses. */
#ifndef WRIT_GATEWAY_HTTP_CLIENT_H
#define WRIT_GATEWAY_HTTP_CLIENT_H

#include "gateway/http/http_response.h"
#include "gateway/io/loop.h"
#include "gateway/io/resolver.h"

#define WRIT_HTTP_REQUEST_HEAD_MAX 65536 /* bytes of a request head */
#define WRIT_HTTP_CHUNK_BYTES      65536 /* most bytes of one on_body */

/** For `fresh_us`: well below the time after which servers close idle connections. */
#define WRIT_HTTP_FRESH_US INT64_C(1000000)

struct writ_http_client;
struct writ_http_call;

/** Where and how. Zero takes the default that is named; everything is copied. */
struct writ_http_options {
    struct writ_view
        url; /* http://host[:port] or https://..., what follows the authority is ignored */
    const char *ca_file;    /* PEM; NULL: the system's certificates */
    const char *cert_file;  /* PEM, client certificate; NULL: none */
    const char *key_file;   /* PEM, its key */
    size_t connections_max; /* open at once, beside those of endless calls; 0: 256 */
    size_t idle_max;        /* kept open without a call; 0: connections_max */
    size_t waiting_max;     /* calls that wait for a connection; 0: 1024 */
    int64_t connect_us;     /* to resolve, connect, shake hands, or get a free connection; 0: 5 s */
    int64_t keep_us;    /* how long an idle connection is kept, unless its server says how long it
                         * keeps it; 0: 4 s, since many servers close theirs after 5 s in silence */
    int64_t address_us; /* how long resolved addresses are believed; 0: 30 s */
};

/** Opens a client; nothing is connected before the first call. Files are read here.
 * WRIT_E_INVALID (URL), WRIT_E_CRYPTO (certificates), WRIT_E_ABSENT, WRIT_E_NOMEM.
 * `resolver` is borrowed until the client is closed. */
WRIT_RESULT writ_http_client_open(struct writ_loop *loop, struct writ_resolver *resolver,
    const struct writ_http_options *options, struct writ_http_client **ret, struct writ_err *err);

/** Closes it from the loop's thread, or after the loop's end. Calls under way get their on_end
 * (CANCELLED) from inside this one function. Not from a callback of this client. NULL is fine. */
void writ_http_client_close(struct writ_http_client *client);

/** What is asked. Everything but the body is borrowed for the call of send only. */
struct writ_http_request {
    struct writ_view method; /* a token: "POST" */
    struct writ_view target; /* "/mcp?x=1": origin form */
    const struct writ_header *fields;
    size_t count;
    struct writ_view body; /* borrowed until on_end */
    uint64_t body_max;     /* of the response; 0 refuses any; WRIT_HTTP_UNLIMITED for streams */
    int64_t head_us;       /* from writing to the whole response head; 0: no limit */
    int64_t idle_us;       /* between two pieces of the body while not paused; 0: no limit */
    int64_t total_us;      /* from send to the end; 0: no limit */
    int64_t fresh_us; /* a connection that was idle for longer is not good enough, and a new one is
                       * made: what the server closes while the request is on its way is lost, and
                       * nothing is sent twice; 0: any idle one */
    bool endless; /* a stream without an end: it has a connection of its own beside connections_max,
                   * so that streams that wait for events do not starve calls */
};

/** Whether the upstream may have seen the request. Zero is the careful answer. */
enum writ_http_sent {
    WRIT_HTTP_SENT = 0, /* at least one byte was handed over: execution unknown unless OK */
    WRIT_HTTP_NOT_SENT, /* not one byte was */
};

struct writ_http_end {
    enum writ_http_reason reason; /* WRIT_HTTP_OK: the response arrived whole */
    enum writ_http_sent sent;
    const char *detail; /* for logs, what exactly; may be NULL; borrowed for the call */
};

/** What the caller does with the answer. Only on_end must be there. */
struct writ_http_handler {
    /** Once, for the final response. The head is borrowed until on_end returns. */
    void (*on_head)(void *ctx, struct writ_http_call *call, const struct writ_http_head *head);
    /** Pieces of the body as they come, at most WRIT_HTTP_CHUNK_BYTES each, not while paused.
     * Borrowed for the call. */
    void (*on_body)(void *ctx, struct writ_http_call *call, struct writ_view bytes);
    /** Once. `call` is gone when it returns. */
    void (*on_end)(void *ctx, struct writ_http_call *call, const struct writ_http_end *end);
};

/**
 * Sends a request, at once if a connection is free.
 *
 * @param handler  borrowed until on_end; ctx is handed to it
 * @param ret      the call, until its on_end returned
 *
 * @return WRIT_OK
 *         WRIT_E_INVALID  method, target or a field is not allowed: not a token, control bytes,
 *                         or a field that the client writes itself (Host, Content-Length, TE,
 *                         Connection, Transfer-Encoding, Trailer, Upgrade, Keep-Alive, Expect,
 *                         Proxy-*)
 *         WRIT_E_LIMIT    the head is larger than WRIT_HTTP_REQUEST_HEAD_MAX
 *         WRIT_E_BUSY     all connections are in use and waiting_max calls wait
 *         WRIT_E_NOMEM
 *         On failure nothing was sent and on_end is not called.
 */
WRIT_RESULT writ_http_client_send(struct writ_http_client *client,
    const struct writ_http_request *request, const struct writ_http_handler *handler, void *ctx,
    struct writ_http_call **ret, struct writ_err *err);

/** Stops, and goes on with, reading the response: no callback but on_end (CANCELLED, timeouts)
 * comes for a paused call. The connection's own window then makes the upstream wait. */
void writ_http_client_pause(struct writ_http_call *call);
void writ_http_client_resume(struct writ_http_call *call);

/** Gives a call up: the connection is closed at once; on_end (CANCELLED, or what had happened
 * before) comes later in this turn. */
void writ_http_client_cancel(struct writ_http_call *call);

/** The time of every call is over now: each ends with TOTAL_TIMEOUT, in this turn. */
void writ_http_client_expire(struct writ_http_client *client);

/** True once a byte of the request was handed over. */
bool writ_http_client_is_sent(const struct writ_http_call *call);

/** What a client holds at the moment, for metrics and tests. */
struct writ_http_stats {
    size_t open, idle, connecting; /* connections */
    size_t active, waiting;        /* calls */
    uint64_t opened, reused;       /* since the start */
};
struct writ_http_stats writ_http_client_stats(const struct writ_http_client *client);

#endif
