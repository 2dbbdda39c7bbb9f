/* upstream.c - upcalls to an upstream, whether it speaks HTTP or is a child process.
 *
 * Invariants:
 * (1) An upcall's `end` is called exactly once, from a later turn of the loop than its start.
 * (2) After `end` nothing of the upcall is touched: its state has no way back to it. */
#include "gateway/upstream/upstream.h"

#include "gateway/state/gateway.h"
#include "gateway/upstream/breaker.h"
#include "gateway/upstream/stdio.h"
#include "gateway/upstream/upstream_http.h"

#define TAGGED '@' /* no name of an upstream has it */

struct writ_upstream {
    const struct writ_upstream_config *config;
    struct writ_stdio *stdio;        /* a child, or NULL */
    struct writ_upstream_http *http; /* or NULL */
    size_t index;
    struct writ_catalog_snapshot snapshot;
    struct writ_breaker breaker;
    atomic_uint failures; /* in a row */
};

/* ---- every answer ---- */

static bool
is_failure(enum writ_upcall_end end)
{
    switch (end) {
    case WRIT_UPCALL_BROKEN:
    case WRIT_UPCALL_TIMEOUT:
    case WRIT_UPCALL_TOO_LARGE:
    case WRIT_UPCALL_CROWDED:
    case WRIT_UPCALL_PROGRAM:
    case WRIT_UPCALL_NO_TOKEN:
        return true;
    case WRIT_UPCALL_CANCELLED: /* by us */
    case WRIT_UPCALL_ANSWERED:
        return false;
    }
    return true;
}

/* Whether the server itself has answered: the gateway answers notifications for a child, and may
 * answer initialize. */
static bool
has_spoken(const struct writ_upcall *call, const struct writ_upcall_answer *answer)
{
    const struct writ_mcp_message *message = call->request.message;

    return answer->end == WRIT_UPCALL_ANSWERED &&
           (call->upstream->stdio == NULL ||
               (message != NULL && message->kind == WRIT_MCP_REQUEST &&
                   !writ_view_is(message->method, "initialize")));
}

static void
ended(struct writ_upcall *call, const struct writ_upcall_answer *answer)
{
    struct writ_metrics_shard *metrics = call->worker->metrics;

    if (has_spoken(call, answer)) {
        atomic_store(&call->upstream->failures, 0);
        if (writ_breaker_answered(&call->upstream->breaker)) {
            WRIT_LOG(call->worker->gateway->log, WRIT_EVENT_UPSTREAM_ANSWERS,
                writ_log_text("upstream", call->upstream->config->name));
        }
    }
    if (is_failure(answer->end)) {
        atomic_fetch_add(&call->upstream->failures, 1);
        writ_metrics_count(metrics, WRIT_COUNTER_UPSTREAM_FAILURES, 1);
    }
    if (call->request.timeout_us > 0) { /* the others are streams, as long as a client listens */
        writ_metrics_observe(metrics, WRIT_HISTOGRAM_UPSTREAM_SECONDS,
            writ_loop_now_us(call->worker->loop) - call->started_us);
    }
    call->events->end(call, answer); /* keeps (2) */
}

/* ---- both transports ---- */

/* Nothing was begun. */
static void
end_unsent(struct writ_task *task)
{
    struct writ_upcall *call = task->ctx;
    bool absent = call->refused == WRIT_E_ABSENT && call->upstream->stdio == NULL;
    const struct writ_upcall_answer answer = {
        .end = absent ? WRIT_UPCALL_NO_TOKEN : WRIT_UPCALL_BROKEN,
        .sent = WRIT_NOT_SENT,
        .detail = absent ? "no_token" : writ_code_name(call->refused),
    };

    ended(call, &answer);
}

void
writ_upcall_start(
    struct writ_upstream *upstream, struct writ_worker *worker, struct writ_upcall *call)
{
    writ_result r;

    writ_metrics_count(worker->metrics, WRIT_COUNTER_UPSTREAM_REQUESTS, 1);
    call->upstream = upstream;
    call->worker = worker;
    call->started_us = writ_loop_now_us(worker->loop);
    call->ended = ended;
    call->state = NULL;
    call->begun = false;
    r = upstream->stdio != NULL ? writ_stdio_start(upstream->stdio, worker, call)
                                : writ_upstream_http_start(upstream->http, worker, call);
    if (!writ_is_ok(r)) {
        call->refused = r.code;
        call->unsent = (struct writ_task){.fn = end_unsent, .ctx = call};
        writ_loop_defer(worker->loop, &call->unsent, WRIT_LOOP_SOON); /* keeps (1) */
    }
}

void
writ_upcall_cancel(struct writ_upcall *call, bool tell)
{
    if (call->state == NULL) {
        return; /* it was not started: its end follows */
    }
    if (call->upstream->stdio != NULL) {
        writ_stdio_cancel(call, tell);
    } else {
        writ_upstream_http_cancel(call);
    }
}

void
writ_upcall_pause(struct writ_upcall *call)
{
    if (call->state == NULL) {
        return;
    }
    if (call->upstream->stdio != NULL) {
        writ_stdio_pause(call);
    } else {
        writ_upstream_http_pause(call);
    }
}

void
writ_upcall_resume(struct writ_upcall *call)
{
    if (call->state == NULL) {
        return;
    }
    if (call->upstream->stdio != NULL) {
        writ_stdio_resume(call);
    } else {
        writ_upstream_http_resume(call);
    }
}

/* ---- life ---- */

static void
upstream_freep(struct writ_upstream **upstream)
{
    writ_upstream_close(*upstream);
}

