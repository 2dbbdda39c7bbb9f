/* stdio.c - see stdio.h.
 *
 * Invariants:
 * (1) A flight is one upcall on its way. The owner loop has it until it posted END, the caller's
 *     loop until END was delivered; `holders` counts them and cancellations under way.
 * (2) Everything in struct writ_stdio but the atomics belongs to the owner loop.
 * (3) What is posted to a caller's loop arrives in order and END is the last.
 * (4) NOT_SENT is said only of a line that was never handed to the child, or that it proved not to
 *     have read (ticket). */
#include "gateway/stdio.h"

#include "gateway/child.h"
#include "gateway/gateway.h"
#include "gateway/method.h"
#include "gateway/pass.h"
#include "gateway/spread.h"

#include "base/text.h"
#include "evidence/write.h"

#include <stdlib.h>

#define BUCKETS        1024
#define FLIGHTS_MAX    4096     /* at once, those that wait for the child included */
#define HANDSHAKE_US   30000000 /* for the child to answer initialize */
#define CODE_SERVER    (-32000)
#define CODE_NO_METHOD (-32601)
#define HANDSHAKE_ID   0 /* our id of initialize; requests begin at 1 */

enum state { STATE_DOWN = 0, STATE_HANDSHAKE, STATE_UP, STATE_STOPPED };

enum delivery_kind { DELIVER_EVENT, DELIVER_END };

struct flight {
    struct writ_stdio *stdio;
    struct writ_worker *worker; /* the caller's */
    struct writ_upcall *call;   /* the caller's loop only; NULL after END was delivered */
    atomic_uint holders;
    struct writ_post start, cancel;
    bool tell, cancelling; /* caller's loop */
    bool paused;           /* caller's loop */
    struct delivery *held; /* caller's loop: what came while paused */

    /* copied from the request */
    struct writ_buf body, scope;
    enum writ_method method;
    enum writ_mcp_kind kind;
    enum writ_mcp_era era;
    enum writ_mcp_method name;
    int64_t timeout_us, total_due_us;
    size_t body_max;
    bool takes_stream;

    /* owner's loop */
    uint64_t id;
    uint64_t ticket;
    bool sent, streaming, over;
    struct writ_buf client_id, client_token; /* their JSON text */
    struct writ_timer timer;
    struct flight *next, **link; /* in a bucket, among the waiting, or among the listeners */
};

/* Something for the caller's loop. */
struct delivery {
    struct writ_post post;
    struct flight *flight;
    enum delivery_kind kind;
    struct writ_buf data;             /* an event's data, or the body */
    struct writ_upcall_answer answer; /* END */
    struct delivery *next;
};

struct writ_stdio {
    struct writ_gateway *gateway;
    const struct writ_upstream_config *config;
    struct writ_loop *loop;
    struct writ_child *child;
    struct writ_post open, stop;
    atomic_int state;
    struct writ_buf initialized; /* the child's result of initialize */
    struct writ_timer handshake;
    uint64_t last_id;
    size_t flights;
    struct flight *buckets[BUCKETS];
    struct flight *waiting;   /* for the child to be up */
    struct flight *listeners; /* GET streams */
};

/* ---- flights ---- */

static void
flight_drop(struct flight *flight)
{
    if (atomic_fetch_sub(&flight->holders, 1) != 1) {
        return;
    }
    writ_buf_wipe(&flight->body);
    writ_buf_wipe(&flight->scope);
    writ_buf_wipe(&flight->client_id);
    writ_buf_wipe(&flight->client_token);
    writ_free(flight);
}

static void
flight_unlink(struct flight *flight)
{
    if (flight->link != NULL) {
        *flight->link = flight->next;
        if (flight->next != NULL) {
            flight->next->link = flight->link;
        }
        flight->link = NULL;
    }
}

static void
flight_link(struct flight *flight, struct flight **head)
{
    flight_unlink(flight);
    flight->next = *head;
    flight->link = head;
    if (*head != NULL) {
        (*head)->link = &flight->next;
    }
    *head = flight;
}

