/* upcall.h - one message to an upstream, with its answer, for both transports.
 *
 * It looks like streamable HTTP: an answer is either one JSON body, or a stream of server-sent
 * events.
 *
 * An upcall is written at most once and never repeated. Its end says whether a byte of it may have
 * reached the upstream; zero is the careful answer.
 *
 * An upcall stays on the loop that started it; nothing blocks. Callbacks come from the loop, never
 * from inside writ_upcall_start (upstream.h). */
#ifndef WRIT_GATEWAY_UPCALL_H
#define WRIT_GATEWAY_UPCALL_H

#include "base/bytes.h"
#include "evidence/json/ahead.h"
#include "gateway/http/framing.h"
#include "gateway/http/sse.h"
#include "gateway/io/loop.h"
#include "gateway/listener/exchange.h"
#include "gateway/mcp/mcp.h"
#include "gateway/mcp/param.h"

struct writ_upstream;
struct writ_upcall;
struct writ_worker;

/** Fields that the gateway itself adds to those of a client: two of the trace context, Mcp-Method,
 * Mcp-Name, and the credential or Last-Event-ID. */
#define WRIT_UPCALL_ADDED 5

/** Most fields in the head of one request, besides those of the transport: all that the head of a
 * client may have, and those that the gateway writes for a client without a head. */
#define WRIT_UPCALL_HEADERS_MAX (WRIT_FRAMING_FIELDS_MAX + WRIT_PARAMS_MAX + WRIT_UPCALL_ADDED)

/** How long a stream may stay open after the response that it was for. A server should end it then,
 * but need not (MCP, Streamable HTTP), and its connection can be used again only if it does. */
#define WRIT_UPCALL_REST_US 250000

/** Whether the upstream may have received the message. */
enum writ_sent {
    WRIT_SENT = 0, /* at least one byte may have reached it: execution unknown unless answered */
    WRIT_NOT_SENT, /* not one byte did */
};

/** How an upcall ended. Zero is the careful answer. */
enum writ_upcall_end {
    WRIT_UPCALL_BROKEN = 0, /* no complete answer; `detail` has the reason */
    WRIT_UPCALL_ANSWERED,   /* the answer arrived whole */
    WRIT_UPCALL_TIMEOUT,
    WRIT_UPCALL_CANCELLED, /* by writ_upcall_cancel */
    WRIT_UPCALL_TOO_LARGE, /* the answer is longer than body_max, an event than event_max */
    WRIT_UPCALL_CROWDED,   /* not sent: the caller's share of the upstream is full */
    WRIT_UPCALL_PROGRAM,   /* not sent: the program of the upstream is not the one that may run */
    WRIT_UPCALL_NO_TOKEN,  /* not sent: there is no valid token for the upstream now (tokens.h) */
};

/** The message to send. Everything is borrowed until `end`, except `headers`, for the call of
 * start. */
struct writ_upcall_request {
    enum writ_method method;                /* POST, GET (a stream of a session), DELETE */
    const struct writ_mcp_message *message; /* POST: the parsed `body`, for stdio */
    struct writ_view body;                  /* POST: one JSON message */
    struct writ_view session;               /* the upstream's own session id, or empty */
    struct writ_view version;               /* MCP-Protocol-Version, or empty */
    struct writ_view accept;                /* or empty: all types of MCP answers */
    const struct writ_header *headers;      /* further ones, such as Mcp-Name or the credential */
    size_t headers_n;
    size_t body_max;    /* longest JSON body */
    size_t event_max;   /* longest event of a stream */
    int64_t timeout_us; /* to the head and between events of a stream; 0: none */
    int64_t total_us;   /* in all; 0: none */
    bool once;          /* a governed call: it cannot be sent again after a loss (http_client.h,
                           fresh_us) */
    /** Asked right before the first byte goes to the upstream, which may be long after the start,
     * and over stdio on the thread of the child; NULL: not asked. False: it ends as BROKEN,
     * NOT_SENT. */
    bool (*may_begin)(void *ctx);
    void *begin_ctx;
    bool lines; /* a JSON body may be several messages, one per line: then it is a stream */
    struct writ_ahead *ahead; /* reads on while a long answer arrives, in the body or in an
                                      event (ahead.h): in its callback it is that of the answer,
                                      and is kept by setting this to NULL. NULL: nothing does */
    const char *scope; /* the client: separates stdio ids, progress and streams of clients; the
                          session id, or NULL for a single request */
    const struct writ_agent *agent; /* the agent of the message */
    struct writ_view environment;   /* of the client, for a child that is started (client_env.h);
                                       empty:   the gateway's own */
    struct writ_view client; /* params of the session's initialize, or empty: for a stdio server
                                that was restarted */
};

/** The answer at the time of a callback. Borrowed until `end` returns. */
struct writ_upcall_answer {
    unsigned status;               /* HTTP; 0 before the head */
    struct writ_view content_type; /* empty also of a body in a content coding */
    struct writ_view session;      /* Mcp-Session-Id, or empty */
    struct writ_view retry_after;
    struct writ_view body;  /* at the end, when it was not a stream */
    struct writ_buf *whole; /* the memory of `body`, which `end` may take (writ_buf_give); NULL:
                               only a copy of it lasts */
    bool is_stream;
    /* at the end */
    enum writ_upcall_end end;
    enum writ_sent sent;
    const char *detail; /* a word for logs and outcomes, such as "connect_failed"; static */
};

/** Callbacks of one upcall; `stream` and `event` may be NULL for a caller that takes no stream. Its
 * events are then dropped except the response to the message, by its id: it becomes the body, and
 * the answer is whole at the end of the stream, or WRIT_UPCALL_REST_US after the response. */
struct writ_upcall_events {
    /** The answer is a stream: once, before its events. */
    void (*stream)(struct writ_upcall *call, const struct writ_upcall_answer *answer);
    /** One event or comment, in order. Borrowed for the call. */
    void (*event)(struct writ_upcall *call, const struct writ_sse_event *event);
    /** Exactly once, last: the upcall may be freed or started again from here on. */
    void (*end)(struct writ_upcall *call, const struct writ_upcall_answer *answer);
};

/** One open message. Its starter owns it, zero-initialised, until `end`. */
struct writ_upcall {
    struct writ_upcall_request request; /* filled by the owner */
    const struct writ_upcall_events *events;
    void *ctx;
    struct writ_upstream *upstream; /* set by writ_upcall_start, as the next three */
    struct writ_worker *worker;
    int64_t started_us;
    /** The transport calls it at the end, and does not touch the upcall afterwards. */
    void (*ended)(struct writ_upcall *call, const struct writ_upcall_answer *answer);
    void *state;             /* the transport's own; NULL after its end */
    bool begun;              /* a part of the answer has arrived, over HTTP its head or its event */
    struct writ_task unsent; /* its end, when it could not be started */
    enum writ_code refused;  /* why */
};

#endif
