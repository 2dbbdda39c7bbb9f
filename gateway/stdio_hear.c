#include "gateway/stdio_hear.h"

#include "gateway/pass.h"
#include "gateway/spread.h"
#include "gateway/stdio_ask.h"

#include "evidence/write.h"

#define HANDSHAKE_US   60000000   /* for the child to start and answer initialize */
#define VALUES_MAX     (1u << 20) /* of one line: bounds the memory that it costs */
#define PROGRESS_MAX   (1u << 20)
#define REPLY_MAX      65536
#define CODE_NO_METHOD (-32601)

static void
note(struct writ_stdio *stdio, const char *why)
{
    WRIT_LOG(stdio->gateway->log, WRIT_LOG_WARN, "upstream_malformed",
        writ_log_text("upstream", stdio->config->name), writ_log_str("why", why));
}

static struct writ_flight *
flight_find(struct writ_stdio *stdio, uint64_t id)
{
    struct writ_flight *flight = stdio->buckets[id % WRIT_FLIGHT_BUCKETS];

    while (flight != NULL && flight->id != id) {
        flight = flight->next;
    }
    return flight;
}

static void
take_response(struct writ_stdio *stdio, const struct writ_json *message, uint64_t id)
{
    struct writ_flight *flight = flight_find(stdio, id);
    writ_auto_buf body = writ_buf_make(flight != NULL ? flight->body_max : 0);

    if (flight == NULL) {
        return; /* late: its request was given up */
    }
    if (!writ_is_ok(writ_pass_rewrite_id(message, writ_buf_view(&flight->client_id), &body))) {
        writ_flight_break(flight, WRIT_UPCALL_TOO_LARGE, "result_too_large");
    } else {
        writ_flight_respond(flight, writ_buf_view(&body));
    }
}

/* {..., "params":{..., "progressToken":<the client's>}} */
static writ_result
put_progress(const struct writ_flight *flight, const struct writ_json *message,
    const struct writ_json *params, struct writ_buf *ret)
{
    struct writ_write w = writ_write_to(ret);

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
    return writ_write_end(&w, NULL);
}

static void
take_progress(struct writ_stdio *stdio, const struct writ_json *message)
{
    const struct writ_json *params = writ_json_get(message, WRIT_LIT("params"));
    int64_t token;
    struct writ_flight *flight;
    writ_auto_buf body = writ_buf_make(PROGRESS_MAX);

    if (!writ_is_ok(writ_json_integer(
            writ_json_get(params, WRIT_LIT("progressToken")), 1, INT64_MAX, &token))) {
        return;
    }
    flight = flight_find(stdio, (uint64_t)token);
    if (flight == NULL || flight->client_token.len == 0 || !flight->takes_stream) {
        return;
    }
    writ_flight_arm(flight, stdio->loop);
    if (writ_is_ok(put_progress(flight, message, params, &body))) {
        (void)writ_flight_event(flight, writ_buf_view(&body)); /* progress may be left out */
    }
}

/* Notices that say nothing of anybody's requests. */
static bool
is_for_all(struct writ_view method)
{
    return writ_view_has_prefix(method, WRIT_LIT("notifications/")) &&
           writ_view_has_suffix(method, WRIT_LIT("/list_changed"));
}

static void
doubt_tools(const struct writ_stdio *stdio)
{
    writ_shelf_doubt(
        writ_upstream_shelf(writ_gateway_upstream(stdio->gateway, stdio->config->name)));
}

/* A log message or an updated resource says what some client does, and does not say which. */
static void
take_notice(struct writ_stdio *stdio, const struct writ_json *message, struct writ_view line)
{
    struct writ_view method = writ_json_string(writ_json_get(message, WRIT_LIT("method")));

    if (writ_view_is(method, "notifications/progress")) {
        take_progress(stdio, message);
        return;
    }
    if (writ_view_is(method, "notifications/tools/list_changed")) {
        doubt_tools(stdio);
    }
    for (struct writ_flight *flight = stdio->listeners; flight != NULL && is_for_all(method);
         flight = flight->next) {
        (void)writ_flight_event(flight, line); /* its client looks at the whole list anyway */
    }
}

static void
put_no_method(struct writ_write *w)
{
    writ_write_name(w, WRIT_LIT("error"));
    writ_write_object_begin(w);
    writ_write_name(w, WRIT_LIT("code"));
    writ_write_i64(w, CODE_NO_METHOD);
    writ_write_name(w, WRIT_LIT("message"));
    writ_write_string(w, WRIT_LIT("Method not found"));
    writ_write_object_end(w);
}

