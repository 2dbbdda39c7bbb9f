/* instance.c - one child of a stdio upstream, with its handshake and its flights.
 *
 * Invariants:
 * (1) An instance is in its upstream's list until it is freed; it is freed when its child has
 *     ended, from a task, or after the loops have ended.
 * (2) An ending instance has no flights and is not found any more.
 * (3) A child that ends by itself is started again (child.h) and gets the same initialize as the
 *     last one: its session keeps the same boundary, so that a call is not run twice. */
#include "gateway/upstream/instance.h"

#include "gateway/io/child.h"
#include "gateway/upstream/client_env.h"
#include "gateway/upstream/stdio_program.h"
#include "gateway/upstream/stdio_refuse.h"
#include "gateway/upstream/stdio_send.h"
#include "gateway/upstream/stdio_stream.h"
#include "gateway/io/exec_env.h"

#include "base/text.h"

#include <stdlib.h>
#include <string.h>

#define HELLO_MAX      (1u << 20)
#define ASKED_MAX      65536
#define BACKLOG_MAX    262144
#define KEPT_MAX       65536
#define END_FIELDS_MAX (4 + WRIT_CHILD_LOG_FIELDS)
#define GIVEN_ARENA    (1u << 20)
#define IDLE_LOOKS     4 /* idle checks of an unused child before it is ended */

/* ---- the child */

static void
note_state(struct writ_stdio *stdio)
{
    bool up = false;

    for (struct writ_instance *i = stdio->instances; i != NULL; i = i->next) {
        up = up || i->state == WRIT_INSTANCE_UP;
    }
    if (atomic_load(&stdio->state) != WRIT_STDIO_STOPPED) {
        atomic_store(&stdio->state, up ? WRIT_STDIO_UP : WRIT_STDIO_DOWN);
    }
}

static enum writ_child_may
may_start(void *ctx, struct writ_child *child, int *ret_program)
{
    (void)child;
    return writ_stdio_program_ask(ctx, ret_program);
}

static void
on_up(void *ctx, struct writ_child *child)
{
    struct writ_instance *instance = ctx;

    WRIT_LOG(instance->stdio->gateway->log, WRIT_EVENT_UPSTREAM_STARTED,
        writ_log_text("upstream", instance->stdio->config->name),
        writ_log_int("pid", writ_child_pid(child)));
    instance->stdio->ops->started(instance);
}

static void
on_line(void *ctx, struct writ_child *child, struct writ_view line)
{
    struct writ_instance *instance = ctx;

    (void)child;
    instance->stdio->ops->line(instance, line);
}

/* Sent flights and streams end with the child. */
static void
break_sent(struct writ_instance *instance, uint64_t first_unsent, const char *why)
{
    for (size_t i = 0; i < WRIT_FLIGHT_BUCKETS; i++) {
        while (instance->buckets[i] != NULL) {
            struct writ_flight *flight = instance->buckets[i];
            flight->sent = flight->ticket < first_unsent; /* stdio_send.c (1) */
            writ_flight_break(flight, WRIT_UPCALL_BROKEN, why);
        }
    }
    while (instance->listeners != NULL) {
        writ_flight_break(instance->listeners, WRIT_UPCALL_BROKEN, why);
    }
    while (instance->heirs != NULL) {
        writ_flight_break(instance->heirs, WRIT_UPCALL_BROKEN, why);
    }
    writ_stdio_stream_forget(instance);
    writ_buf_clear(&instance->asked);
    writ_buf_clear(&instance->backlog);
}

static void
break_waiting(struct writ_instance *instance, enum writ_upcall_end end, const char *why)
{
    while (instance->waiting != NULL) {
        writ_flight_break(instance->waiting, end, why);
    }
}

static void
free_task(struct writ_task *task)
{
    writ_instance_free(task->ctx);
}

/* A session's first child that does not start is not started again: its client gets the error, and
 * may try again itself. */
static bool
is_given_up(const struct writ_instance *instance)
{
    return instance->kind == WRIT_INSTANCE_SESSION && !instance->was_up;
}

