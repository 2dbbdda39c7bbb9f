/* http_types.h - the types of an HTTP client: options, requests, the owner's callbacks, the end of
 * a call, counts. http_client.h has their contract. */
#ifndef WRIT_GATEWAY_HTTP_TYPES_H
#define WRIT_GATEWAY_HTTP_TYPES_H

#include "gateway/http/http_response.h"

#define WRIT_HTTP_REQUEST_HEAD_MAX 65536 /* bytes of a request head */
#define WRIT_HTTP_CHUNK_BYTES      65536 /* most bytes of one on_body */

struct writ_http_client;
struct writ_http_call;

/** The options of a client. Zero takes the named default; everything is copied. */
struct writ_http_options {
    struct writ_view
        url; /* http://host[:port] or https://..., the rest after the authority is ignored */
    const char *socket_path; /* a Unix socket to connect to in place of the host; NULL: none */
    const char *ca_file;     /* PEM; NULL: the system's certificates */
    const char *cert_file;   /* PEM, client certificate; NULL: none */
    const char *key_file;    /* PEM, its key */
    size_t connections_max;  /* open at once, beside those of endless calls; 0: 256 */
    size_t idle_max;         /* kept open without a call; 0: connections_max */
    size_t waiting_max;      /* calls that wait for a connection; 0: 1024 */
    int64_t connect_us; /* to resolve, connect, shake hands, or get a free connection; 0: 5 s */
    int64_t keep_us;    /* how long an idle connection is kept, unless its server states how long it
                           keeps it; 0: 4 s, because many servers close theirs after 5 s of
                           silence */
    int64_t address_us; /* how long resolved addresses are used; 0: 30 s */
};

/** A request. Everything but the body is borrowed only for the call of send. */
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
    int64_t fresh_us; /* a connection that was idle for longer is not used, and a new one is made: a
                         request that meets a closing server is lost, and nothing is sent twice; 0:
                         any idle one */
    /** Asked right before the first byte is handed over, also from inside of send; NULL: not asked.
     * False: the call ends with WRIT_HTTP_WITHHELD, NOT_SENT. */
    bool (*may_begin)(void *ctx);
    void *begin_ctx;
    bool endless; /* an endless stream: it has a connection of its own beside connections_max, so
                     that streams that wait for events do not starve calls */
};

/** Whether the upstream may have received the request. Zero is the careful value. */
enum writ_http_sent {
    WRIT_HTTP_SENT = 0, /* at least one byte was handed over: execution unknown unless OK */
    WRIT_HTTP_NOT_SENT, /* not one byte was handed over */
};

struct writ_http_end {
    enum writ_http_reason reason; /* WRIT_HTTP_OK: the response arrived whole */
    enum writ_http_sent sent;
    const char *detail; /* the exact fault, for logs; may be NULL; borrowed for the call */
};

/** The callbacks of a call. Only on_end is required. */
struct writ_http_handler {
    /** Once, for the final response. The head is borrowed until on_end returns. */
    void (*on_head)(void *ctx, struct writ_http_call *call, const struct writ_http_head *head);
    /** Pieces of the body as they arrive, at most WRIT_HTTP_CHUNK_BYTES each, not while paused.
     * Borrowed for the call. */
    void (*on_body)(void *ctx, struct writ_http_call *call, struct writ_view bytes);
    /** Once. `call` is freed when it returns. */
    void (*on_end)(void *ctx, struct writ_http_call *call, const struct writ_http_end *end);
};

/** The present counts of a client, for metrics and tests. */
struct writ_http_stats {
    size_t open, idle, connecting; /* connections */
    size_t active, waiting;        /* calls */
    uint64_t opened, reused;       /* since the start */
};

#endif
