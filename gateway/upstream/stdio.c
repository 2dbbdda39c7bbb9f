/* stdio.c - opens, drains and closes a stdio upstream.
 *
 * Invariant (1): only the owner loop uses struct writ_stdio, except its atomics. Only flights go
 * between the loops (flight.h). */
#include "gateway/upstream/stdio.h"

#include "gateway/upstream/instance.h"
#include "gateway/upstream/stdio_handshake.h"
#include "gateway/upstream/stdio_recv.h"
#include "gateway/upstream/stdio_route.h"
#include "gateway/upstream/stdio_send.h"

#define REFUSAL_MAX 65536

/* ---- callers */

static void
start_arrives(struct writ_post *post)
{
    struct writ_flight *flight = post->ctx;

    writ_stdio_route_take(flight->stdio, flight);
}

writ_result
writ_stdio_start(struct writ_stdio *stdio, struct writ_worker *worker, struct writ_upcall *call)
{
    struct writ_flight *flight;

    WRIT_TRY(writ_flight_new(stdio, worker, call, &flight));
    flight->start = (struct writ_post){.fn = start_arrives, .ctx = flight};
    writ_loop_answer(stdio->loop, &flight->start);
    return WRIT_DONE;
}

static void
cancel_arrives(struct writ_post *post)
{
    struct writ_flight *flight = post->ctx;

    writ_stdio_send_cancel(flight, flight->tell);
    writ_flight_drop(flight);
}

void
writ_stdio_cancel(struct writ_upcall *call, bool tell)
{
    struct writ_flight *flight = call->state;

    if (flight->cancelling) {
        return;
    }
    flight->tell = tell;
    writ_flight_forsake(flight);
    flight->cancel = (struct writ_post){.fn = cancel_arrives, .ctx = flight};
    writ_loop_answer(flight->stdio->loop, &flight->cancel);
}

void
writ_stdio_pause(struct writ_upcall *call)
{
    writ_flight_pause(call->state);
}

void
writ_stdio_resume(struct writ_upcall *call)
{
    writ_flight_resume(call->state);
}

/* ---- life */

static void
open_scout(struct writ_post *post)
{
    struct writ_stdio *stdio = post->ctx;
    struct writ_instance *scout;
    static const struct writ_view none = {NULL, 0};

    if (!writ_is_ok(writ_instance_new(stdio, WRIT_INSTANCE_SCOUT, none, none, none, &scout))) {
        stdio->stopping = true;
        atomic_store(&stdio->state, WRIT_STDIO_STOPPED);
    }
}

writ_result
writ_stdio_open(struct writ_gateway *gateway, const struct writ_upstream_config *config,
    struct writ_catalog_snapshot *snapshot, struct writ_stdio **ret, struct writ_err *err)
{
    static const struct writ_stdio_ops ops = {.started = writ_stdio_handshake_begin,
        .line = writ_stdio_recv_line,
        .hopeless = writ_stdio_route_despair};
    struct writ_stdio *stdio = writ_alloc(sizeof *stdio);
    writ_result shared;

    if (stdio == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for an upstream");
    }
    shared = writ_shares_init(&stdio->shares, (size_t)config->children, err);
    if (!writ_is_ok(shared)) {
        writ_free(stdio);
        return shared;
    }
    writ_shares_divide(&stdio->shares, (size_t)config->children,
        (unsigned)gateway->config->limits.agent_percent,
        (unsigned)gateway->config->limits.tenant_percent);
    stdio->gateway = gateway;
    stdio->config = config;
    stdio->ops = &ops;
    stdio->snapshot = snapshot;
    stdio->loop = gateway->workers[0].loop;
    stdio->no_legacy = writ_buf_make(REFUSAL_MAX);
    stdio->versions = writ_buf_make(REFUSAL_MAX);
    stdio->open = (struct writ_post){.fn = open_scout, .ctx = stdio};
    writ_loop_answer(stdio->loop, &stdio->open);
    *ret = stdio;
    return WRIT_DONE;
}

static void
stop_children(struct writ_post *post)
{
    struct writ_stdio *stdio = post->ctx;

    stdio->stopping = true;
    writ_stdio_route_despair(stdio, WRIT_UPCALL_BROKEN);
    for (struct writ_instance *i = stdio->instances; i != NULL; i = i->next) {
        writ_instance_end(i, "gateway_stops");
    }
    if (stdio->instances == NULL) {
        atomic_store(&stdio->state, WRIT_STDIO_STOPPED);
    }
}

void
writ_stdio_stop(struct writ_stdio *stdio)
{
    stdio->stop = (struct writ_post){.fn = stop_children, .ctx = stdio};
    writ_loop_answer(stdio->loop, &stdio->stop);
}

bool
writ_stdio_is_stopped(const struct writ_stdio *stdio)
{
    return atomic_load(&stdio->state) == WRIT_STDIO_STOPPED;
}

bool
writ_stdio_is_up(const struct writ_stdio *stdio)
{
    return atomic_load(&stdio->state) == WRIT_STDIO_UP;
}

bool
writ_stdio_is_refused(const struct writ_stdio *stdio)
{
    return atomic_load(&stdio->program_changed);
}

bool
writ_stdio_is_unaccepted(const struct writ_stdio *stdio)
{
    return writ_stdio_is_refused(stdio) && atomic_load(&stdio->program_unaccepted);
}

void
writ_stdio_close(struct writ_stdio *stdio)
{
    if (stdio == NULL) {
        return;
    }
    while (stdio->instances != NULL) {
        writ_instance_free(stdio->instances);
    }
    writ_shares_wipe(&stdio->shares);
    writ_buf_wipe(&stdio->no_legacy);
    writ_buf_wipe(&stdio->versions);
    writ_free(stdio);
}
