/* stdio_ask.c - see stdio_ask.h.
 *
 * Invariant (1): NOT_SENT is said only of a line that was never handed to the child, or of which it
 * proved to have read nothing (its ticket). */
#include "gateway/stdio_ask.h"

#include "gateway/spread.h"

#include "evidence/write.h"

#define FLIGHTS_MAX     4096       /* requests at once, those that wait for the child included */
#define LISTENERS_MAX   1024       /* GET streams at once */
#define NAME_MAX        65536      /* JSON text of a request's id, or of a progress token */
#define INITIALIZE_MAX  (1u << 22) /* bytes of the answer to initialize, and to read it */
#define CANCEL_LINE_MAX 160
#define CODE_SERVER     (-32000)

/* ---- to the child ---- */

/* One message with our id and our progress token in place of the client's. */
static void
put_ours(struct writ_write *w, struct writ_flight *flight, const struct writ_json *object,
    unsigned depth)
{
    writ_write_object_begin(w);
    WRIT_JSON_EACH(name, object)
    {
        struct writ_view key = writ_json_string(name);
        const struct writ_json *value = writ_json_value(name);
        bool descends = (depth == 0 && writ_view_is(key, "params")) ||
                        (depth == 1 && writ_view_is(key, "_meta"));
        writ_write_name(w, key);
        if (depth == 0 && writ_view_is(key, "id")) {
            writ_write_u64(w, flight->id);
        } else if (depth == 2 && writ_view_is(key, "progressToken")) {
            writ_write_u64(w, flight->id);
        } else if (descends && writ_json_type(value) == WRIT_JSON_OBJECT) {
            put_ours(w, flight, value, depth + 1);
        } else {
            writ_spread_put_verbatim(w, value);
        }
    }
    writ_write_object_end(w);
}

/* Its JSON text; nothing where there is none, or too much of it. */
static void
remember(struct writ_buf *buf, const struct writ_json *value)
{
    struct writ_write w;

    *buf = writ_buf_make(NAME_MAX);
    if (value == NULL) {
        return;
    }
    w = writ_write_to(buf);
    writ_spread_put_verbatim(&w, value);
    if (!writ_is_ok(writ_write_end(&w, NULL))) {
        writ_buf_wipe(buf);
    }
}

static writ_result
make_line(struct writ_flight *flight, const struct writ_json *message, struct writ_buf *ret)
{
    struct writ_write w = writ_write_to(ret);

    remember(&flight->client_id, writ_json_get(message, WRIT_LIT("id")));
    remember(
        &flight->client_token, writ_json_pointer(message, WRIT_LIT("/params/_meta/progressToken")));
    put_ours(&w, flight, message, 0);
    WRIT_TRY(writ_write_end(&w, NULL));
    return flight->client_id.len > 0 ? WRIT_DONE : (writ_result){WRIT_E_NOMEM};
}

static void
tell_cancelled(struct writ_flight *flight)
{
    writ_auto_buf text = writ_buf_make(CANCEL_LINE_MAX);
    uint64_t ticket;

    writ_buf_fmt(&text,
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
        "\"params\":{\"requestId\":%llu}}",
        (unsigned long long)flight->id);
    if (writ_is_ok(writ_buf_check(&text, NULL))) {
        WRIT_IGNORE(writ_child_send(flight->stdio->child, writ_buf_view(&text), &ticket));
    }
}

/* Takes back what the child has not seen; else tells it, if it is to be told. */
static void
give_up(struct writ_flight *flight, bool tell)
{
    if (!flight->sent) {
        return;
    }
    if (writ_child_recall(flight->stdio->child, flight->ticket)) {
        flight->sent = false; /* keeps (1) */
    } else if (tell) {
        tell_cancelled(flight);
    }
}

static void
flight_times_out(struct writ_timer *timer)
{
    struct writ_flight *flight = timer->ctx;

    give_up(flight, true);
    writ_flight_break(flight, WRIT_UPCALL_TIMEOUT, "timeout");
}

void
writ_stdio_ask_cancel(struct writ_stdio *stdio, struct writ_flight *flight, bool tell)
{
    (void)stdio;
    if (!flight->over) {
        give_up(flight, tell);
        writ_flight_break(flight, WRIT_UPCALL_CANCELLED, "cancelled");
    }
}

