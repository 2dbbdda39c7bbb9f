/* stdio_route.c - finds or starts the instance for a flight.
 *
 * Invariant (1): with `sharing: session` no instance ever serves two sessions, or two agents. */
#include "gateway/upstream/stdio_route.h"

#include "gateway/upstream/instance.h"
#include "gateway/upstream/stdio_refuse.h"
#include "gateway/upstream/stdio_send.h"

#define FLIGHTS_MAX   4096 /* requests at once, those that wait for a child included */
#define LISTENERS_MAX 1024 /* GET streams at once */
#define KEY_MAX       65536
#define EVERYBODY     WRIT_LIT("*")

static bool
is_modern(const struct writ_flight *flight)
{
    return flight->method == WRIT_METHOD_POST && flight->era == WRIT_MCP_ERA_MODERN;
}

/* A child of all clients has that of none. */
static struct writ_view
environment_of(const struct writ_stdio *stdio, const struct writ_flight *flight)
{
    return stdio->config->sharing == WRIT_SHARING_SESSION ? flight->request->environment
                                                          : writ_view(NULL, 0);
}

static enum writ_instance_kind
kind_for(const struct writ_stdio *stdio, const struct writ_flight *flight)
{
    if (is_modern(flight)) {
        return WRIT_INSTANCE_MODERN;
    }
    if (stdio->config->sharing == WRIT_SHARING_SESSION &&
        (flight->name == WRIT_MCP_INITIALIZE || flight->request->session.len > 0)) {
        return WRIT_INSTANCE_SESSION;
    }
    return WRIT_INSTANCE_COMMON;
}

static writ_result
put_environment(const struct writ_flight *flight, struct writ_buf *ret)
{
    struct writ_digest digest;

    if (flight->request->environment.len > 0) {
        WRIT_TRY(writ_digest_bytes(flight->request->environment, &digest, NULL));
        writ_buf_byte(ret, '\0');
        writ_buf_put(ret, writ_view(digest.bytes, sizeof digest.bytes));
    }
    return WRIT_DONE;
}

/* keeps (1) */
static writ_result
put_key(const struct writ_stdio *stdio, const struct writ_flight *flight,
    enum writ_instance_kind kind, struct writ_buf *ret)
{
    if (kind != WRIT_INSTANCE_SESSION && stdio->config->sharing == WRIT_SHARING_ALL) {
        writ_buf_put(ret, EVERYBODY);
    } else if (kind != WRIT_INSTANCE_SESSION) {
        writ_buf_put(ret, flight->request->agent->tenant);
        writ_buf_byte(ret, '\0');
        writ_buf_put(ret, flight->request->agent->id);
        WRIT_TRY(put_environment(flight, ret));    /* two wraps of an agent may differ in it */
    } else if (flight->request->session.len > 0) { /* of initialize: new for it (fanout.c) */
        writ_buf_put(ret, flight->request->session);
    } else {
        return (writ_result){WRIT_E_NOMEM};
    }
    return writ_buf_check(ret, NULL);
}

/* An unused instance serves requests that need no initialize of their own, and have no environment
 * of their client. */
static struct writ_instance *
adopt(struct writ_stdio *stdio, enum writ_instance_kind kind, struct writ_view key)
{
    struct writ_instance *spare = writ_instance_find(stdio, kind, (struct writ_view){NULL, 0});
    writ_auto_buf copy = writ_buf_make(key.len);

    writ_buf_put(&copy, key);
    if (spare == NULL || !writ_is_ok(writ_buf_check(&copy, NULL))) {
        return NULL;
    }
    spare->key = copy;
    copy = (struct writ_buf){0};
    return spare;
}

static writ_result
make_instance(struct writ_stdio *stdio, struct writ_flight *flight, enum writ_instance_kind kind,
    struct writ_view key, struct writ_instance **ret)
{
    writ_auto_buf hello = writ_buf_make(KEY_MAX);
    writ_result r = WRIT_DONE;

    if (kind == WRIT_INSTANCE_SESSION) {
        r = writ_stdio_send_hello(flight, &hello);
    }
    if (!writ_is_ok(r)) { /* LIMIT is the word for a share */
        return r.code == WRIT_E_LIMIT ? (writ_result){WRIT_E_BUSY} : r;
    }
    WRIT_TRY(writ_instance_new(
        stdio, kind, key, writ_buf_view(&hello), environment_of(stdio, flight), ret));
    (*ret)->sends_initialized = flight->name != WRIT_MCP_INITIALIZE;
    (*ret)->lost = kind == WRIT_INSTANCE_SESSION && (*ret)->sends_initialized;
    return WRIT_DONE;
}

static writ_result
instance_for(struct writ_stdio *stdio, struct writ_flight *flight, enum writ_instance_kind kind,
    struct writ_instance **ret)
{
    writ_auto_buf key = writ_buf_make(KEY_MAX);
    struct writ_instance *instance;
    struct writ_charge charge = {0};
    writ_result r = WRIT_DONE;

    WRIT_TRY(put_key(stdio, flight, kind, &key));
    instance = writ_instance_find(stdio, kind, writ_buf_view(&key));
    if (instance != NULL) {
        *ret = instance;
        return WRIT_DONE;
    }
    if (stdio->config->sharing == WRIT_SHARING_SESSION) { /* it belongs only to this agent */
        WRIT_TRY(writ_instance_take_share(stdio, flight->request->agent, &charge));
    }
    if (kind != WRIT_INSTANCE_SESSION && environment_of(stdio, flight).len == 0) {
        instance = adopt(stdio, kind, writ_buf_view(&key));
    }
    if (instance == NULL) {
        r = make_instance(stdio, flight, kind, writ_buf_view(&key), &instance);
    }
    if (!writ_is_ok(r)) {
        writ_shares_release(&stdio->shares, &charge);
        return r;
    }
    instance->charge = charge;
    *ret = instance;
    return WRIT_DONE;
}