static struct flight *
flight_find(struct writ_stdio *stdio, uint64_t id)
{
    struct flight *flight = stdio->buckets[id % BUCKETS];

    while (flight != NULL && flight->id != id) {
        flight = flight->next;
    }
    return flight;
}

/* ---- deliveries: owner's loop to caller's loop ---- */

static void
deliver_now(struct delivery *delivery)
{
    struct flight *flight = delivery->flight;
    struct writ_upcall *call = flight->call;
    struct writ_upcall_answer *answer = &delivery->answer;
    struct writ_sse_event event = {.kind = WRIT_SSE_EVENT,
        .event = WRIT_LIT("message"),
        .data = writ_buf_view(&delivery->data),
        .retry_ms = WRIT_SSE_NO_RETRY};

    if (delivery->kind == DELIVER_EVENT && call != NULL) {
        if (delivery->answer.is_stream) { /* the first of its stream */
            call->events->stream(call, answer);
        }
        if (delivery->data.len > 0) {
            call->events->event(call, &event);
        }
    }
    if (delivery->kind == DELIVER_END) {
        WRIT_INVARIANT(call != NULL);
        answer->body = writ_buf_view(&delivery->data);
        flight->call = NULL;
        call->state = NULL;
        call->events->end(call, answer);
        flight_drop(flight); /* the caller's */
    }
    writ_buf_wipe(&delivery->data);
    writ_free(delivery);
}

static void
delivery_arrives(struct writ_post *post)
{
    struct delivery *delivery = post->ctx;
    struct delivery **last = &delivery->flight->held;

    if (!delivery->flight->paused && *last == NULL) {
        deliver_now(delivery);
        return;
    }
    while (*last != NULL) {
        last = &(*last)->next;
    }
    *last = delivery;
}

static struct delivery *
delivery_new(struct flight *flight, enum delivery_kind kind, struct writ_view data)
{
    struct delivery *delivery = writ_alloc(sizeof *delivery);

    WRIT_INVARIANT(delivery != NULL); /* an end that cannot be told would hang a client */
    delivery->flight = flight;
    delivery->kind = kind;
    delivery->post = (struct writ_post){.fn = delivery_arrives, .ctx = delivery};
    delivery->data = writ_buf_make(data.len + 1);
    writ_buf_put(&delivery->data, data);
    WRIT_INVARIANT(writ_is_ok(writ_buf_check(&delivery->data, NULL)));
    return delivery;
}

static void
finish(struct flight *flight, struct writ_upcall_answer answer, struct writ_view body)
{
    struct delivery *delivery = delivery_new(flight, DELIVER_END, body);

    WRIT_INVARIANT(!flight->over);
    flight->over = true;
    flight_unlink(flight);
    flight->stdio->flights--;
    writ_loop_timer_cancel(&flight->timer);
    answer.is_stream = flight->streaming;
    answer.sent = flight->sent ? WRIT_SENT : WRIT_NOT_SENT;
    delivery->answer = answer;
    writ_loop_answer(flight->worker->loop, &delivery->post);
    flight_drop(flight); /* the owner's; keeps (3) */
}

static void
finish_broken(struct flight *flight, enum writ_upcall_end end, const char *detail)
{
    finish(flight, (struct writ_upcall_answer){.end = end, .detail = detail},
        (struct writ_view){NULL, 0});
}

static void
finish_status(struct flight *flight, unsigned status, struct writ_view body)
{
    finish(flight,
        (struct writ_upcall_answer){.end = WRIT_UPCALL_ANSWERED,
            .status = status,
            .content_type =
                body.len > 0 ? WRIT_LIT("application/json") : (struct writ_view){NULL, 0},
            .detail = "ok"},
        body);
}

