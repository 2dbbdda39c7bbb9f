/* incoming.c
 *
 * Invariants:
 *  (1) a request is freed once its handler has answered and libmicrohttpd has completed it:
 * whichever comes last frees it. One that never reached a handler is freed on completion. (2)
 * nothing is given to libmicrohttpd for a detached request. (3) MHD_queue_response may complete the
 * request before it returns: `busy` keeps it alive. (4) on_gone and on_room come from tasks of the
 * loop, never from inside a function that a handler has called. */
#include "gateway/listener/incoming.h"

#include "gateway/listener/connection.h"
#include "gateway/listener/daemon.h"
#include "gateway/listener/metrics.h"
#include "gateway/listener/problem.h"

#define MAGIC             0x57494e43U
#define SPARES_MAX        256   /* requests kept for the next ones, per loop */
#define SPARES_MIN        4     /* of them are kept without need */
#define BODY_KEPT_BYTES   65536 /* a larger buffer is not kept for the next request */
#define REFUSAL_MAX_BYTES 4096
#define SLOWEST_BYTES_MS  16 /* a client that reads fewer bytes in a millisecond is cut off */

struct writ_incoming *
writ_incoming_of(struct writ_exchange *x)
{
    struct writ_incoming *request = (struct writ_incoming *)x;

    WRIT_INVARIANT(request->magic == MAGIC);
    return request;
}

static void
run_gone(struct writ_task *task)
{
    struct writ_incoming *request = task->ctx;

    if (request->on_gone != NULL) {
        void (*fn)(struct writ_exchange *, void *) = request->on_gone;
        request->on_gone = NULL; /* once */
        fn(&request->x, request->on_gone_ctx);
    }
}

static void
run_room(struct writ_task *task)
{
    struct writ_incoming *request = task->ctx;
    bool lost = request->failed || request->detached; /* writes succeed: room would have no end */

    if (request->on_room != NULL && !lost) {
        request->on_room(&request->x, request->on_room_ctx);
    }
}

/* ---- life */

static struct writ_incoming *
request_take(struct writ_acceptor *acceptor)
{
    const struct writ_listener_options *options = acceptor->options;
    struct writ_incoming *request = acceptor->spares;

    if (request != NULL) {
        acceptor->spares = request->next;
        acceptor->spare_count--;
        if (acceptor->spare_count < acceptor->spare_least) {
            acceptor->spare_least = acceptor->spare_count;
        }
        return request;
    }
    request = writ_alloc(sizeof *request);
    if (request == NULL) {
        return NULL;
    }
    request->x.arena = writ_arena_new(options->max_arena_bytes);
    if (request->x.arena == NULL) {
        writ_free(request);
        return NULL;
    }
    /* both are bounded by libmicrohttpd's memory of a connection; a target that is too long must
     * still be distinguished from a lack of memory */
    request->target = writ_buf_make(SIZE_MAX / 2);
    request->head = writ_buf_make(SIZE_MAX / 2);
    request->body = writ_buf_make(0);
    request->scratch = writ_buf_make(WRIT_INCOMING_ANSWER_HEAD_MAX);
    request->queue = writ_buf_make(SIZE_MAX / 2);
    return request;
}

static void
request_destroy(struct writ_incoming *request)
{
    writ_arena_free(request->x.arena);
    writ_free(request->headers);
    writ_buf_wipe(&request->target);
    writ_buf_wipe(&request->head);
    writ_buf_wipe(&request->body);
    writ_buf_wipe(&request->scratch);
    writ_buf_wipe(&request->queue);
    request->magic = 0;
    writ_free(request);
}

