/* bridge_parts.h - what a bridge consists of: the client's lines, the calls under way, the session.
 * For the inside of the bridge; bridge.h is for its users. All of it belongs to the thread of the
 * loop.
 *
 * Invariants
 * (1) Every request of the client gets exactly one line as its answer, unless the client cancelled
 * it in the stateless revision, or left. (2) A call with a tools/call is sent again only when not
 * one byte of it was sent, or when the gateway itself refused it for an unknown session or because
 * it ends: nothing was done then. The field of the answer's head says so; the reason in the body
 * proves nothing, since a tool server's error can have any. (3) The next line is
 * read only when the gateway has answered initialize, and has taken notifications/initialized or an
 * answer to a request of the server: the order of a client's lines is kept where it counts. Of
 * another notification only for a moment, since a server may be slow to take it. (4) Standard
 * output gets whole messages only, each in one line. (5) While the client does not take its lines,
 * neither the gateway nor the client is read: what waits is bounded, and the loop never waits for
 * the client.
 */
#ifndef WRIT_GATEWAY_BRIDGE_PARTS_H
#define WRIT_GATEWAY_BRIDGE_PARTS_H

#include "gateway/bridge/bridge.h"
#include "gateway/bridge/bridge_message.h"
#include "gateway/http/http_client.h"
#include "gateway/http/sse.h"
#include "gateway/io/line_output.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/queue.h>

#define WRIT_BRIDGE_LINE_MAX                                                                       \
    ((size_t)64 << 20) /* the most that a gateway can be configured to take */
#define WRIT_BRIDGE_READ_BYTES 65536

enum writ_bridge_kind {
    WRIT_BRIDGE_LINE = 0, /* a line of the client, as a POST */
    WRIT_BRIDGE_RESUMED,  /* the rest of the stream of a line that was lost, as a GET */
    WRIT_BRIDGE_STREAM,   /* the session's stream, as a GET */
    WRIT_BRIDGE_REOPEN,   /* initialize, again */
    WRIT_BRIDGE_REOPENED, /* notifications/initialized, again */
    WRIT_BRIDGE_LEAVE,    /* the end of the session, as a DELETE */
};

/** One request to the gateway. */
struct writ_bridge_call {
    struct writ_bridge *bridge;
    enum writ_bridge_kind kind;
    struct writ_arena *arena;
    struct writ_view line;
    struct writ_bridge_message message;
    struct writ_http_call *http; /* NULL: it waits for the gateway, or for the session */
    unsigned status;
    enum writ_reason refused; /* the gateway's own refusal, which no tool server can forge; or
                                 NONE */
    bool is_stream;
    struct writ_sse *sse;
    struct writ_buf body;    /* the answer, unless the bridge passes it on as a stream */
    struct writ_buf session; /* that the answer to initialize names */
    struct writ_buf last_id; /* of the last event that had one */
    int64_t retry_ms;        /* what the stream said, or WRIT_SSE_NO_RETRY */
    size_t answered;         /* requests of the line that have their answer */
    bool cancelled, acknowledged;
    bool given_up;   /* its client has cancelled it, and waits for no answer */
    unsigned opened; /* the number of the session that it was sent in */
    int64_t sent_us;
    unsigned tries;
    TAILQ_ENTRY(writ_bridge_call) link;
};

enum writ_bridge_state {
    WRIT_BRIDGE_NO_SESSION = 0, /* none yet, or a client of the stateless revision */
    WRIT_BRIDGE_OPEN,
    WRIT_BRIDGE_REOPENING,
};

struct writ_bridge {
    const struct writ_bridge_options *options;
    struct writ_loop *loop;
    struct writ_http_client *client;
    void (*take)(struct writ_bridge_call *call, const struct writ_http_end *end); /* bridge_end.h */

    struct writ_watch input;
    struct writ_line_output output;
    bool paused;              /* the client does not take its lines */
    struct writ_task reading; /* of a standard input that cannot be watched: a file */
    struct writ_buf pending;  /* read, and not taken yet */
    size_t partial;           /* bytes at its end that are of a line without its end */
    bool too_long, ended;     /* the line is thrown away until its end; no more will come */

    TAILQ_HEAD(writ_bridge_calls, writ_bridge_call) calls; /* all of them, in their order */
    bool linked;                   /* as far as is known the gateway is there */
    struct writ_timer order_timer; /* the next line does not wait longer for a notification */

    enum writ_bridge_state state;
    unsigned opened;         /* sessions so far */
    struct writ_buf opening; /* the client's initialize */
    struct writ_buf session, version;
    struct writ_bridge_call *stream; /* NULL: there is none, or not now */
    struct writ_timer stream_timer;
    struct writ_buf stream_id;
    int64_t pause_us; /* before the stream is opened again */
    bool leaving;
    bool left; /* the gateway knows; only the client's last lines are waited for */
    struct writ_timer last_timer;

    struct writ_post linking, stopping; /* from the thread that waits */
    bool found;                         /* with linking: the gateway is there */
    struct writ_err why;                /* with linking, when it is not */
    atomic_bool wanted;                 /* the gateway is to be found, or started */
    atomic_bool over;
    pthread_t waiter;
};

#endif