static void
send_event(struct flight *flight, struct writ_view data)
{
    struct delivery *delivery = delivery_new(flight, DELIVER_EVENT, data);

    if (!flight->streaming) {
        flight->streaming = true;
        delivery->answer = (struct writ_upcall_answer){
            .status = 200, .content_type = WRIT_LIT("text/event-stream"), .is_stream = true};
    }
    writ_loop_answer(flight->worker->loop, &delivery->post);
}

/* ---- to the child ---- */

/* One message with our id and our progress token in place of the client's. */
static void
put_ours(
    struct writ_write *w, struct flight *flight, const struct writ_json *object, unsigned depth)
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

static void
remember(struct writ_buf *buf, const struct writ_json *value)
{
    struct writ_write w;

    *buf = writ_buf_make(65536);
    if (value != NULL) {
        w = writ_write_to(buf);
        writ_spread_put_verbatim(&w, value);
        WRIT_IGNORE(writ_write_end(&w, NULL));
    }
}

static writ_result
make_line(struct flight *flight, const struct writ_json *message, struct writ_buf *ret)
{
    struct writ_write w = writ_write_to(ret);

    remember(&flight->client_id, writ_json_get(message, WRIT_LIT("id")));
    remember(
        &flight->client_token, writ_json_pointer(message, WRIT_LIT("/params/_meta/progressToken")));
    put_ours(&w, flight, message, 0);
    return writ_write_end(&w, NULL);
}

static void
arm_timer(struct flight *flight)
{
    int64_t due = INT64_MAX;

    if (flight->timeout_us > 0) {
        due = writ_loop_now_us(flight->stdio->loop) + flight->timeout_us;
    }
    if (flight->total_due_us > 0 && flight->total_due_us < due) {
        due = flight->total_due_us;
    }
    if (due < INT64_MAX) {
        writ_loop_timer_set(flight->stdio->loop, &flight->timer, due);
    }
}

static void
tell_cancelled(struct flight *flight)
{
    char line[160];
    writ_auto_buf text = writ_buf_make(sizeof line);

    writ_buf_fmt(&text,
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
        "\"params\":{\"requestId\":%llu}}",
        (unsigned long long)flight->id);
    if (writ_is_ok(writ_buf_check(&text, NULL))) {
        uint64_t ticket;
        WRIT_IGNORE(writ_child_send(flight->stdio->child, writ_buf_view(&text), &ticket));
    }
}

static void
flight_times_out(struct writ_timer *timer)
{
    struct flight *flight = timer->ctx;

    if (flight->sent) {
        if (writ_child_recall(flight->stdio->child, flight->ticket)) {
            flight->sent = false; /* keeps (4) */
        } else {
            tell_cancelled(flight);
        }
    }
    finish_broken(flight, WRIT_UPCALL_TIMEOUT, "timeout");
}

static void
send_request(struct flight *flight, const struct writ_json *message)
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
        finish_broken(flight, WRIT_UPCALL_BROKEN, writ_code_name(r.code));
        return;
    }
    flight->sent = true;
    flight_link(flight, &stdio->buckets[flight->id % BUCKETS]);
    arm_timer(flight);
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
answer_initialize(struct flight *flight, const struct writ_json *message)
{
    struct writ_arena *scratch = writ_arena_new(1u << 20);
    writ_auto_buf body = writ_buf_make(1u << 20);
    struct writ_write w = writ_write_to(&body);
    struct writ_view wanted =
        writ_json_string(writ_json_pointer(message, WRIT_LIT("/params/protocolVersion")));
    const struct writ_json *result = NULL;

    if (scratch == NULL || !writ_is_ok(writ_json_read(writ_buf_view(&flight->stdio->initialized),
                               &writ_json_limits_default, scratch, &result, NULL))) {
        writ_arena_free(scratch);
        finish_broken(flight, WRIT_UPCALL_BROKEN, "nomem");
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
    WRIT_IGNORE(writ_write_end(&w, NULL));
    writ_arena_free(scratch);
    finish_status(flight, 200, writ_buf_view(&body));
}

/* As a legacy server over HTTP would: a client that can falls back to initialize (mcp.md 2.2). */
static void
refuse_modern(struct flight *flight, const struct writ_json *message)
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
    finish_status(flight, 400, writ_buf_view(&body));
}

