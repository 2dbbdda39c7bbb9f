/* http_parts.h - the parts of an HTTP client. Only for http_client.c, http_call.c and http_conn.c;
 * all other code uses http_client.h.
 *
 * Invariants
 * (1) A call is WAITING (in waiting, no connection), BUSY (it and its connection point to each
 *     other) or ENDED (in ended, no connection); only the finish task leaves ENDED, by calling
 *     on_end.
 * (2) `sent` is set before the first byte can have left: after a plain write that took bytes,
 *     before any write under TLS. A call that is sent never goes back to WAITING.
 * (3) Only the finish task frees ended calls and connections, so that they outlive every function
 *     on the stack (for example a reader whose body callback cancelled its own call).
 * (4) A connection is idle only after a whole response, with nothing unread, that allows it.
 * (5) No function of http_client.h calls back; only events, timers, tasks and answers do. */
#ifndef WRIT_GATEWAY_HTTP_PARTS_H
#define WRIT_GATEWAY_HTTP_PARTS_H

#include "gateway/http/http_request.h"
#include "gateway/io/loop.h"
#include "gateway/io/resolver.h"
#include "gateway/io/socket.h"
#include "gateway/io/tls.h"

#include <sys/queue.h>

#define WRIT_HTTP_NEVER_US INT64_MAX /* a deadline that does not come */

enum writ_http_call_state {
    WRIT_HTTP_CALL_SPARE = 0,
    WRIT_HTTP_CALL_WAITING,
    WRIT_HTTP_CALL_BUSY,
    WRIT_HTTP_CALL_ENDED,
};

/** One request and its response; reused when it is over. */
struct writ_http_call {
    enum writ_http_call_state state;
    struct writ_http_client *client;
    struct writ_http_conn *conn;
    const struct writ_http_handler *handler;
    bool (*may_begin)(void *ctx);
    void *begin_ctx;
    void *ctx;
    struct writ_buf head;
    struct writ_view body;
    size_t written; /* of head and body together */
    bool sent, no_body, paused, held, complete, endless;
    uint64_t body_max;
    int64_t head_us, idle_us, total_due_us, phase_due_us, fresh_us;
    struct writ_timer timer; /* while WAITING */
    struct writ_http_response *response;
    struct writ_http_end end;
    TAILQ_ENTRY(writ_http_call) link;
};

/** One connection, ready for writing. */
struct writ_http_conn {
    struct writ_http_client *client;
    struct writ_socket *socket;
    struct writ_watch watch;
    struct writ_timer timer; /* of the call, or of the idle time: it never leaves the heap in
                                between */
    struct writ_task task;   /* go on reading */
    struct writ_http_call *call;
    struct writ_buf rest; /* read, and held back by a pause, from rest_at on */
    size_t rest_at;
    int64_t keep_us;   /* how long it may be idle */
    int64_t rested_us; /* when it became idle */
    bool used, idle, dead, write_broken;
    TAILQ_ENTRY(writ_http_conn) link; /* in conns, or in doomed */
    TAILQ_ENTRY(writ_http_conn) idle_link;
};

struct writ_http_dialing; /* an attempt to connect, of http_client.c */

/** The pool of one loop to one upstream. */
struct writ_http_client {
    struct writ_loop *loop;
    struct writ_resolver *resolver;
    struct writ_http_options options;
    struct writ_http_origin origin;
    struct writ_tls *tls; /* NULL: plain */

    struct writ_addresses addresses;
    int64_t addresses_until_us;
    size_t address_first;
    struct writ_question *question; /* under way, or NULL */

    TAILQ_HEAD(writ_http_conns, writ_http_conn) conns, doomed, idle;
    TAILQ_HEAD(writ_http_dialings, writ_http_dialing) dialing;
    TAILQ_HEAD(writ_http_calls, writ_http_call) waiting, ended, spare;
    size_t spare_count;
    size_t endless; /* calls, waiting or not */
    struct writ_http_stats stats;
    struct writ_task finish_task;
    bool closing;
    char input[WRIT_HTTP_CHUNK_BYTES];
};

/** The time in `span_us` from now; none when that is 0. */
static inline int64_t
writ_http_parts_after(const struct writ_http_client *client, int64_t span_us)
{
    return span_us > 0 ? writ_loop_now_us(client->loop) + span_us : WRIT_HTTP_NEVER_US;
}

#endif