/* For a server that did not come up, also its last text on standard error: it got no call. */
static void
log_end(const struct writ_instance *instance, const struct writ_child_end *end, bool was_up)
{
    const struct writ_upstream_config *config = instance->stdio->config;
    struct writ_log_field fields[END_FIELDS_MAX] = {
        writ_log_text("upstream", config->name),
        writ_log_text("program", config->stdio.items[0]),
        writ_log_int("restart_us", end->restart_us),
    };
    size_t n = 3;

    if (!was_up) {
        fields[n++] = writ_log_int("failures", instance->failures);
    }
    n += writ_child_log_end(end, !was_up, fields + n);
    writ_log_write(instance->stdio->gateway->log, WRIT_EVENT_UPSTREAM_ENDED, fields, n);
}

/* Flights that wait for a child wait for the next one, unless none seems to start. */
static void
give_up(struct writ_instance *instance, const char *why)
{
    enum writ_upcall_end end = instance->forbidden ? WRIT_UPCALL_PROGRAM : WRIT_UPCALL_BROKEN;

    if (!instance->forbidden && instance->failures < WRIT_STDIO_FAILURES_MAX) {
        return;
    }
    break_waiting(instance, end, why);
    if (instance->kind == WRIT_INSTANCE_SCOUT) {
        instance->stdio->ops->hopeless(instance->stdio, end);
    }
}

static void
on_down(void *ctx, struct writ_child *child, const struct writ_child_end *end)
{
    struct writ_instance *instance = ctx;
    struct writ_stdio *stdio = instance->stdio;

    bool was_up = instance->state == WRIT_INSTANCE_UP;

    (void)child;
    instance->forbidden = end->why == WRIT_CHILD_FORBIDDEN;
    instance->failures += was_up || instance->forbidden ? 0 : 1;
    instance->renews = false;
    instance->state = WRIT_INSTANCE_DOWN;
    writ_loop_timer_cancel(&instance->handshake);
    if (end->why == WRIT_CHILD_STOPPED) {
        writ_loop_defer(stdio->loop, &instance->free, WRIT_LOOP_SOON); /* keeps (1) */
        return;
    }
    if (!instance->forbidden) { /* else the log has the file */
        log_end(instance, end, was_up);
    }
    note_state(stdio);
    break_sent(instance, end->first_unsent, writ_child_why_name(end->why));
    give_up(instance, writ_child_why_name(end->why));
    if (is_given_up(instance)) {
        writ_instance_end(instance, writ_child_why_name(end->why));
    }
}

static void
on_log(void *ctx, struct writ_child *child, struct writ_view line, uint64_t dropped)
{
    struct writ_instance *instance = ctx;

    (void)child;
    WRIT_LOG(instance->stdio->gateway->log, WRIT_EVENT_UPSTREAM_STDERR,
        writ_log_text("upstream", instance->stdio->config->name), writ_log_text("line", line),
        writ_log_int("dropped", (int64_t)dropped));
}

static const struct writ_child_handler child_handler = {.may_start = may_start,
    .on_up = on_up,
    .on_line = on_line,
    .on_down = on_down,
    .on_log = on_log};

/* The configured variables, and then those of the client in the place of the gateway's own. */
static WRIT_RESULT
make_given(const struct writ_upstream_config *config, const struct writ_client_env *client,
    struct writ_arena *arena, struct writ_exec_env *ret, struct writ_err *err)
{
    static const struct writ_views none = {NULL, 0};
    size_t n = config->environment.n + client->variables.n;
    struct writ_pair *all = writ_arena_get(arena, (n + 1) * sizeof *all);

    if (all == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for an environment");
    }
    for (size_t i = 0; i < n; i++) {
        all[i] = i < config->environment.n ? config->environment.items[i]
                                           : client->variables.items[i - config->environment.n];
    }
    return writ_exec_env_make(&config->stdio, &none, &(struct writ_pairs){all, n}, ret, err);
}