/* Zeroes everything except the memory that is kept. */
static void
request_clear(struct writ_incoming *request)
{
    struct writ_incoming kept = *request;

    *request = (struct writ_incoming){
        .x.arena = kept.x.arena,
        .headers = kept.headers,
        .header_room = kept.header_room,
        .target = kept.target,
        .head = kept.head,
        .body = kept.body,
        .scratch = kept.scratch,
        .queue = kept.queue,
    };
    writ_arena_reset(request->x.arena);
    writ_buf_clear(&request->target);
    writ_buf_clear(&request->head);
    writ_buf_clear(&request->scratch);
    if (request->body.cap > BODY_KEPT_BYTES) {
        writ_buf_wipe(&request->body);
    }
    if (request->queue.cap > BODY_KEPT_BYTES) {
        writ_buf_wipe(&request->queue);
        request->queue = writ_buf_make(SIZE_MAX / 2);
    }
    writ_buf_clear(&request->body);
    writ_buf_clear(&request->queue);
}

struct writ_incoming *
writ_incoming_new(struct writ_connection *connection)
{
    struct writ_acceptor *acceptor = connection->daemon->acceptor;
    struct writ_incoming *request = request_take(acceptor);

    if (request == NULL) {
        return NULL;
    }
    request->magic = MAGIC;
    request->acceptor = acceptor;
    request->connection = connection;
    request->x.loop = acceptor->loop;
    request->x.metrics = acceptor->metrics;
    request->x.peer = &connection->peer;
    request->gone_task = (struct writ_task){.fn = run_gone, .ctx = request};
    request->room_task = (struct writ_task){.fn = run_room, .ctx = request};
    return request;
}

void
writ_incoming_free(struct writ_incoming *request)
{
    struct writ_acceptor *acceptor = request->acceptor;
    struct writ_connection *connection = request->connection;

    writ_loop_undefer(&request->gone_task);
    writ_loop_undefer(&request->room_task);
    if (request->link != NULL) {
        *request->link = request->next;
        if (request->next != NULL) {
            request->next->link = request->link;
        }
        request->link = NULL;
    }
    acceptor->bodies_bytes -= request->body.len;
    connection->request = NULL;
    if (connection->closed) {
        writ_connection_free(connection);
    }
    if (acceptor->spare_count < SPARES_MAX && !acceptor->closing) {
        request_clear(request);
        request->next = acceptor->spares;
        acceptor->spares = request;
        acceptor->spare_count++;
    } else {
        request_destroy(request);
    }
}

void
writ_incoming_sweep(struct writ_acceptor *acceptor)
{
    unsigned unneeded =
        acceptor->spare_least > SPARES_MIN ? (acceptor->spare_least - SPARES_MIN + 1) / 2 : 0;

    for (; unneeded > 0; unneeded--) {
        struct writ_incoming *request = acceptor->spares;
        acceptor->spares = request->next;
        acceptor->spare_count--;
        request_destroy(request);
    }
    acceptor->spare_least = acceptor->spare_count;
}

void
writ_incoming_free_all(struct writ_acceptor *acceptor)
{
    while (acceptor->gone != NULL) {
        writ_incoming_free(acceptor->gone);
    }
    while (acceptor->spares != NULL) {
        struct writ_incoming *request = acceptor->spares;
        acceptor->spares = request->next;
        request_destroy(request);
    }
}

void
writ_incoming_stop_waiting(struct writ_incoming *request)
{
    if (request->waiting) {
        request->waiting = false;
        request->connection->daemon->waiting--;
    }
}

static void
show_count(struct writ_acceptor *acceptor)
{
    atomic_store_explicit(
        &acceptor->exchanges_seen, acceptor->exchanges + acceptor->answers, memory_order_relaxed);
}

void
writ_incoming_detach(struct writ_incoming *request)
{
    struct writ_acceptor *acceptor = request->acceptor;

    request->detached = true;
    writ_incoming_stop_waiting(request);
    switch (request->state) {
    case WRIT_INCOMING_ANSWERED:
        acceptor->answers--;
        show_count(acceptor);
        break;
    case WRIT_INCOMING_HEAD:
    case WRIT_INCOMING_BODY:
        break;
    case WRIT_INCOMING_OPEN:
    case WRIT_INCOMING_STREAM:
        request->x.gone = true;
        writ_buf_clear(&request->queue);
        request->queue_sent = 0;
        writ_metrics_count(acceptor->metrics, WRIT_COUNTER_CLIENTS_GONE, 1);
        writ_loop_defer(acceptor->loop, &request->gone_task, WRIT_LOOP_SOON);
        request->next = acceptor->gone;
        request->link = &acceptor->gone;
        if (request->next != NULL) {
            request->next->link = &request->next;
        }
        acceptor->gone = request;
        return; /* keeps (1): the handler has not answered */
    }
    if (!request->busy) {
        writ_incoming_free(request);
    }
}