writ_result
writ_upstream_open(struct writ_gateway *gateway, const struct writ_upstream_config *config,
    struct writ_upstream **ret, struct writ_err *err)
{
    WRIT_AUTO(struct writ_upstream *, upstream_freep) upstream = writ_alloc(sizeof *upstream);

    if (upstream == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for an upstream");
    }
    WRIT_TRY(writ_catalog_snapshot_init(&upstream->snapshot, err));
    upstream->config = config;
    upstream->index = gateway->upstreams_n;
    switch (config->kind) {
    case WRIT_UPSTREAM_NONE:
        WRIT_FAIL(err, WRIT_E_INVALID, "an upstream is neither http nor stdio");
    case WRIT_UPSTREAM_STDIO:
        WRIT_TRY(writ_stdio_open(gateway, config, &upstream->snapshot, &upstream->stdio, err));
        break;
    case WRIT_UPSTREAM_HTTP:
        WRIT_TRY(writ_upstream_http_open(gateway, config, upstream->index, &upstream->http, err));
        break;
    }
    *ret = WRIT_TAKE(upstream);
    return WRIT_DONE;
}

void
writ_upstream_expire(struct writ_upstream *upstream, const struct writ_worker *worker)
{
    if (upstream->http != NULL) {
        writ_upstream_http_expire(upstream->http, worker);
    }
}

void
writ_upstream_stop(struct writ_upstream *upstream)
{
    if (upstream->stdio != NULL) {
        writ_stdio_stop(upstream->stdio);
    }
}

bool
writ_upstream_is_stopped(const struct writ_upstream *upstream)
{
    return upstream->stdio == NULL || writ_stdio_is_stopped(upstream->stdio);
}

void
writ_upstream_close(struct writ_upstream *upstream)
{
    if (upstream == NULL) {
        return;
    }
    writ_upstream_http_close(upstream->http);
    writ_stdio_close(upstream->stdio);
    writ_catalog_snapshot_wipe(&upstream->snapshot);
    writ_free(upstream);
}

size_t
writ_upstream_index(const struct writ_upstream *upstream)
{
    return upstream->index;
}

struct writ_catalog_snapshot *
writ_upstream_snapshot(struct writ_upstream *upstream)
{
    return &upstream->snapshot;
}

const struct writ_upstream_config *
writ_upstream_config(const struct writ_upstream *upstream)
{
    return upstream->config;
}

bool
writ_upstream_is_up(const struct writ_upstream *upstream)
{
    return upstream->stdio == NULL || writ_stdio_is_up(upstream->stdio);
}

bool
writ_upstream_is_refused(const struct writ_upstream *upstream)
{
    return upstream->stdio != NULL && writ_stdio_is_refused(upstream->stdio);
}

bool
writ_upstream_is_unaccepted(const struct writ_upstream *upstream)
{
    return upstream->stdio != NULL && writ_stdio_is_unaccepted(upstream->stdio);
}

bool
writ_upstream_answers(const struct writ_upstream *upstream)
{
    return writ_upstream_is_up(upstream) &&
           atomic_load(&upstream->failures) < WRIT_UPSTREAM_FAILURES;
}

/* ---- what is asked of several upstreams at once */

bool
writ_upstream_lets(struct writ_upstream *upstream, const struct writ_worker *worker)
{
    return writ_breaker_lets(&upstream->breaker, writ_loop_now_us(worker->loop),
        WRIT_UPSTREAM_LIST_TIMES * upstream->config->list_timeout_us);
}

void
writ_upstream_was_silent(struct writ_upstream *upstream, const struct writ_worker *worker)
{
    if (writ_breaker_silent(&upstream->breaker, writ_loop_now_us(worker->loop))) {
        WRIT_LOG(worker->gateway->log, WRIT_EVENT_UPSTREAM_SILENT,
            writ_log_text("upstream", upstream->config->name),
            writ_log_str("why", "it is left out of lists until it answers"));
    }
}

bool
writ_upstream_is_left_out(const struct writ_upstream *upstream, int64_t now_us)
{
    return writ_breaker_is_open(&upstream->breaker, now_us);
}

struct writ_upstream *
writ_upstream_find(const struct writ_gateway *gateway, struct writ_view name)
{
    for (size_t i = 0; i < gateway->upstreams_n; i++) {
        if (writ_view_equal(writ_upstream_config(gateway->upstreams[i])->name, name)) {
            return gateway->upstreams[i];
        }
    }
    return NULL;
}

WRIT_RESULT
writ_upstream_asker_put(
    const struct writ_upstream *upstream, const struct writ_gateway *gateway, struct writ_buf *ret)
{
    const struct writ_upstream_config *config = writ_upstream_config(upstream);

    writ_buf_put(ret, config->name);
    if (config->kind == WRIT_UPSTREAM_STDIO) {
        writ_buf_byte(ret, TAGGED);
        writ_buf_str(ret, gateway->tag);
    }
    return writ_buf_check(ret, NULL);
}

struct writ_upstream *
writ_upstream_asker_find(
    const struct writ_gateway *gateway, struct writ_view name, bool *ret_foreign)
{
    size_t at = writ_view_find(name, TAGGED);
    struct writ_upstream *upstream = writ_upstream_find(gateway, writ_view_sub(name, 0, at));

    *ret_foreign = upstream != NULL &&
                   writ_upstream_config(upstream)->kind == WRIT_UPSTREAM_STDIO &&
                   !writ_view_is(writ_view_sub(name, at + 1, name.len), gateway->tag);
    return upstream;
}
