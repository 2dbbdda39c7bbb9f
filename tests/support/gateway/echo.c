/* A listener whose handlers return what they received, so that a test sees exactly what the
 * listener accepted. */
#include "support/gateway/echo.h"

#include "base/text.h"

#include <stdlib.h>
#include <unistd.h>

#define PIECE 1000

/* What a handler keeps for an exchange, in its arena. */
struct job {
    struct echo *echo;
    struct writ_exchange *x;
    struct writ_timer timer;
    struct writ_task task;
    uint64_t left;
};

static struct job *
job_new(struct writ_exchange *x, struct echo *echo)
{
    struct job *job = writ_arena_get(x->arena, sizeof *job);

    WRIT_INVARIANT(job != NULL);
    *job = (struct job){.echo = echo, .x = x};
    x->user = job;
    return job;
}

static const struct writ_header event_type = {
    WRIT_LIT("Content-Type"), WRIT_LIT("text/event-stream")};
static const struct writ_header json_type = {
    WRIT_LIT("Content-Type"), WRIT_LIT("application/json")};

static void
reply_body(struct writ_exchange *x)
{
    writ_exchange_reply_held(x, 200, &json_type, 1, x->body);
}

static void
on_delay(struct writ_timer *timer)
{
    struct job *job = timer->ctx;

    reply_body(job->x);
}

static void
on_gone(struct writ_exchange *x, void *ctx)
{
    struct job *job = x->user;

    (void)ctx;
    writ_loop_timer_cancel(&job->timer);
    atomic_fetch_add(&job->echo->gone, 1);
    writ_exchange_reply(x, 200, NULL, 0, WRIT_LIT("this is dropped"));
}

static void
on_stream_gone(struct writ_exchange *x, void *ctx)
{
    struct job *job = x->user;

    (void)ctx;
    writ_loop_undefer(&job->task);
    writ_loop_timer_cancel(&job->timer);
    atomic_fetch_add(&job->echo->gone, 1);
    writ_exchange_end(x);
}

static void
on_event(struct writ_timer *timer)
{
    struct job *job = timer->ctx;
    char text[64];
    struct writ_buf event = {.ptr = text, .cap = sizeof text, .max = sizeof text};

    if (job->left == 0) {
        writ_exchange_end(job->x);
        return;
    }
    writ_buf_fmt(&event, "data: %llu\n\n", (unsigned long long)job->left--);
    WRIT_INVARIANT(writ_is_ok(writ_exchange_write(job->x, writ_buf_view(&event))));
    writ_loop_timer_set(timer->loop, timer, 0);
}

static void
flood(struct writ_exchange *x, void *ctx)
{
    static const char piece[PIECE] = {0};
    struct job *job = ctx;

    while (job->left > 0) {
        size_t n = job->left < PIECE ? (size_t)job->left : PIECE;
        if (!writ_is_ok(writ_exchange_write(x, writ_view(piece, n)))) {
            atomic_fetch_add(&job->echo->busy, 1);
            return;
        }
        job->left -= n;
    }
    writ_exchange_end(x);
}

static void
reply_headers(struct writ_exchange *x)
{
    writ_auto_buf text = writ_buf_make(65536);
    size_t count = 0;
    const struct writ_header *headers = writ_exchange_headers(x, &count);

    for (size_t i = 0; i < count; i++) {
        writ_buf_put(&text, headers[i].name);
        writ_buf_str(&text, "=");
        writ_buf_put(&text, headers[i].value);
        writ_buf_str(&text, "\n");
    }
    writ_exchange_reply(x, 200, NULL, 0, writ_buf_view(&text));
}

static void
reply_peer(struct writ_exchange *x)
{
    writ_auto_buf text = writ_buf_make(65536);

    writ_buf_fmt(&text, "%d %d " WRIT_VIEW_FMT "|" WRIT_VIEW_FMT "|" WRIT_VIEW_FMT,
        x->peer->loopback, x->peer->tls, WRIT_VIEW_ARG(x->peer->certificate_subject),
        WRIT_VIEW_ARG(x->peer->certificate_name), WRIT_VIEW_ARG(x->peer->certificate_digest));
    writ_exchange_reply(x, 200, NULL, 0, writ_buf_view(&text));
}

static void
start_stream(struct writ_exchange *x, struct job *job, uint64_t events)
{
    job->left = events;
    job->timer = (struct writ_timer){.fn = on_event, .ctx = job};
    writ_exchange_on_gone(x, on_stream_gone, NULL);
    writ_exchange_stream(x, 200, &event_type, 1);
    writ_loop_timer_set(x->loop, &job->timer, 0);
}

static void
start_watch(struct writ_exchange *x, struct job *job, uint64_t ms)
{
    if (ms > 0) {
        job->timer = (struct writ_timer){.fn = on_delay, .ctx = job};
        writ_loop_timer_set(x->loop, &job->timer, writ_loop_now_us(x->loop) + (int64_t)ms * 1000);
    }
}

