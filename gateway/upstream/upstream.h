/* upstream.h - one MCP server behind the gateway, whatever it is spoken to over.
 *
 * An upcall is one message to an upstream, with its answer. It looks like streamable HTTP for both
 * transports: an answer is either one JSON body, or a stream of server-sent events. A stdio
 * upstream (stdio.h) is made to look like that, with ids, progress tokens and cancellations kept
 * apart between the clients that share the child.
 *
 * An upcall is written at most once and never repeated. Its end says whether a byte of it may have
 * reached the upstream; zero is the careful answer.
 *
 * Upcalls live and end on the loop that started them; nothing blocks. Callbacks come from the
 * loop, never from inside writ_upcall_start. */
#ifndef WRIT_GATEWAY_UPSTREAM_H
#define WRIT_GATEWAY_UPSTREAM_H

#include "base/bytes.h"
#include "evidence/json/json.h"
#include "gateway/http/sse.h"
#include "gateway/io/loop.h"
#include "gateway/listener/exchange.h"
#include "gateway/mcp/mcp.h"
#include "gateway/state/catalog_snapshot.h"
#include "policy/model/config.h"

struct writ_upstream;
struct writ_gateway;
struct writ_upcall;
struct writ_worker;

/** Whether the upstream may have seen the message. */
enum writ_sent {
    WRIT_SENT = 0, /* at least one byte may have reached it: execution unknown unless answered */
    WRIT_NOT_SENT, /* not one byte did */
};

/** How an upcall ended. Zero is the careful answer. */
enum writ_upcall_end {
    WRIT_UPCALL_BROKEN = 0, /* no whole answer; `detail` says why */
    WRIT_UPCALL_ANSWERED,   /* the answer arrived whole */
    WRIT_UPCALL_TIMEOUT,
    WRIT_UPCALL_CANCELLED, /* by writ_upcall_cancel */
    WRIT_UPCALL_TOO_LARGE, /* the answer is longer than body_max, an event than event_max */
    WRIT_UPCALL_CROWDED,   /* not sent: the caller has its whole share of the upstream */
    WRIT_UPCALL_NO_TOKEN,  /* not sent: there is nothing to show to the upstream now (tokens.h) */
};

/** What is sent. Everything is borrowed until `end`, but for `headers`: for the call of start. */
struct writ_upcall_request {
    enum writ_method method;                /* POST, GET (a stream of a session), DELETE */
    const struct writ_mcp_message *message; /* POST: what `body` says, for stdio */
    struct writ_view body;                  /* POST: one JSON message */
    struct writ_view session;               /* the upstream's own session id, or empty */
    struct writ_view version;               /* MCP-Protocol-Version, or empty */
    struct writ_view accept;                /* or empty: all that MCP may answer with */
    const struct writ_header *headers;      /* further ones, such as Mcp-Name or the credential */
    size_t headers_n;
    size_t body_max;    /* longest JSON body */
    size_t event_max;   /* longest event of a stream */
    int64_t timeout_us; /* to the head and between events of a stream; 0: none */
    int64_t total_us;   /* in all; 0: none */
    bool once;  /* a governed call: lost, it cannot be sent again (http_client.h, fresh_us) */
    bool lines; /* a JSON body may be several messages, one a line: then it is a stream */
    const char *scope; /* which client: keeps stdio ids, progress and streams of clients apart;
                        * the session id, or NULL for one request alone */
    const struct writ_agent *agent; /* on whose behalf */
    struct writ_view client; /* params of the session's initialize, or empty: what a stdio server
                              * that was started again gets */
};

/** The answer, as it stands when a callback is called. Borrowed until `end` returns. */
struct writ_upcall_answer {
    unsigned status;               /* HTTP; 0 before the head */
    struct writ_view content_type; /* empty also of a body in a content coding */
    struct writ_view session;      /* Mcp-Session-Id, or empty */
    struct writ_view retry_after;
    struct writ_view body; /* at the end, when it was no stream */
    bool is_stream;
    /* at the end */
    enum writ_upcall_end end;
    enum writ_sent sent;
    const char *detail; /* a word for logs and outcomes, such as "connect_failed"; static */
};

/** Callbacks of one upcall; `stream` and `event` may be NULL for one that takes no stream (its
 * events are then dropped but for the response, which becomes the body). */