static void
send_request(struct writ_flight *flight, const struct writ_json *message)
{
    struct writ_stdio *stdio = flight->stdio;
    writ_auto_buf line = writ_buf_make(flight->body.len * 2 + 65536);
    writ_result r;

    flight->id = ++stdio->last_id;
    r = make_line(flight, message, &line);
    if (writ_is_ok(r)) {
        r = writ_child_send(stdio->child, writ_buf_view(&line), &flight->ticket);
    }
    if (!writ_is_ok(r)) {
        writ_flight_break(flight, WRIT_UPCALL_BROKEN, writ_code_name(r.code));
        return;
    }
    flight->sent = true;
    writ_flight_link(flight, &stdio->buckets[flight->id % WRIT_FLIGHT_BUCKETS]);
    writ_flight_arm(flight, flight->stdio->loop);
}

/* ---- requests that the gateway answers for the child ---- */

static bool
is_known_version(struct writ_view version)
{
    static const char *const known[] = {"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"};

    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (writ_view_is(version, known[i])) {
            return true;
        }
    }
    return false;
}

/* The child's answer, in the client's revision where the child is as new. */
static void
answer_initialize(struct writ_flight *flight, const struct writ_json *message)
{
    struct writ_arena *scratch = writ_arena_new(INITIALIZE_MAX);
    writ_auto_buf body = writ_buf_make(INITIALIZE_MAX);
    struct writ_write w = writ_write_to(&body);
    struct writ_view wanted =
        writ_json_string(writ_json_pointer(message, WRIT_LIT("/params/protocolVersion")));
    const struct writ_json *result = NULL;

    if (scratch == NULL || !writ_is_ok(writ_json_read(writ_buf_view(&flight->stdio->initialized),
                               &writ_json_limits_default, scratch, &result, NULL))) {
        writ_arena_free(scratch);
        writ_flight_break(flight, WRIT_UPCALL_BROKEN, "nomem");
        return;
    }
    writ_write_object_begin(&w);
    writ_write_name(&w, WRIT_LIT("jsonrpc"));
    writ_write_string(&w, WRIT_LIT("2.0"));
    writ_write_name(&w, WRIT_LIT("id"));
    writ_spread_put_verbatim(&w, writ_json_get(message, WRIT_LIT("id")));
    writ_write_name(&w, WRIT_LIT("result"));
    writ_write_object_begin(&w);
    WRIT_JSON_EACH(name, result)
    {
        const struct writ_json *value = writ_json_value(name);
        writ_write_name(&w, writ_json_string(name));
        if (writ_view_is(writ_json_string(name), "protocolVersion") && is_known_version(wanted) &&
            writ_view_compare(wanted, writ_json_string(value)) <= 0) {
            writ_write_string(&w, wanted);
        } else {
            writ_spread_put_verbatim(&w, value);
        }
    }
    writ_write_object_end(&w);
    writ_write_object_end(&w);
    writ_arena_free(scratch);
    if (writ_is_ok(writ_write_end(&w, NULL))) {
        writ_flight_answer(flight, 200, writ_buf_view(&body));
    } else {
        writ_flight_break(flight, WRIT_UPCALL_BROKEN, "nomem");
    }
}

/* As a legacy server over HTTP would: a client that can falls back to initialize (mcp.md 2.2). */
static void
refuse_modern(struct writ_flight *flight, const struct writ_json *message)
{
    writ_auto_buf body = writ_buf_make(8192);
    struct writ_write w = writ_write_to(&body);

    writ_write_object_begin(&w);
    writ_write_name(&w, WRIT_LIT("jsonrpc"));
    writ_write_string(&w, WRIT_LIT("2.0"));
    writ_write_name(&w, WRIT_LIT("id"));
    writ_write_value(&w, writ_json_get(message, WRIT_LIT("id")));
    writ_write_name(&w, WRIT_LIT("error"));
    writ_write_object_begin(&w);
    writ_write_name(&w, WRIT_LIT("code"));
    writ_write_i64(&w, CODE_SERVER);
    writ_write_name(&w, WRIT_LIT("message"));
    writ_write_string(&w, WRIT_LIT("Bad Request: this server needs initialize first"));
    writ_write_object_end(&w);
    writ_write_object_end(&w);
    WRIT_IGNORE(writ_write_end(&w, NULL));
    writ_flight_answer(flight, 400, writ_buf_view(&body));
}

/* A client may cancel what its own session asked for, by its own id. */
static void
cancel_of_client(struct writ_flight *by, const struct writ_json *message)
{
    struct writ_stdio *stdio = by->stdio;
    writ_auto_buf id = writ_buf_make(0);

    remember(&id, writ_json_pointer(message, WRIT_LIT("/params/requestId")));
    for (size_t i = 0; i < WRIT_FLIGHT_BUCKETS && id.len > 0 && by->scope.len > 0; i++) {
        for (struct writ_flight *flight = stdio->buckets[i]; flight != NULL;
             flight = flight->next) {
            if (writ_view_equal(writ_buf_view(&flight->scope), writ_buf_view(&by->scope)) &&
                writ_view_equal(writ_buf_view(&flight->client_id), writ_buf_view(&id))) {
                tell_cancelled(flight); /* the server may still answer, or not: the timer ends it */
                return;
            }
        }
    }
}