static void
start_silence(struct writ_exchange *x)
{
    writ_exchange_on_gone(x, on_stream_gone, NULL);
    writ_exchange_stream(x, 200, &event_type, 1);
    writ_exchange_heartbeat(x, 250);
    writ_exchange_probe(x, 0);
    WRIT_INVARIANT(writ_is_ok(writ_exchange_write(x, WRIT_LIT("data: first\n\n"))));
}

static void
start_flood(struct writ_exchange *x, struct job *job, uint64_t bytes)
{
    job->left = bytes;
    writ_exchange_on_room(x, flood, job);
    writ_exchange_on_gone(x, on_stream_gone, NULL);
    writ_exchange_stream(x, 200, NULL, 0);
    flood(x, job);
}

static void
reply_long_header(struct writ_exchange *x, uint64_t bytes)
{
    char *value = writ_arena_get(x->arena, bytes);
    struct writ_header field = {WRIT_LIT("X"), writ_view(value, bytes - 5)};

    WRIT_INVARIANT(value != NULL && bytes > 5);
    for (uint64_t i = 0; i < bytes; i++) {
        value[i] = 'v';
    }
    writ_exchange_reply(x, 200, &field, 1, WRIT_LIT("ok"));
}

static void
reply_big(struct writ_exchange *x, uint64_t bytes)
{
    char *body = writ_arena_get(x->arena, bytes > 0 ? bytes : 1);

    if (body == NULL) {
        writ_exchange_reply(x, 500, NULL, 0, WRIT_LIT("no memory"));
        return;
    }
    for (uint64_t i = 0; i < bytes; i++) {
        body[i] = (char)('a' + i % 26);
    }
    writ_exchange_reply_held(x, 200, NULL, 0, writ_view(body, bytes));
}

/* A stream whose last bytes, from 'a' to 'z' again and again, are not copied. */
static void
end_stream(struct writ_exchange *x, uint64_t bytes)
{
    char *body = writ_arena_get(x->arena, bytes);
    const struct writ_view last[WRIT_EXCHANGE_LAST] = {
        writ_view(body, bytes), WRIT_LIT("the end\n")};

    WRIT_INVARIANT(body != NULL);
    for (uint64_t i = 0; i < bytes; i++) {
        body[i] = (char)('a' + i % 26);
    }
    writ_exchange_stream(x, 200, &event_type, 1);
    WRIT_INVARIANT(writ_is_ok(writ_exchange_write(x, WRIT_LIT("the begin\n"))));
    writ_exchange_end_with(x, last);
}

/* The number after the last '/' of the path. */
static uint64_t
number_of(struct writ_view suffix)
{
    size_t slash = writ_view_find(suffix, '/');
    uint64_t number = 0;

    if (!writ_is_ok(
            writ_text_u64(writ_view_sub(suffix, slash + 1, suffix.len), 0, UINT32_MAX, &number))) {
        return 0;
    }
    return number;
}

static void
handle(struct writ_exchange *x, void *ctx)
{
    struct job *job = job_new(x, ctx);
    struct writ_view what = writ_view_sub(x->suffix, 0, writ_view_find(x->suffix, '/'));
    uint64_t number = number_of(x->suffix);

    atomic_fetch_add(&job->echo->handled, 1);
    if (writ_view_is(what, "echo")) {
        reply_body(x);
    } else if (writ_view_is(what, "delay")) {
        job->timer = (struct writ_timer){.fn = on_delay, .ctx = job};
        writ_exchange_on_gone(x, on_gone, NULL);
        writ_loop_timer_set(
            x->loop, &job->timer, writ_loop_now_us(x->loop) + (int64_t)number * 1000);
    } else if (writ_view_is(what, "hold") || writ_view_is(what, "watch")) {
        writ_exchange_on_gone(x, on_gone, NULL);
        if (writ_view_is(what, "watch")) {
            writ_exchange_probe(x, 0);
            start_watch(x, job, number);
        }
    } else if (writ_view_is(what, "events")) {
        start_stream(x, job, number);
    } else if (writ_view_is(what, "silent")) {
        start_silence(x);
    } else if (writ_view_is(what, "flood")) {
        start_flood(x, job, ECHO_FLOOD_BYTES);
    } else if (writ_view_is(what, "endless")) {
        start_flood(x, job, UINT64_MAX);
    } else if (writ_view_is(what, "abort")) {
        writ_exchange_stream(x, 200, &event_type, 1);
        WRIT_INVARIANT(writ_is_ok(writ_exchange_write(x, WRIT_LIT("data: 1\n\n"))));
        writ_exchange_abort(x);
    } else if (writ_view_is(what, "longheader")) {
        reply_long_header(x, number);
    } else if (writ_view_is(what, "badheader")) {
        struct writ_header split = {WRIT_LIT("X"), WRIT_LIT("a\r\nSet-Cookie: b")};
        writ_exchange_reply(x, 200, &split, 1, WRIT_LIT("ok"));
    } else if (writ_view_is(what, "big")) {
        reply_big(x, number);
    } else if (writ_view_is(what, "last")) {
        end_stream(x, number);
    } else if (writ_view_is(what, "headers")) {
        reply_headers(x);
    } else if (writ_view_is(what, "peer")) {
        reply_peer(x);
    } else {
        writ_exchange_reply(x, 200, NULL, 0, WRIT_LIT("ok"));
    }
}