void
writ_incoming_count(struct writ_acceptor *acceptor, int change)
{
    acceptor->exchanges += (unsigned)change;
    show_count(acceptor);
    writ_metrics_gauge(acceptor->metrics, WRIT_GAUGE_EXCHANGES_OPEN, change);
}

/* The handler is done: its answer is counted until it is out. */
void
writ_incoming_finish(struct writ_incoming *request, unsigned status)
{
    struct writ_acceptor *acceptor = request->acceptor;

    if (request->state == WRIT_INCOMING_STREAM) {
        writ_metrics_gauge(acceptor->metrics, WRIT_GAUGE_STREAMS_OPEN, -1);
    }
    writ_incoming_stop_waiting(request);
    request->state = WRIT_INCOMING_ANSWERED;
    request->on_gone = NULL;
    request->on_room = NULL;
    writ_loop_undefer(&request->gone_task);
    writ_loop_undefer(&request->room_task);
    acceptor->answers += request->detached ? 0 : 1;
    writ_incoming_count(acceptor, -1);
    if (status > 0) {
        writ_metrics_mark(acceptor->metrics, WRIT_VECTOR_STATUS, status / 100);
    }
    writ_metrics_observe(acceptor->metrics, WRIT_HISTOGRAM_REQUEST_SECONDS,
        writ_loop_now_us(acceptor->loop) - request->x.arrived_us);
}

/* ---- answers */

/* Fields of message framing, which the listener sets itself. */
static bool
is_framing_field(struct writ_view name)
{
    static const struct writ_view names[] = {WRIT_LIT("content-length"), WRIT_LIT("connection"),
        WRIT_LIT("transfer-encoding"), WRIT_LIT("date"), WRIT_LIT("keep-alive"),
        WRIT_LIT("upgrade"), WRIT_LIT("trailer"), WRIT_LIT("te")};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (writ_view_equal_nocase(name, names[i])) {
            return true;
        }
    }
    return false;
}

static bool
add_header(struct writ_incoming *request, struct MHD_Response *response, struct writ_view name,
    struct writ_view value)
{
    struct writ_buf *text = &request->scratch;
    size_t at;

    writ_buf_clear(text);
    writ_buf_put(text, name);
    writ_buf_byte(text, '\0');
    at = text->len;
    writ_buf_put(text, value);
    writ_buf_byte(text, '\0');
    return writ_is_ok(writ_buf_check(text, NULL)) &&
           MHD_add_response_header(response, text->ptr, text->ptr + at) == MHD_YES;
}

/* False when a field cannot be written unchanged, or there are too many. */
bool
writ_incoming_add_headers(struct writ_incoming *request, struct MHD_Response *response,
    const struct writ_header *headers, size_t count)
{
    const struct writ_connection *connection = request->connection;
    size_t bytes = 0;

    for (size_t i = 0; i < count; i++) {
        struct writ_view name = headers[i].name;
        struct writ_view value = writ_view_trim(headers[i].value);

        if (is_framing_field(name)) {
            continue;
        }
        bytes += name.len + value.len + 4;
        if (bytes > WRIT_INCOMING_ANSWER_HEAD_MAX || !writ_framing_is_token(name) ||
            !writ_framing_is_value(value) || value.len == 0) {
            return false;
        }
        if (!add_header(request, response, name, value)) {
            return false;
        }
    }
    if (connection->refused || request->acceptor->draining) {
        return add_header(request, response, WRIT_LIT("Connection"), WRIT_LIT("close"));
    }
    return true;
}