static void
take_notification(struct writ_flight *flight, const struct writ_json *message)
{
    if (flight->name == WRIT_MCP_CANCELLED) {
        cancel_of_client(flight, message);
    }
    writ_flight_answer(flight, 202, (struct writ_view){NULL, 0});
}

/* ---- a flight begins ---- */

static void
begin_message(struct writ_flight *flight)
{
    struct writ_arena *scratch = writ_arena_new(16 * flight->body.len + 65536);
    const struct writ_json *message = NULL;
    struct writ_json_limits limits = writ_json_limits_default;

    limits.bytes = flight->body.len;
    limits.string_bytes = flight->body.len;
    limits.values = flight->body.len;
    if (scratch == NULL || !writ_is_ok(writ_json_read(
                               writ_buf_view(&flight->body), &limits, scratch, &message, NULL))) {
        writ_flight_break(flight, WRIT_UPCALL_BROKEN, "unreadable");
    } else if (flight->era == WRIT_MCP_ERA_MODERN) {
        refuse_modern(flight, message);
    } else if (flight->kind != WRIT_MCP_REQUEST) {
        take_notification(flight, message);
    } else if (flight->name == WRIT_MCP_INITIALIZE) {
        answer_initialize(flight, message);
    } else {
        send_request(flight, message);
    }
    writ_arena_free(scratch);
}

static void
begin(struct writ_flight *flight)
{
    switch (flight->method) {
    case WRIT_METHOD_POST:
        begin_message(flight);
        return;
    case WRIT_METHOD_GET:
        writ_flight_link(flight, &flight->stdio->listeners);
        if (!writ_flight_event(flight, (struct writ_view){NULL, 0})) { /* the head alone */
            writ_flight_break(flight, WRIT_UPCALL_BROKEN, "nomem");
        }
        return;
    case WRIT_METHOD_DELETE:
    case WRIT_METHOD_OPTIONS:
    case WRIT_METHOD_NONE:
        break;
    }
    writ_flight_answer(flight, 200, (struct writ_view){NULL, 0});
}

/* Streams that last are counted apart, so that they keep nobody from calling. */
static bool
has_room(struct writ_stdio *stdio, struct writ_flight *flight)
{
    bool listens = flight->method == WRIT_METHOD_GET;

    flight->counted = listens ? &stdio->listeners_n : &stdio->flights;
    ++*flight->counted;
    return *flight->counted <= (listens ? LISTENERS_MAX : FLIGHTS_MAX);
}

static void
waited_too_long(struct writ_timer *timer)
{
    writ_flight_break(timer->ctx, WRIT_UPCALL_BROKEN, "not_up");
}

/* For the child to come up. A call may take minutes, and a list of all upstreams waits for this
 * one: so not for as long as a call may take. */
static void
wait_for_child(struct writ_stdio *stdio, struct writ_flight *flight)
{
    writ_flight_link(flight, &stdio->waiting);
    flight->timer.fn = waited_too_long;
    writ_loop_timer_set(stdio->loop, &flight->timer,
        writ_loop_now_us(stdio->loop) + stdio->config->connect_timeout_us);
}

void
writ_stdio_ask_take(struct writ_stdio *stdio, struct writ_flight *flight)
{
    int state = atomic_load(&stdio->state);

    flight->timer = (struct writ_timer){.fn = flight_times_out, .ctx = flight};
    if (!has_room(stdio, flight) || state == WRIT_STDIO_STOPPED) {
        writ_flight_break(flight, WRIT_UPCALL_BROKEN, "busy");
    } else if (state == WRIT_STDIO_UP) {
        begin(flight);
    } else if (stdio->failures >= WRIT_STDIO_FAILURES_MAX) {
        writ_flight_break(flight, WRIT_UPCALL_BROKEN, "not_up");
    } else {
        wait_for_child(stdio, flight);
    }
}

void
writ_stdio_ask_waiting(struct writ_stdio *stdio)
{
    struct writ_flight *reversed = NULL;

    while (stdio->waiting != NULL) { /* the list has the last one first */
        writ_flight_link(stdio->waiting, &reversed);
    }
    while (reversed != NULL) {
        struct writ_flight *flight = reversed;
        writ_flight_unlink(flight);
        writ_loop_timer_cancel(&flight->timer);
        flight->timer.fn = flight_times_out;
        begin(flight);
    }
}