/* A client may cancel what its own session asked for, by its own id. */
static void
cancel_of_client(struct flight *by, const struct writ_json *message)
{
    struct writ_stdio *stdio = by->stdio;
    writ_auto_buf id = writ_buf_make(0);

    remember(&id, writ_json_pointer(message, WRIT_LIT("/params/requestId")));
    for (size_t i = 0; i < BUCKETS && id.len > 0 && by->scope.len > 0; i++) {
        for (struct flight *flight = stdio->buckets[i]; flight != NULL; flight = flight->next) {
            if (writ_view_equal(writ_buf_view(&flight->scope), writ_buf_view(&by->scope)) &&
                writ_view_equal(writ_buf_view(&flight->client_id), writ_buf_view(&id))) {
                tell_cancelled(flight); /* the server may still answer, or not: the timer ends it */
                return;
            }
        }
    }
}

static void
take_notification(struct flight *flight, const struct writ_json *message)
{
    if (flight->name == WRIT_MCP_CANCELLED) {
        cancel_of_client(flight, message);
    }
    finish_status(flight, 202, (struct writ_view){NULL, 0});
}

/* ---- a flight begins, on the owner's loop ---- */

static void
begin_message(struct flight *flight)
{
    struct writ_arena *scratch = writ_arena_new(16 * flight->body.len + 65536);
    const struct writ_json *message = NULL;
    struct writ_json_limits limits = writ_json_limits_default;

    limits.bytes = flight->body.len;
    limits.string_bytes = flight->body.len;
    limits.values = flight->body.len;
    if (scratch == NULL || !writ_is_ok(writ_json_read(
                               writ_buf_view(&flight->body), &limits, scratch, &message, NULL))) {
        finish_broken(flight, WRIT_UPCALL_BROKEN, "unreadable");
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
begin(struct flight *flight)
{
    switch (flight->method) {
    case WRIT_METHOD_POST:
        begin_message(flight);
        return;
    case WRIT_METHOD_GET:
        flight_link(flight, &flight->stdio->listeners);
        send_event(flight, (struct writ_view){NULL, 0}); /* the head alone */
        return;
    case WRIT_METHOD_DELETE:
    case WRIT_METHOD_NONE:
        break;
    }
    finish_status(flight, 200, (struct writ_view){NULL, 0});
}

static void
flight_arrives(struct writ_post *post)
{
    struct flight *flight = post->ctx;
    struct writ_stdio *stdio = flight->stdio;
    int state = atomic_load(&stdio->state);

    flight->timer = (struct writ_timer){.fn = flight_times_out, .ctx = flight};
    stdio->flights++;
    if (stdio->flights > FLIGHTS_MAX || state == STATE_STOPPED) {
        finish_broken(flight, WRIT_UPCALL_BROKEN, "busy");
    } else if (state == STATE_UP) {
        begin(flight);
    } else {
        flight_link(flight, &stdio->waiting);
        arm_timer(flight);
    }
}

static void
begin_waiting(struct writ_stdio *stdio)
{
    struct flight *reversed = NULL;

    while (stdio->waiting != NULL) { /* the list has the last one first */
        flight_link(stdio->waiting, &reversed);
    }
    while (reversed != NULL) {
        struct flight *flight = reversed;
        flight_unlink(flight);
        writ_loop_timer_cancel(&flight->timer);
        begin(flight);
    }
}

/* ---- from the child ---- */

static void
take_response(struct writ_stdio *stdio, const struct writ_json *message, uint64_t id)
{
    struct flight *flight = flight_find(stdio, id);
    writ_auto_buf body = writ_buf_make(0);

    if (flight == NULL) {
        return; /* late: its request was given up */
    }
    body = writ_buf_make(flight->body_max);
    if (!writ_is_ok(writ_pass_rewrite_id(message, writ_buf_view(&flight->client_id), &body))) {
        finish_broken(flight, WRIT_UPCALL_TOO_LARGE, "result_too_large");
    } else if (flight->streaming) {
        send_event(flight, writ_buf_view(&body));
        finish_status(flight, 200, (struct writ_view){NULL, 0});
    } else {
        finish_status(flight, 200, writ_buf_view(&body));
    }
}

/* {..., "params":{..., "progressToken":<the client's>}} */
static void
take_progress(struct writ_stdio *stdio, const struct writ_json *message)
{
    const struct writ_json *params = writ_json_get(message, WRIT_LIT("params"));
    int64_t token;
    struct flight *flight;
    writ_auto_buf body = writ_buf_make(1u << 20);
    struct writ_write w = writ_write_to(&body);

    if (!writ_is_ok(writ_json_integer(
            writ_json_get(params, WRIT_LIT("progressToken")), 1, INT64_MAX, &token))) {
        return;
    }
    flight = flight_find(stdio, (uint64_t)token);
    if (flight == NULL || flight->client_token.len == 0 || !flight->takes_stream) {
        return;
    }
    writ_write_object_begin(&w);
    WRIT_JSON_EACH(name, message)
    {
        writ_write_name(&w, writ_json_string(name));
        if (!writ_view_is(writ_json_string(name), "params")) {
            writ_spread_put_verbatim(&w, writ_json_value(name));
            continue;
        }
        writ_write_object_begin(&w);
        WRIT_JSON_EACH(member, params)
        {
            writ_write_name(&w, writ_json_string(member));
            if (writ_view_is(writ_json_string(member), "progressToken")) {
                writ_write_raw(&w, writ_buf_view(&flight->client_token));
            } else {
                writ_spread_put_verbatim(&w, writ_json_value(member));
            }
        }
        writ_write_object_end(&w);
    }
    writ_write_object_end(&w);
    if (writ_is_ok(writ_write_end(&w, NULL))) {
        send_event(flight, writ_buf_view(&body));
        arm_timer(flight);
    }
}

static void
take_notice(struct writ_stdio *stdio, const struct writ_json *message, struct writ_view line)
{
    struct writ_view method = writ_json_string(writ_json_get(message, WRIT_LIT("method")));

    if (writ_view_is(method, "notifications/progress")) {
        take_progress(stdio, message);
        return;
    }
    if (writ_view_is(method, "notifications/cancelled")) {
        return; /* of a request to us, and we have none open */
    }
    for (struct flight *flight = stdio->listeners; flight != NULL; flight = flight->next) {
        send_event(flight, line);
    }
}

/* The child was told that its client has no capabilities. */
static void
refuse_request(struct writ_stdio *stdio, const struct writ_json *message)
{
    writ_auto_buf line = writ_buf_make(65536);
    struct writ_write w = writ_write_to(&line);
    uint64_t ticket;

    writ_write_object_begin(&w);
    writ_write_name(&w, WRIT_LIT("jsonrpc"));
    writ_write_string(&w, WRIT_LIT("2.0"));
    writ_write_name(&w, WRIT_LIT("id"));
    writ_spread_put_verbatim(&w, writ_json_get(message, WRIT_LIT("id")));
    writ_write_name(&w, WRIT_LIT("error"));
    writ_write_object_begin(&w);
    writ_write_name(&w, WRIT_LIT("code"));
    writ_write_i64(&w, CODE_NO_METHOD);
    writ_write_name(&w, WRIT_LIT("message"));
    writ_write_string(&w, WRIT_LIT("Method not found"));
    writ_write_object_end(&w);
    writ_write_object_end(&w);
    if (writ_is_ok(writ_write_end(&w, NULL))) {
        WRIT_IGNORE(writ_child_send(stdio->child, writ_buf_view(&line), &ticket));
    }
}

static void
child_failed(struct writ_stdio *stdio, const char *why)
{
    WRIT_LOG(stdio->gateway->log, WRIT_LOG_WARN, "upstream_malformed",
        writ_log_text("upstream", stdio->config->name), writ_log_str("why", why));
}

static void
take_handshake(struct writ_stdio *stdio, const struct writ_json *message)
{
    const struct writ_json *result = writ_json_get(message, WRIT_LIT("result"));
    struct writ_write w;
    uint64_t ticket;

    if (atomic_load(&stdio->state) != STATE_HANDSHAKE ||
        writ_json_type(result) != WRIT_JSON_OBJECT) {
        child_failed(stdio, "initialize was not answered with a result");
        return;
    }
    writ_loop_timer_cancel(&stdio->handshake);
    writ_buf_clear(&stdio->initialized);
    w = writ_write_to(&stdio->initialized);
    writ_spread_put_verbatim(&w, result);
    if (!writ_is_ok(writ_write_end(&w, NULL)) ||
        !writ_is_ok(writ_child_send(stdio->child,
            WRIT_LIT("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}"), &ticket))) {
        child_failed(stdio, "the handshake could not be finished");
        return;
    }
    atomic_store(&stdio->state, STATE_UP);
    begin_waiting(stdio);
}

static void
take_message(struct writ_stdio *stdio, const struct writ_json *message, struct writ_view line)
{
    const struct writ_json *id = writ_json_get(message, WRIT_LIT("id"));
    bool answers = writ_json_get(message, WRIT_LIT("result")) != NULL ||
                   writ_json_get(message, WRIT_LIT("error")) != NULL;
    int64_t number = 0;

    if (writ_json_get(message, WRIT_LIT("method")) != NULL) {
        if (id != NULL) {
            refuse_request(stdio, message);
        } else {
            take_notice(stdio, message, line);
        }
    } else if (answers && writ_is_ok(writ_json_integer(id, 0, INT64_MAX, &number))) {
        if (number == HANDSHAKE_ID) {
            take_handshake(stdio, message);
        } else {
            take_response(stdio, message, (uint64_t)number);
        }
    } else {
        child_failed(stdio, "a line that is no message");
    }
}

static void
on_line(void *ctx, struct writ_child *child, struct writ_view line)
{
    struct writ_stdio *stdio = ctx;
    struct writ_arena *scratch = writ_arena_new(20 * line.len + 65536);
    const struct writ_json *message = NULL;
    struct writ_json_limits limits = writ_json_limits_default;

    (void)child;
    limits.bytes = line.len;
    limits.values = line.len;
    limits.string_bytes = line.len;
    if (scratch == NULL || !writ_is_ok(writ_json_read(line, &limits, scratch, &message, NULL)) ||
        writ_json_type(message) != WRIT_JSON_OBJECT) {
        child_failed(stdio, "a line that is not JSON");
    } else {
        take_message(stdio, message, line);
    }
    writ_arena_free(scratch);
}

static void
handshake_times_out(struct writ_timer *timer)
{
    struct writ_stdio *stdio = timer->ctx;

    child_failed(stdio, "initialize was not answered in time");
}

static void
on_up(void *ctx, struct writ_child *child)
{
    struct writ_stdio *stdio = ctx;
    uint64_t ticket;

    WRIT_LOG(stdio->gateway->log, WRIT_LOG_INFO, "upstream_started",
        writ_log_text("upstream", stdio->config->name), writ_log_int("pid", writ_child_pid(child)));
    atomic_store(&stdio->state, STATE_HANDSHAKE);
    writ_loop_timer_set(
        stdio->loop, &stdio->handshake, writ_loop_now_us(stdio->loop) + HANDSHAKE_US);
    WRIT_IGNORE(writ_child_send(child,
        WRIT_LIT("{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{"
                 "\"protocolVersion\":\"" WRIT_MCP_LATEST_LEGACY "\",\"capabilities\":{},"
                 "\"clientInfo\":{\"name\":\"writ\",\"version\":\"" WRIT_VERSION "\"}}}"),
        &ticket));
}

static void
on_down(void *ctx, struct writ_child *child, const struct writ_child_end *end)
{
    struct writ_stdio *stdio = ctx;

    (void)child;
    writ_loop_timer_cancel(&stdio->handshake);
    for (size_t i = 0; i < BUCKETS; i++) {
        while (stdio->buckets[i] != NULL) {
            struct flight *flight = stdio->buckets[i];
            flight->sent = flight->ticket < end->first_unsent; /* keeps (4) */
            finish_broken(flight, WRIT_UPCALL_BROKEN, writ_child_why_name(end->why));
        }
    }
    while (stdio->listeners != NULL) {
        finish_broken(stdio->listeners, WRIT_UPCALL_BROKEN, writ_child_why_name(end->why));
    }
    if (end->why == WRIT_CHILD_STOPPED) {
        while (stdio->waiting != NULL) {
            finish_broken(stdio->waiting, WRIT_UPCALL_BROKEN, "stopped");
        }
    } else {
        WRIT_LOG(stdio->gateway->log, WRIT_LOG_WARN, "upstream_ended",
            writ_log_text("upstream", stdio->config->name),
            writ_log_str("why", writ_child_why_name(end->why)), writ_log_int("detail", end->detail),
            writ_log_int("restart_us", end->restart_us));
    }
    atomic_store(&stdio->state, end->why == WRIT_CHILD_STOPPED ? STATE_STOPPED : STATE_DOWN);
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

void
writ_stdio_start(struct writ_stdio *stdio, struct writ_worker *worker, struct writ_upcall *call)
{
    const struct writ_upcall_request *request = &call->request;
    struct flight *flight = writ_alloc(sizeof *flight);

    WRIT_INVARIANT(flight != NULL); /* as http_upcall: there is nothing left to work with */
    flight->stdio = stdio;
    flight->worker = worker;
    flight->call = call;
    atomic_init(&flight->holders, 2); /* keeps (1): owner and caller */
    flight->method = request->method;
    flight->kind = request->message != NULL ? request->message->kind : WRIT_MCP_REFUSED;
    flight->era = request->message != NULL ? request->message->era : WRIT_MCP_LEGACY;
    flight->name =
        request->message != NULL ? writ_method_find(request->message->method) : WRIT_MCP_UNKNOWN;
    flight->timeout_us = request->timeout_us;
    flight->total_due_us =
        request->total_us > 0 ? writ_loop_now_us(worker->loop) + request->total_us : 0;
    flight->body_max = request->body_max;
    flight->takes_stream = call->events->stream != NULL && call->events->event != NULL;
    flight->body = writ_buf_make(request->body.len + 1);
    writ_buf_put(&flight->body, request->body);
    flight->scope = writ_buf_make(WRIT_SESSION_ID_TEXT);
    writ_buf_put(&flight->scope, writ_view_str(request->scope));
    flight->client_id = flight->client_token = writ_buf_make(0);
    call->state = flight;
    flight->start = (struct writ_post){.fn = flight_arrives, .ctx = flight};
    writ_loop_answer(stdio->loop, &flight->start);
}

static void
cancel_arrives(struct writ_post *post)
{
    struct flight *flight = post->ctx;

    if (!flight->over) {
        if (flight->sent && writ_child_recall(flight->stdio->child, flight->ticket)) {
            flight->sent = false;
        } else if (flight->sent && flight->tell) {
            tell_cancelled(flight);
        }
        finish_broken(flight, WRIT_UPCALL_CANCELLED, "cancelled");
    }
    flight_drop(flight);
}

void
writ_stdio_cancel(struct writ_stdio *stdio, struct writ_upcall *call, bool tell)
{
    struct flight *flight = call->state;

    if (flight == NULL || flight->cancelling) {
        return;
    }
    flight->cancelling = true;
    flight->tell = tell;
    (void)atomic_fetch_add(&flight->holders, 1);
    flight->cancel = (struct writ_post){.fn = cancel_arrives, .ctx = flight};
    writ_loop_answer(stdio->loop, &flight->cancel);
    writ_stdio_resume(stdio, call); /* its end must come through */
}

void
writ_stdio_pause(struct writ_stdio *stdio, struct writ_upcall *call)
{
    struct flight *flight = call->state;

    (void)stdio;
    if (flight != NULL) {
        flight->paused = true;
    }
}

void
writ_stdio_resume(struct writ_stdio *stdio, struct writ_upcall *call)
{
    struct flight *flight = call->state;

    (void)stdio;
    if (flight == NULL) {
        return;
    }
    flight->paused = false;
    while (flight->held != NULL && !flight->paused) {
        struct delivery *delivery = flight->held;
        bool last = delivery->kind == DELIVER_END;
        flight->held = delivery->next;
        deliver_now(delivery);
        if (last) {
            return; /* the flight may be gone */
        }
    }
}

/* ---- life ---- */

static void
environment_of(const struct writ_upstream_config *config, struct writ_buf *text, const char **list)
{
    size_t starts[WRIT_CHILD_ENVIRONMENT_MAX];
    size_t n = 0;

    for (size_t i = 0; i < config->inherit.n && n < WRIT_CHILD_ENVIRONMENT_MAX - 1; i++) {
        const char *value = getenv(config->inherit.items[i].ptr);
        if (value != NULL) {
            starts[n++] = text->len;
            writ_buf_put(text, config->inherit.items[i]);
            writ_buf_byte(text, '=');
            writ_buf_put(text, writ_view_str(value));
            writ_buf_byte(text, '\0');
        }
    }
    for (size_t i = 0; i < config->environment.n && n < WRIT_CHILD_ENVIRONMENT_MAX - 1; i++) {
        starts[n++] = text->len;
        writ_buf_put(text, config->environment.items[i].name);
        writ_buf_byte(text, '=');
        writ_buf_put(text, config->environment.items[i].value);
        writ_buf_byte(text, '\0');
    }
    for (size_t i = 0; i < n; i++) {
        list[i] = text->ptr + starts[i];
    }
    list[n] = NULL;
}

static void
open_child(struct writ_post *post)
{
    struct writ_stdio *stdio = post->ctx;
    const struct writ_upstream_config *config = stdio->config;
    const char *argv[WRIT_CHILD_ENVIRONMENT_MAX] = {NULL};
    const char *environment[WRIT_CHILD_ENVIRONMENT_MAX] = {NULL};
    writ_auto_buf text = writ_buf_make(1u << 20);
    struct writ_err err = {{0}, 0, 0};
    struct writ_child_options options = {.argv = argv,
        .environment = environment,
        .directory = config->directory.len > 0 ? config->directory.ptr : NULL};

    for (size_t i = 0; i < config->stdio.n && i < WRIT_CHILD_ENVIRONMENT_MAX - 1; i++) {
        argv[i] = config->stdio.items[i].ptr;
    }
    environment_of(config, &text, environment);
    if (!writ_is_ok(
            writ_child_open(stdio->loop, &options, &child_handler, stdio, &stdio->child, &err))) {
        WRIT_LOG(stdio->gateway->log, WRIT_LOG_ERROR, "upstream_not_started",
            writ_log_text("upstream", config->name), writ_log_str("why", err.text));
        atomic_store(&stdio->state, STATE_STOPPED);
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
    stdio->handshake = (struct writ_timer){.fn = handshake_times_out, .ctx = stdio};
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
        atomic_store(&stdio->state, STATE_STOPPED);
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
    return atomic_load(&stdio->state) == STATE_STOPPED;
}

bool
writ_stdio_is_up(const struct writ_stdio *stdio)
{
    return atomic_load(&stdio->state) == STATE_UP;
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