/* A request of the child. It was told that its client has no capabilities, so there is ping. */
static void
take_request(struct writ_stdio *stdio, const struct writ_json *message)
{
    writ_auto_buf line = writ_buf_make(REPLY_MAX);
    struct writ_write w = writ_write_to(&line);
    uint64_t ticket;

    writ_write_object_begin(&w);
    writ_write_name(&w, WRIT_LIT("jsonrpc"));
    writ_write_string(&w, WRIT_LIT("2.0"));
    writ_write_name(&w, WRIT_LIT("id"));
    writ_spread_put_verbatim(&w, writ_json_get(message, WRIT_LIT("id")));
    if (writ_json_is(writ_json_get(message, WRIT_LIT("method")), WRIT_LIT("ping"))) {
        writ_write_name(&w, WRIT_LIT("result"));
        writ_write_object_begin(&w);
        writ_write_object_end(&w);
    } else {
        put_no_method(&w);
    }
    writ_write_object_end(&w);
    if (writ_is_ok(writ_write_end(&w, NULL))) {
        WRIT_IGNORE(writ_child_send(stdio->child, writ_buf_view(&line), &ticket));
    }
}

/* It is started again, and what waits for it waits on. */
static void
handshake_failed(struct writ_stdio *stdio, const char *why)
{
    note(stdio, why);
    writ_loop_timer_cancel(&stdio->handshake);
    writ_child_reject(stdio->child);
}

static void
take_handshake(struct writ_stdio *stdio, const struct writ_json *message)
{
    const struct writ_json *result = writ_json_get(message, WRIT_LIT("result"));
    struct writ_write w;
    uint64_t ticket;

    if (atomic_load(&stdio->state) != WRIT_STDIO_HANDSHAKE) {
        note(stdio, "initialize was answered twice");
        return;
    }
    if (writ_json_type(result) != WRIT_JSON_OBJECT) {
        handshake_failed(stdio, "initialize was not answered with a result");
        return;
    }
    writ_loop_timer_cancel(&stdio->handshake);
    writ_buf_clear(&stdio->initialized);
    w = writ_write_to(&stdio->initialized);
    writ_spread_put_verbatim(&w, result);
    if (!writ_is_ok(writ_write_end(&w, NULL)) ||
        !writ_is_ok(writ_child_send(stdio->child,
            WRIT_LIT("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}"), &ticket))) {
        handshake_failed(stdio, "the handshake could not be finished");
        return;
    }
    atomic_store(&stdio->state, WRIT_STDIO_UP);
    doubt_tools(stdio); /* another process, perhaps of another version */
    stdio->failures = 0;
    writ_stdio_ask_waiting(stdio);
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
            take_request(stdio, message);
        } else {
            take_notice(stdio, message, line);
        }
    } else if (answers && writ_is_ok(writ_json_integer(id, 0, INT64_MAX, &number))) {
        if (number == WRIT_STDIO_INITIALIZE_ID) {
            take_handshake(stdio, message);
        } else {
            take_response(stdio, message, (uint64_t)number);
        }
    } else {
        note(stdio, "a line that is no message");
    }
}

void
writ_stdio_hear_line(struct writ_stdio *stdio, struct writ_view line)
{
    struct writ_arena *scratch = writ_arena_new(64 * line.len + 65536);
    const struct writ_json *message = NULL;
    struct writ_json_limits limits = writ_json_limits_default;

    limits.bytes = limits.string_bytes = line.len;
    limits.values = VALUES_MAX;
    if (scratch == NULL || !writ_is_ok(writ_json_read(line, &limits, scratch, &message, NULL)) ||
        writ_json_type(message) != WRIT_JSON_OBJECT) {
        note(stdio, "a line that is not JSON");
    } else {
        take_message(stdio, message, line);
    }
    writ_arena_free(scratch);
}

static void
handshake_times_out(struct writ_timer *timer)
{
    handshake_failed(timer->ctx, "initialize was not answered in time");
}

void
writ_stdio_hear_begin(struct writ_stdio *stdio)
{
    uint64_t ticket;

    atomic_store(&stdio->state, WRIT_STDIO_HANDSHAKE);
    stdio->handshake = (struct writ_timer){.fn = handshake_times_out, .ctx = stdio};
    writ_loop_timer_set(
        stdio->loop, &stdio->handshake, writ_loop_now_us(stdio->loop) + HANDSHAKE_US);
    /* one that takes nothing answers nothing: the timer ends it */
    WRIT_IGNORE(writ_child_send(stdio->child,
        WRIT_LIT("{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{"
                 "\"protocolVersion\":\"" WRIT_MCP_LATEST_LEGACY "\",\"capabilities\":{},"
                 "\"clientInfo\":{\"name\":\"writ\",\"version\":\"" WRIT_VERSION "\"}}}"),
        &ticket));
}