struct writ_upcall_events {
    /** The answer is a stream: once, before its events. */
    void (*stream)(struct writ_upcall *call, const struct writ_upcall_answer *answer);
    /** One event or comment, in order. Borrowed for the call. */
    void (*event)(struct writ_upcall *call, const struct writ_sse_event *event);
    /** Exactly once, last: the upcall may be freed or started again from here on. */
    void (*end)(struct writ_upcall *call, const struct writ_upcall_answer *answer);
};

/** One message under way. Owned by who starts it, zero-initialised, until `end`. */
struct writ_upcall {
    struct writ_upcall_request request; /* filled by the owner */
    const struct writ_upcall_events *events;
    void *ctx;
    struct writ_upstream *upstream; /* set by writ_upcall_start, as the next two */
    struct writ_worker *worker;
    int64_t started_us;
    void *state; /* the transport's own; NULL when there is none any more */
    bool begun;  /* a part of the answer itself is here, of HTTP its head or its event */
    struct writ_task unsent; /* its end, when it could not be begun */
    enum writ_code refused;  /* why */
};

/** Sends. A failure to send comes as `end` with WRIT_NOT_SENT, like everything else. `worker` is
 * the one of the running loop. */
void writ_upcall_start(
    struct writ_upstream *upstream, struct writ_worker *worker, struct writ_upcall *call);

/** For the transports: counts, and calls `end`. Nothing of the upcall is touched afterwards. */
void writ_upcall_end(struct writ_upcall *call, const struct writ_upcall_answer *answer);

/** Gives up: the HTTP exchange is closed, or notifications/cancelled is sent to a stdio server
 * when `tell`; `end` comes later, never from inside. After `end` it must not be called. */
void writ_upcall_cancel(struct writ_upcall *call, bool tell);

/** Stops and goes on with a stream's events, while the client is slower than the upstream. */
void writ_upcall_pause(struct writ_upcall *call);
void writ_upcall_resume(struct writ_upcall *call);

/** The configuration entry it was made from. */
const struct writ_upstream_config *writ_upstream_config(const struct writ_upstream *upstream);

/** Its place among the gateway's upstreams. */
size_t writ_upstream_index(const struct writ_upstream *upstream);

/** What was learned of its tools. */
struct writ_catalog_snapshot *writ_upstream_shelf(struct writ_upstream *upstream);

/** Whether it can be called right now: an HTTP upstream always, a child while it is up. */
bool writ_upstream_is_up(const struct writ_upstream *upstream);

/** Whether a request that many upstreams are asked with may go to this one (breaker.h), now and as
 * long as its `list_timeout` allows. */
bool writ_upstream_lets(struct writ_upstream *upstream, const struct writ_worker *worker);

/** Such a request was not answered in time. An answer to any request is noted by itself. */
void writ_upstream_was_silent(struct writ_upstream *upstream, const struct writ_worker *worker);

/** Whether it is left out of such requests at this time (monotonic). Any thread. */
bool writ_upstream_is_left_out(const struct writ_upstream *upstream, int64_t now_us);

/** How much longer than its list_timeout the whole of such an answer may take. */
#define WRIT_UPSTREAM_LIST_TIMES 5

struct writ_gateway;

/** Opens the upstream of `config`, with its part on every worker's loop. Before the loops run.
 * WRIT_E_INVALID, WRIT_E_NOMEM, WRIT_E_IO. */
WRIT_RESULT writ_upstream_open(struct writ_gateway *gateway,
    const struct writ_upstream_config *config, struct writ_upstream **ret, struct writ_err *err);

/** The time of what is under way over HTTP is over, whatever it was. From the worker's loop. */
void writ_upstream_expire(struct writ_upstream *upstream, const struct writ_worker *worker);

/** Asks a child to end, while the loops still run; writ_upstream_is_stopped says when it has. An
 * HTTP upstream has nothing to stop. Any thread. */
void writ_upstream_stop(struct writ_upstream *upstream);
bool writ_upstream_is_stopped(const struct writ_upstream *upstream);

/** Closes connections and frees; call after the loops have ended, or before they ran. NULL is
 * fine. */
void writ_upstream_close(struct writ_upstream *upstream);

/** The upstream of that name, or NULL. */
struct writ_upstream *writ_upstream_find(const struct writ_gateway *gateway, struct writ_view name);

#endif