/* The end of a session: its child serves no other. */
static void
leave(struct writ_stdio *stdio, struct writ_flight *flight)
{
    struct writ_instance *instance =
        writ_instance_find(stdio, WRIT_INSTANCE_SESSION, flight->request->session);

    if (instance != NULL && flight->request->session.len > 0) {
        writ_instance_end(instance, "session_ended");
    }
    writ_flight_answer(flight, 200, (struct writ_view){NULL, 0});
}

/* Whether the server speaks the protocol of the flight; a session's own child answers that
 * itself. */
static enum writ_stdio_known
is_spoken(const struct writ_stdio *stdio, enum writ_instance_kind kind)
{
    if (kind == WRIT_INSTANCE_MODERN) {
        return stdio->modern;
    }
    if (kind == WRIT_INSTANCE_SESSION && stdio->legacy == WRIT_STDIO_UNKNOWN) {
        return WRIT_STDIO_YES;
    }
    return stdio->legacy;
}

static void
waited_too_long(struct writ_timer *timer)
{
    writ_flight_break(timer->ctx, WRIT_UPCALL_BROKEN, "not_up");
}

/* A server that needs its client's environment to start shows its families with that alone. */
static struct writ_instance *
another_scout(
    struct writ_stdio *stdio, const struct writ_flight *flight, struct writ_instance *scout)
{
    static const struct writ_view none = {NULL, 0};
    struct writ_view given = environment_of(stdio, flight);
    struct writ_digest digest;
    bool fails = scout == NULL || scout->failures > 0;

    if (!fails || given.len == 0 || !writ_is_ok(writ_digest_bytes(given, &digest, NULL)) ||
        (scout != NULL && writ_digest_equal(&scout->given, &digest))) {
        return scout;
    }
    if (scout != NULL) {
        writ_instance_end(scout, "another_environment");
    }
    return writ_is_ok(writ_instance_new(stdio, WRIT_INSTANCE_SCOUT, none, none, given, &scout))
               ? scout
               : NULL;
}

static void
wait_for_scout(struct writ_stdio *stdio, struct writ_flight *flight)
{
    struct writ_instance *scout =
        writ_instance_find(stdio, WRIT_INSTANCE_SCOUT, (struct writ_view){NULL, 0});

    scout = another_scout(stdio, flight, scout);
    if (scout == NULL || scout->failures >= WRIT_STDIO_FAILURES_MAX) {
        writ_flight_break(flight, WRIT_UPCALL_BROKEN, "not_up");
        return;
    }
    writ_flight_link(flight, &stdio->waiting);
    flight->timer = (struct writ_timer){.fn = waited_too_long, .ctx = flight};
    writ_loop_timer_set(stdio->loop, &flight->timer,
        writ_loop_now_us(stdio->loop) + stdio->config->start_timeout_us);
    if (scout->forbidden) {
        writ_child_hurry(scout->child);
    }
}

static void
route(struct writ_stdio *stdio, struct writ_flight *flight)
{
    enum writ_instance_kind kind = kind_for(stdio, flight);
    struct writ_instance *instance = NULL;
    writ_result r;

    switch (is_spoken(stdio, kind)) {
    case WRIT_STDIO_UNKNOWN:
        wait_for_scout(stdio, flight);
        return;
    case WRIT_STDIO_NO:
        writ_stdio_refuse_family(stdio, flight);
        return;
    case WRIT_STDIO_YES:
        break;
    }
    r = instance_for(stdio, flight, kind, &instance);
    if (writ_is_ok(r)) {
        writ_instance_take(instance, flight);
    } else if (r.code == WRIT_E_ABSENT) { /* the capabilities of its client are no longer known */
        writ_stdio_refuse_session(flight);
    } else if (r.code == WRIT_E_LIMIT) {
        writ_flight_break(flight, WRIT_UPCALL_CROWDED, "share_exceeded");
    } else {
        writ_flight_break(flight, WRIT_UPCALL_BROKEN, "busy");
    }
}

void
writ_stdio_route_learnt(struct writ_stdio *stdio)
{
    struct writ_flight *reversed = NULL;

    while (stdio->waiting != NULL) { /* the list has the last one first */
        writ_flight_link(stdio->waiting, &reversed);
    }
    while (reversed != NULL) {
        struct writ_flight *flight = reversed;
        writ_flight_unlink(flight);
        writ_loop_timer_cancel(&flight->timer);
        route(stdio, flight);
    }
}

void
writ_stdio_route_despair(struct writ_stdio *stdio, enum writ_upcall_end end)
{
    while (stdio->waiting != NULL) {
        writ_flight_break(stdio->waiting, end, "not_up");
    }
}

/* Lasting streams are counted separately, so that they do not use up the room for calls. */
static bool
has_room(struct writ_stdio *stdio, struct writ_flight *flight)
{
    bool listens = flight->method == WRIT_METHOD_GET || flight->name == WRIT_MCP_LISTEN;

    flight->counted = listens ? &stdio->listeners_n : &stdio->flights;
    ++*flight->counted;
    return *flight->counted <= (listens ? LISTENERS_MAX : FLIGHTS_MAX);
}

void
writ_stdio_route_take(struct writ_stdio *stdio, struct writ_flight *flight)
{
    if (!has_room(stdio, flight) || stdio->stopping) {
        writ_flight_break(flight, WRIT_UPCALL_BROKEN, "busy");
    } else if (writ_stdio_refuse_head(flight)) {
        return;
    } else if (flight->method == WRIT_METHOD_DELETE) {
        leave(stdio, flight);
    } else {
        route(stdio, flight);
    }
}
