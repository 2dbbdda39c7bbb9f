/* Invariant (1): everything in struct writ_stdio but the atomics belongs to the owner loop; a
 * flight is the one thing that goes between the loops (flight.h). */
#include "gateway/stdio.h"

#include "gateway/stdio_ask.h"
#include "gateway/stdio_hear.h"

#include "base/text.h"

#include <stdlib.h>

#define ENVIRONMENT_MAX (1u << 20) /* bytes */
#define LIST_MAX        513        /* arguments, or variables, with the NULL after them */

/* ---- the child ---- */

static void
on_up(void *ctx, struct writ_child *child)
{
    struct writ_stdio *stdio = ctx;

    WRIT_LOG(stdio->gateway->log, WRIT_LOG_INFO, "upstream_started",
        writ_log_text("upstream", stdio->config->name), writ_log_int("pid", writ_child_pid(child)));
    writ_stdio_hear_begin(stdio);
}

static void
on_line(void *ctx, struct writ_child *child, struct writ_view line)
{
    (void)child;
    writ_stdio_hear_line(ctx, line);
}

/* What was sent and what listens ends with the child; what waits for one waits for the next, unless
 * there seems to be none. */
static void
break_flights(struct writ_stdio *stdio, const struct writ_child_end *end)
{
    const char *why = writ_child_why_name(end->why);
    bool hopeless = end->why == WRIT_CHILD_STOPPED || stdio->failures >= WRIT_STDIO_FAILURES_MAX;

    for (size_t i = 0; i < WRIT_FLIGHT_BUCKETS; i++) {
        while (stdio->buckets[i] != NULL) {
            struct writ_flight *flight = stdio->buckets[i];
            flight->sent = flight->ticket < end->first_unsent; /* stdio_ask.c (1) */
            writ_flight_break(flight, WRIT_UPCALL_BROKEN, why);
        }
    }
    while (stdio->listeners != NULL) {
        writ_flight_break(stdio->listeners, WRIT_UPCALL_BROKEN, why);
    }
    while (hopeless && stdio->waiting != NULL) {
        writ_flight_break(stdio->waiting, WRIT_UPCALL_BROKEN, why);
    }
}

static void
on_down(void *ctx, struct writ_child *child, const struct writ_child_end *end)
{
    struct writ_stdio *stdio = ctx;
    bool stopped = end->why == WRIT_CHILD_STOPPED;

    (void)child;
    stdio->failures += atomic_load(&stdio->state) != WRIT_STDIO_UP ? 1 : 0;
    writ_loop_timer_cancel(&stdio->handshake);
    if (!stopped) {
        WRIT_LOG(stdio->gateway->log, WRIT_LOG_WARN, "upstream_ended",
            writ_log_text("upstream", stdio->config->name),
            writ_log_str("why", writ_child_why_name(end->why)), writ_log_int("detail", end->detail),
            writ_log_int("restart_us", end->restart_us));
    }
    atomic_store(&stdio->state, stopped ? WRIT_STDIO_STOPPED : WRIT_STDIO_DOWN);
    break_flights(stdio, end);
}

static void
on_log(void *ctx, struct writ_child *child, struct writ_view line, uint64_t dropped)
{
    struct writ_stdio *stdio = ctx;

    (void)child;
    WRIT_LOG(stdio->gateway->log, WRIT_LOG_DEBUG, "upstream_stderr",
        writ_log_text("upstream", stdio->config->name), writ_log_text("line", line),
        writ_log_int("dropped", (int64_t)dropped));
}

static const struct writ_child_handler child_handler = {on_up, on_line, on_down, on_log};

/* ---- callers ---- */

