/* request.h - an exchange with what its handler must not see. Inside of the listener.
 *
 * It begins with the request line and ends when its handler has answered and libmicrohttpd is
 * through with it; whichever comes last frees it. */
#ifndef WRIT_GATEWAY_INCOMING_H
#define WRIT_GATEWAY_INCOMING_H

#include "gateway/listener/exchange.h"
#include "gateway/http/framing.h"
#include "gateway/listener/listener.h"
#include "gateway/io/loop.h"

#include <microhttpd.h>

struct writ_acceptor;
struct writ_connection;

enum writ_incoming_state {
    WRIT_INCOMING_HEAD = 0, /* the request line was read */
    WRIT_INCOMING_BODY,     /* the head was accepted; the body is coming */
    WRIT_INCOMING_OPEN,     /* the handler has it */
    WRIT_INCOMING_STREAM,   /* the handler writes a stream */
    WRIT_INCOMING_ANSWERED, /* whole answer queued; the handler is through with it */
};

struct writ_incoming {
    struct writ_exchange x; /* first: the handler's pointer is this struct's */
    uint32_t magic;
    enum writ_incoming_state state;
    struct writ_acceptor *acceptor;
    struct writ_connection *connection; /* lives at least as long as this */
    const struct writ_route *route;
    bool detached; /* libmicrohttpd is through with it: nothing can be sent */
    bool busy;     /* inside MHD_queue_response: do not free yet */
    bool failed;   /* the connection closes without an end of the answer */
    bool waiting;  /* counted in daemon->waiting */

    struct writ_buf target; /* the request target as it was sent */
    const char *target_at;  /* where libmicrohttpd has it */
    struct writ_view raw;   /* where libmicrohttpd has the head; only pointers are compared later */
    struct writ_buf head;   /* names and values, copied */
    struct writ_buf body;
    struct writ_buf scratch;     /* one field of the answer, NUL-terminated */
    struct writ_header *headers; /* room for WRIT_FRAMING_FIELDS_MAX */
    size_t header_count;

    struct writ_buf queue; /* of a stream */
    size_t queue_sent;     /* how much of it libmicrohttpd has taken */
    bool ended;            /* nothing more will be written */
    bool starved;          /* a write was refused; on_room is owed */
    int64_t wrote_us;      /* when the queue last moved */
    int64_t heartbeat_us;

    void (*on_gone)(struct writ_exchange *x, void *ctx);
    void *on_gone_ctx;
    void (*on_room)(struct writ_exchange *x, void *ctx);
    void *on_room_ctx;
    struct writ_task gone_task, room_task;

    struct writ_incoming *next, **link; /* among the spare ones, or those whose client has gone */
};

/** The request of an exchange. */
struct writ_incoming *writ_incoming_of(struct writ_exchange *x);

/** A request on a connection, in state HEAD; NULL when there is no memory. */
struct writ_incoming *writ_incoming_new(struct writ_connection *connection);

/** Frees it, and its connection when that is closed. */
void writ_incoming_free(struct writ_incoming *request);

/** Frees the spare ones, and those whose client has gone. */
void writ_incoming_free_all(struct writ_acceptor *acceptor);

/** libmicrohttpd is through with it. Frees it unless its handler still has to answer. */
void writ_incoming_detach(struct writ_incoming *request);

/** The handler is through with it. `status` 0: it was counted before. */
void writ_incoming_finish(struct writ_incoming *request, unsigned status);

/** Adds the fields of an answer. False when one cannot be written, or they are too many. */
bool writ_incoming_add_headers(struct writ_incoming *request, struct MHD_Response *response,
    const struct writ_header *headers, size_t count);

/** It no longer waits unsuspended, if it did. */
void writ_incoming_stop_waiting(struct writ_incoming *request);

/** Hands the answer over to libmicrohttpd, and has it run. Takes the response. May free the request
 * of a handler that is through with it. */
void writ_incoming_queue(
    struct writ_incoming *request, unsigned status, struct MHD_Response *response);

/** Answers whole, and ends the exchange. */
void writ_incoming_answer(struct writ_incoming *request, unsigned status,
    const struct writ_header *headers, size_t count, struct writ_view body,
    enum MHD_ResponseMemoryMode mode);

/** Answers for a request that no handler has got, and has its connection closed.
 * @param allow  the methods of a 405, or NULL */
void writ_incoming_refuse(
    struct writ_incoming *request, const struct writ_framing_fault *fault, const char *allow);

/** Appends the body of a refusal, as the route tells them (NULL: none is known yet), and gives its
 * media type. */
struct writ_view writ_incoming_put_refusal(
    const struct writ_route *route, const struct writ_framing_fault *fault, struct writ_buf *ret);

/** Queues a heartbeat if one is due. */
void writ_incoming_beat(struct writ_incoming *request, int64_t now_us);

/** True for a stream whose client takes nothing any more. */
bool writ_incoming_is_stuck(const struct writ_incoming *request, int64_t now_us);

/** How much of a stream waits. */
size_t writ_incoming_pending(const struct writ_incoming *request);

/** How long a client may take for an answer of this size. */
int64_t writ_incoming_write_ms(const struct writ_incoming *request, size_t bytes);

#endif