/* Passes the answer on and runs the daemon. keeps (2), (3) */
void
writ_incoming_queue(struct writ_incoming *request, unsigned status, struct MHD_Response *response)
{
    struct writ_connection *connection = request->connection;
    struct writ_daemon *daemon = connection->daemon;
    unsigned runs = 1;

    request->busy = true;
    if (MHD_queue_response(connection->mhd, status, response) != MHD_YES) {
        request->failed = true; /* the next access call closes the connection */
    }
    MHD_destroy_response(response);
    request->busy = false;
    if (!request->detached && connection->suspended) {
        connection->suspended = false;
        MHD_resume_connection(connection->mhd);
        runs = 2; /* one to prepare, one to write */
    }
    writ_daemon_poke(daemon, runs);
    if (request->detached && request->state == WRIT_INCOMING_ANSWERED) {
        writ_incoming_free(request);
    }
}

static struct MHD_Response *
response_of(struct writ_incoming *request, const struct writ_header *headers, size_t count,
    struct writ_view body, enum MHD_ResponseMemoryMode mode)
{
    /* libmicrohttpd does not write to a persistent buffer */
    void *bytes = (void *)(body.len > 0 ? body.ptr : "");
    struct MHD_Response *response = MHD_create_response_from_buffer(body.len, bytes, mode);

    if (response != NULL && !writ_incoming_add_headers(request, response, headers, count)) {
        MHD_destroy_response(response);
        return NULL;
    }
    return response;
}

void
writ_incoming_answer(struct writ_incoming *request, unsigned status,
    const struct writ_header *headers, size_t count, struct writ_view body,
    enum MHD_ResponseMemoryMode mode)
{
    struct MHD_Response *response;

    writ_incoming_finish(request, status);
    if (request->detached) {
        writ_incoming_free(request);
        return;
    }
    response = response_of(request, headers, count, body, mode);
    if (response == NULL) {
        status = 500;
        body = (struct writ_view){0};
        response = response_of(request, NULL, 0, body, MHD_RESPMEM_PERSISTENT);
    }
    if (response == NULL) {
        request->failed = true;
        writ_connection_cut(request->connection);
        return;
    }
    writ_metrics_count(request->acceptor->metrics, WRIT_COUNTER_RESPONSE_BYTES, body.len);
    writ_connection_set_phase(
        request->connection, WRIT_CONNECTION_WRITE, writ_incoming_write_ms(request, body.len));
    writ_incoming_queue(request, status, response);
}

void
writ_incoming_refuse(
    struct writ_incoming *request, const struct writ_framing_fault *fault, const char *allow)
{
    writ_auto_buf body = writ_buf_make(REFUSAL_MAX_BYTES);
    struct writ_header headers[2] = {
        {WRIT_LIT("Content-Type"), writ_problem_refusal(request->route, fault, &body)}};
    size_t count = 1;

    if (allow != NULL) {
        headers[count++] = (struct writ_header){WRIT_LIT("Allow"), writ_view_str(allow)};
    }
    if (fault->status == 503) {
        headers[count++] = (struct writ_header){WRIT_LIT("Retry-After"), WRIT_LIT("1")};
    }
    writ_metrics_mark(request->acceptor->metrics, WRIT_VECTOR_REFUSALS, fault->reason);
    request->connection->refused = true;
    request->x.arrived_us = writ_loop_now_us(request->acceptor->loop);
    writ_incoming_count(request->acceptor, 1); /* writ_incoming_answer() undoes it */
    writ_incoming_answer(
        request, fault->status, headers, count, writ_buf_view(&body), MHD_RESPMEM_MUST_COPY);
}

int64_t
writ_incoming_write_ms(const struct writ_incoming *request, size_t bytes)
{
    return request->acceptor->options->write_timeout_ms + (int64_t)(bytes / SLOWEST_BYTES_MS);
}