static writ_result
open_child(struct writ_instance *instance, struct writ_view given, struct writ_err *err)
{
    const struct writ_upstream_config *config = instance->stdio->config;
    WRIT_AUTO(struct writ_exec_env, writ_exec_env_wipe) around = {.argv = {NULL}};
    writ_auto_arena arena = writ_arena_new(GIVEN_ARENA);
    struct writ_client_env client = {0};
    struct writ_child_options options = {.argv = around.argv,
        .environment = around.environment,
        .directory = config->directory.len > 0 ? config->directory.ptr : NULL,
        .line_max = (size_t)instance->stdio->gateway->config->limits.event_bytes};

    if (arena == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for a child");
    }
    if (given.len > 0) {
        WRIT_TRY(writ_client_env_read(given, config, arena, &client, err));
        WRIT_TRY(writ_digest_bytes(given, &instance->given, err));
        WRIT_TRY(make_given(config, &client, arena, &around, err));
        options.directory = options.directory != NULL ? options.directory : client.directory.ptr;
    } else {
        WRIT_TRY(writ_exec_env_make(
            &config->stdio, &config->inherit, &config->environment, &around, err));
    }
    return writ_child_open(
        instance->stdio->loop, &options, &child_handler, instance, &instance->child, err);
}

/* ---- life */

/* The sum of its idle checks is the configured time, give or take one. A child that all clients
 * share may keep shared state: it stays. */
static void
look_whether_idle(struct writ_timer *timer)
{
    struct writ_instance *instance = timer->ctx;
    const struct writ_upstream_config *config = instance->stdio->config;
    int64_t now_us = writ_loop_now_us(instance->stdio->loop);

    if (instance->open > 0 || config->sharing == WRIT_SHARING_ALL ||
        instance->kind == WRIT_INSTANCE_SCOUT) {
        instance->used_us = now_us;
    }
    if (now_us - instance->used_us >= config->idle_us) {
        writ_instance_end(instance, "idle");
        return;
    }
    writ_loop_timer_set(
        instance->stdio->loop, &instance->idle, now_us + config->idle_us / IDLE_LOOKS);
}

/* The child that was unused for longest makes room. */
static writ_result
make_room(struct writ_stdio *stdio)
{
    struct writ_instance *oldest = NULL;
    size_t most = (size_t)stdio->config->children;

    if (stdio->serving < most) {
        return WRIT_DONE;
    }
    for (struct writ_instance *i = stdio->instances; i != NULL; i = i->next) {
        if (!i->ending && i->open == 0 && (oldest == NULL || i->used_us < oldest->used_us)) {
            oldest = i;
        }
    }
    if (oldest == NULL || stdio->ending >= most) {
        return (writ_result){WRIT_E_BUSY};
    }
    writ_instance_end(oldest, "evicted");
    return WRIT_DONE;
}

writ_result
writ_instance_take_share(
    struct writ_stdio *stdio, const struct writ_agent *agent, struct writ_charge *ret)
{
    struct writ_instance *oldest = NULL;
    writ_result r = writ_shares_take(&stdio->shares, agent->tenant, agent->id, ret, NULL);

    if (r.code != WRIT_E_LIMIT) {
        return r;
    }
    for (struct writ_instance *i = stdio->instances; i != NULL; i = i->next) {
        if (!i->ending && i->open == 0 && (oldest == NULL || i->used_us < oldest->used_us) &&
            writ_shares_would_help(&stdio->shares, &i->charge, agent->tenant, agent->id)) {
            oldest = i;
        }
    }
    if (oldest == NULL) {
        return r;
    }
    writ_instance_end(oldest, "evicted");
    return writ_shares_take(&stdio->shares, agent->tenant, agent->id, ret, NULL);
}

static writ_result
fill(struct writ_instance *instance, struct writ_view key, struct writ_view hello)
{
    instance->key = writ_buf_make(key.len);
    instance->hello = writ_buf_make(HELLO_MAX);
    instance->initialized = writ_buf_make(HELLO_MAX);
    instance->asked = writ_buf_make(ASKED_MAX);
    instance->backlog = writ_buf_make(BACKLOG_MAX);
    instance->kept = writ_buf_make(KEPT_MAX);
    instance->level = writ_buf_make(KEPT_MAX);
    writ_buf_put(&instance->key, key);
    writ_buf_put(&instance->hello, hello);
    WRIT_TRY(writ_buf_check(&instance->key, NULL));
    WRIT_TRY(writ_stdio_stream_init(instance));
    return writ_buf_check(&instance->hello, NULL);
}