static void
start_arrives(struct writ_post *post)
{
    struct writ_flight *flight = post->ctx;

    writ_stdio_ask_take(flight->stdio, flight);
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

    writ_stdio_ask_cancel(flight->stdio, flight, flight->tell);
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

/* ---- life ---- */

static writ_result
environment_of(const struct writ_upstream_config *config, struct writ_buf *text, const char **list,
    struct writ_err *err)
{
    size_t starts[LIST_MAX];
    size_t n = 0;

    WRIT_INVARIANT(config->inherit.n + config->environment.n < LIST_MAX); /* option.tbl.h */
    for (size_t i = 0; i < config->inherit.n; i++) {
        const char *value = getenv(config->inherit.items[i].ptr);
        if (value != NULL) {
            starts[n++] = text->len;
            writ_buf_put(text, config->inherit.items[i]);
            writ_buf_byte(text, '=');
            writ_buf_put(text, writ_view_str(value));
            writ_buf_byte(text, '\0');
        }
    }
    for (size_t i = 0; i < config->environment.n; i++) {
        starts[n++] = text->len;
        writ_buf_put(text, config->environment.items[i].name);
        writ_buf_byte(text, '=');
        writ_buf_put(text, config->environment.items[i].value);
        writ_buf_byte(text, '\0');
    }
    WRIT_TRY(writ_buf_check(text, err));
    for (size_t i = 0; i < n; i++) {
        list[i] = text->ptr + starts[i];
    }
    return WRIT_DONE;
}

static void
open_child(struct writ_post *post)
{
    struct writ_stdio *stdio = post->ctx;
    const struct writ_upstream_config *config = stdio->config;
    const char *argv[LIST_MAX] = {NULL};
    const char *environment[LIST_MAX] = {NULL};
    writ_auto_buf text = writ_buf_make(ENVIRONMENT_MAX);
    struct writ_err err = {{0}, 0, 0};
    struct writ_child_options options = {.argv = argv,
        .environment = environment,
        .directory = config->directory.len > 0 ? config->directory.ptr : NULL,
        .line_max = (size_t)stdio->gateway->config->limits.event_bytes};

    for (size_t i = 0; i < config->stdio.n && i < LIST_MAX - 1; i++) {
        argv[i] = config->stdio.items[i].ptr;
    }
    writ_result r = environment_of(config, &text, environment, &err);
    if (writ_is_ok(r)) {
        r = writ_child_open(stdio->loop, &options, &child_handler, stdio, &stdio->child, &err);
    }
    if (!writ_is_ok(r)) {
        WRIT_LOG(stdio->gateway->log, WRIT_LOG_ERROR, "upstream_not_started",
            writ_log_text("upstream", config->name), writ_log_str("why", err.text));
        atomic_store(&stdio->state, WRIT_STDIO_STOPPED);
    }
}

writ_result
writ_stdio_open(struct writ_gateway *gateway, const struct writ_upstream_config *config,
    struct writ_stdio **ret, struct writ_err *err)
{
    struct writ_stdio *stdio = writ_alloc(sizeof *stdio);

    if (stdio == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for an upstream");
    }
    stdio->gateway = gateway;
    stdio->config = config;
    stdio->loop = gateway->workers[0].loop;
    stdio->initialized = writ_buf_make(1u << 20);
    stdio->open = (struct writ_post){.fn = open_child, .ctx = stdio};
    writ_loop_answer(stdio->loop, &stdio->open);
    *ret = stdio;
    return WRIT_DONE;
}

static void
stop_child(struct writ_post *post)
{
    struct writ_stdio *stdio = post->ctx;

    if (stdio->child != NULL) {
        writ_child_stop(stdio->child);
    } else {
        atomic_store(&stdio->state, WRIT_STDIO_STOPPED);
    }
}

void
writ_stdio_stop(struct writ_stdio *stdio)
{
    stdio->stop = (struct writ_post){.fn = stop_child, .ctx = stdio};
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

void
writ_stdio_close(struct writ_stdio *stdio)
{
    if (stdio != NULL) {
        writ_child_close(stdio->child);
        writ_buf_wipe(&stdio->initialized);
        writ_free(stdio);
    }
}
