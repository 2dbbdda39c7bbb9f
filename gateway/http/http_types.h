/* http_types.h - what an HTTP client is given and what it reports: options, a request, the owner's
 * callbacks, the end of a call, its figures. What they promise is in http_client.h. */
#ifndef WRIT_GATEWAY_HTTP_TYPES_H
#define WRIT_GATEWAY_HTTP_TYPES_H

#include "gateway/http/http_response.h"

#define WRIT_HTTP_REQUEST_HEAD_MAX 65536 /* bytes of a request head */
#define WRIT_HTTP_CHUNK_BYTES      65536 /* most bytes of one on_body */

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

/** What a client holds at the moment, for metrics and tests. */
struct writ_http_stats {
    size_t open, idle, connecting; /* connections */
    size_t active, waiting;        /* calls */
    uint64_t opened, reused;       /* since the start */
};

#endif