writ_result
writ_instance_new(struct writ_stdio *stdio, enum writ_instance_kind kind, struct writ_view key,
    struct writ_view hello, struct writ_view given, struct writ_instance **ret)
{
    struct writ_err err = {{0}, 0, 0};
    struct writ_instance *instance;
    writ_result r;

    WRIT_TRY(make_room(stdio));
    instance = writ_alloc(sizeof *instance);
    if (instance == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    instance->stdio = stdio;
    instance->kind = kind;
    instance->last_id = WRIT_STDIO_DISCOVER_ID;
    instance->used_us = writ_loop_now_us(stdio->loop);
    instance->idle = (struct writ_timer){.fn = look_whether_idle, .ctx = instance};
    instance->free = (struct writ_task){.fn = free_task, .ctx = instance};
    instance->next = stdio->instances;
    instance->link = &stdio->instances;
    if (stdio->instances != NULL) {
        stdio->instances->link = &instance->next;
    }
    stdio->instances = instance;
    stdio->serving++;
    r = fill(instance, key, hello);
    r = writ_is_ok(r) ? open_child(instance, given, &err) : r;
    if (!writ_is_ok(r)) {
        WRIT_LOG(stdio->gateway->log, WRIT_EVENT_UPSTREAM_NOT_STARTED,
            writ_log_text("upstream", stdio->config->name), writ_log_str("why", err.text));
        writ_instance_free(instance);
        return r;
    }
    look_whether_idle(&instance->idle);
    *ret = instance;
    return WRIT_DONE;
}

struct writ_instance *
writ_instance_find(struct writ_stdio *stdio, enum writ_instance_kind kind, struct writ_view key)
{
    for (struct writ_instance *i = stdio->instances; i != NULL; i = i->next) {
        if (!i->ending && i->kind == kind && writ_view_equal(writ_buf_view(&i->key), key)) {
            return i;
        }
    }
    return NULL;
}

void
writ_instance_end(struct writ_instance *instance, const char *why)
{
    struct writ_stdio *stdio = instance->stdio;

    if (instance->ending) {
        return;
    }
    instance->ending = true;
    stdio->serving--;
    stdio->ending++;
    writ_shares_release(&stdio->shares, &instance->charge);
    writ_loop_timer_cancel(&instance->idle);
    writ_loop_timer_cancel(&instance->handshake);
    WRIT_LOG(stdio->gateway->log, WRIT_EVENT_UPSTREAM_CHILD_ENDS,
        writ_log_text("upstream", stdio->config->name), writ_log_str("why", why),
        writ_log_int("pid", writ_child_pid(instance->child)));
    break_sent(instance, UINT64_MAX, why); /* keeps (2) */
    break_waiting(instance, WRIT_UPCALL_BROKEN, why);
    writ_child_stop(instance->child);
}

void
writ_instance_free(struct writ_instance *instance)
{
    struct writ_stdio *stdio = instance->stdio;

    *(instance->ending ? &stdio->ending : &stdio->serving) -= 1;
    writ_shares_release(&stdio->shares, &instance->charge);
    *instance->link = instance->next;
    if (instance->next != NULL) {
        instance->next->link = instance->link;
    }
    if (stdio->stopping && stdio->instances == NULL) {
        atomic_store(&stdio->state, WRIT_STDIO_STOPPED);
    }
    writ_loop_timer_cancel(&instance->idle);
    writ_loop_timer_cancel(&instance->handshake);
    writ_child_close(instance->child);
    writ_buf_wipe(&instance->key);
    writ_buf_wipe(&instance->hello);
    writ_buf_wipe(&instance->initialized);
    writ_buf_wipe(&instance->asked);
    writ_buf_wipe(&instance->backlog);
    writ_buf_wipe(&instance->kept);
    writ_buf_wipe(&instance->level);
    writ_stdio_stream_forget(instance);
    writ_replay_wipe(&instance->replay);
    writ_free(instance);
}

/* ---- those whom it serves */

static void
waited_too_long(struct writ_timer *timer)
{
    writ_flight_break(timer->ctx, WRIT_UPCALL_BROKEN, "not_up");
}

static bool
has_sent(const struct writ_instance *instance)
{
    for (size_t i = 0; i < WRIT_FLIGHT_BUCKETS; i++) {
        if (instance->buckets[i] != NULL) {
            return true;
        }
    }
    return false;
}

/* The next child is started under the present program_digest. */
static void
renew(struct writ_instance *instance)
{
    instance->renews = true;
    WRIT_LOG(instance->stdio->gateway->log, WRIT_EVENT_UPSTREAM_CHILD_ENDS,
        writ_log_text("upstream", instance->stdio->config->name),
        writ_log_str("why", "program_digest"),
        writ_log_int("pid", writ_child_pid(instance->child)));
    writ_child_reject(instance->child);
}

static void
wait_for_child(struct writ_instance *instance, struct writ_flight *flight)
{
    struct writ_stdio *stdio = instance->stdio;

    writ_flight_link(flight, &instance->waiting);
    flight->timer = (struct writ_timer){.fn = waited_too_long, .ctx = flight};
    writ_loop_timer_set(stdio->loop, &flight->timer,
        writ_loop_now_us(stdio->loop) + stdio->config->start_timeout_us);
    if (instance->forbidden) { /* the file may be right again */
        writ_child_hurry(instance->child);
    }
}

void
writ_instance_take(struct writ_instance *instance, struct writ_flight *flight)
{
    bool up = instance->state == WRIT_INSTANCE_UP && !instance->renews;
    bool stale = up && writ_stdio_program_is_stale(instance);

    flight->instance = instance;
    flight->counted_by = &instance->open;
    instance->open++;
    instance->used_us = writ_loop_now_us(instance->stdio->loop);
    if (stale && has_sent(instance)) { /* a call under way is not touched, and none is added */
        writ_flight_break(flight, WRIT_UPCALL_BROKEN, "program_digest");
        return;
    }
    if (stale) {
        renew(instance);
    }
    if (up && !stale) {
        writ_stdio_send_begin(flight);
    } else if (instance->failures >= WRIT_STDIO_FAILURES_MAX) {
        writ_flight_break(flight, WRIT_UPCALL_BROKEN, "not_up");
    } else {
        wait_for_child(instance, flight);
    }
}

/* In the order of their arrival: the list has the last one first. */
static void
begin_waiting(struct writ_instance *instance)
{
    struct writ_flight *reversed = NULL;

    while (instance->waiting != NULL) {
        writ_flight_link(instance->waiting, &reversed);
    }
    while (reversed != NULL) {
        struct writ_flight *flight = reversed;
        writ_flight_unlink(flight);
        writ_loop_timer_cancel(&flight->timer);
        writ_stdio_send_begin(flight);
    }
}

void
writ_instance_came_up(struct writ_instance *instance)
{
    writ_loop_timer_cancel(&instance->handshake);
    if (writ_stdio_program_is_stale(instance)) {
        renew(instance);
        return;
    }
    instance->state = WRIT_INSTANCE_UP;
    instance->failures = 0;
    atomic_store(&instance->stdio->state, WRIT_STDIO_UP);
    if (instance->was_up || instance->lost || instance->late) {
        writ_stdio_send_again(instance); /* keeps (3) */
    }
    instance->was_up = true;
    instance->lost = instance->late = false;
    begin_waiting(instance);
}

void
writ_instance_refused(struct writ_instance *instance, const struct writ_json *error)
{
    struct writ_flight *opener = instance->waiting;

    if (opener != NULL && opener->name == WRIT_MCP_INITIALIZE) {
        writ_stdio_refuse_initialize(opener, error);
    }
    writ_instance_end(instance, "initialize_refused");
}

void
writ_instance_reject(struct writ_instance *instance, const char *why)
{
    WRIT_LOG(instance->stdio->gateway->log, WRIT_EVENT_UPSTREAM_MALFORMED,
        writ_log_text("upstream", instance->stdio->config->name), writ_log_str("why", why));
    writ_loop_timer_cancel(&instance->handshake);
    writ_child_reject(instance->child);
}