static void
handle_any(struct writ_exchange *x, void *ctx)
{
    struct echo *echo = ctx;

    atomic_fetch_add(&echo->handled, 1);
    reply_body(x);
}

static bool
is_ready(void *ctx, const struct writ_loop *loop, struct writ_buf *ret_names)
{
    struct echo *echo = ctx;

    (void)loop;
    (void)ret_names;
    return atomic_load(&echo->ready);
}

static void
fill_routes(struct echo *echo, bool any)
{
    struct writ_route every = {.path = WRIT_LIT("/"),
        .prefix = true,
        .methods = WRIT_ROUTE_GET | WRIT_ROUTE_POST | WRIT_ROUTE_DELETE,
        .max_body_bytes = 1U << 20,
        .handler = handle_any,
        .ctx = echo};
    struct writ_route all = {.path = WRIT_LIT("/t/"),
        .prefix = true,
        .methods = WRIT_ROUTE_GET | WRIT_ROUTE_POST,
        .json = true,
        .max_body_bytes = 1U << 20,
        .handler = handle,
        .ctx = echo};
    struct writ_route raw = {.path = WRIT_LIT("/raw"),
        .methods = WRIT_ROUTE_POST,
        .max_body_bytes = 100,
        .handler = handle,
        .ctx = echo};

    echo->admin.metrics = echo->metrics;
    WRIT_INVARIANT(writ_is_ok(writ_admin_add(&echo->admin, "ledger", is_ready, echo, NULL)));
    echo->routes[0] = all;
    echo->routes[1] = raw;
    writ_admin_routes(&echo->admin, &echo->routes[2]);
    echo->route_count = 2 + WRIT_ADMIN_ROUTES;
    if (any) {
        echo->routes[echo->route_count++] = every;
    }
}

static struct echo *
echo_open(
    size_t loops, struct writ_listener_options options, bool any, bool start, struct writ_err *err)
{
    struct echo *echo = calloc(1, sizeof *echo);

    WRIT_INVARIANT(echo != NULL && loops <= ECHO_LOOPS_MAX);
    WRIT_INVARIANT(writ_is_ok(writ_metrics_new(loops, &echo->metrics, NULL)));
    for (size_t i = 0; i < loops; i++) {
        struct writ_loop_options each = {.index = (unsigned)i};
        WRIT_INVARIANT(writ_is_ok(writ_loop_new(&each, &echo->loops[i], NULL)));
        echo->loop_count++;
    }
    fill_routes(echo, any);
    if (options.address.len == 0) {
        options.address = WRIT_LIT("127.0.0.1:0");
    }
    options.routes = echo->routes;
    options.route_count = echo->route_count;
    options.metrics = echo->metrics;
    if (!writ_is_ok(writ_listener_open(&options, echo->loops, loops, &echo->listener, err))) {
        echo->loop_count = 0;
        for (size_t i = 0; i < loops; i++) {
            writ_loop_free(echo->loops[i]);
        }
        writ_metrics_free(echo->metrics);
        free(echo);
        return NULL;
    }
    echo->started = start;
    for (size_t i = 0; start && i < loops; i++) {
        WRIT_INVARIANT(writ_is_ok(writ_loop_start(echo->loops[i], NULL)));
    }
    return echo;
}

struct echo *
echo_try(size_t loops, struct writ_listener_options options, struct writ_err *err)
{
    return echo_open(loops, options, false, true, err);
}

struct echo *
echo_start_any(void)
{
    struct echo *echo = echo_open(1, (struct writ_listener_options){0}, true, true, NULL);

    WRIT_INVARIANT(echo != NULL);
    return echo;
}

struct echo *
echo_start_here(void)
{
    struct echo *echo = echo_open(1, (struct writ_listener_options){0}, false, false, NULL);

    WRIT_INVARIANT(echo != NULL);
    return echo;
}

struct echo *
echo_start(size_t loops, struct writ_listener_options options)
{
    struct writ_err err = {0};
    struct echo *echo = echo_try(loops, options, &err);

    if (echo == NULL) {
        (void)!write(2, err.text, writ_view_str(err.text).len);
    }
    WRIT_INVARIANT(echo != NULL);
    return echo;
}

uint16_t
echo_port(const struct echo *echo)
{
    return writ_listener_port(echo->listener);
}

void
echo_stop(struct echo *echo)
{
    for (size_t i = 0; echo->started && i < echo->loop_count; i++) {
        writ_loop_stop(echo->loops[i]);
        WRIT_INVARIANT(writ_is_ok(writ_loop_join(echo->loops[i], NULL)));
    }
    writ_listener_free(echo->listener);
    for (size_t i = 0; i < echo->loop_count; i++) {
        writ_loop_free(echo->loops[i]);
    }
    writ_metrics_free(echo->metrics);
    free(echo);
}
