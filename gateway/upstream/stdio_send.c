/* stdio_send.c - writes the lines of flights to a child, with ids of its own.
 *
 * Invariant (1): NOT_SENT is reported only for a line that was never handed to the child, or whose
 * ticket proves that the child read nothing of it. */
#include "gateway/upstream/stdio_send.h"

#include "gateway/mcp/line_list.h"
#include "gateway/upstream/stdio_refuse.h"
#include "gateway/upstream/stdio_stream.h"

#include "evidence/json/write.h"

#define NAME_MAX        65536      /* JSON text of a request's id, or of a progress token */
#define INITIALIZE_MAX  (1u << 22) /* bytes of the answer to initialize, and its memory */
#define CANCEL_LINE_MAX 160
#define LINE_MORE       65536    /* bytes that a line of ours may be longer than the message */
#define LEFT_US         10000000 /* for the child to answer a request that its client cancelled */

/* ---- to the child ---- */

/* One message with the gateway's id and progress token in place of the client's. */
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
            writ_write_verbatim(w, value);
        }
    }
    writ_write_object_end(w);
}

/* Keeps the JSON text; nothing when it is absent, or too long. */
static void
remember(struct writ_buf *buf, const struct writ_json *value)
{
    struct writ_write w;

    *buf = writ_buf_make(NAME_MAX);
    if (value == NULL) {
        return;
    }
    w = writ_write_to(buf);
    writ_write_verbatim(&w, value);
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
tell_cancelled(struct writ_instance *instance, uint64_t id)
{
    writ_auto_buf text = writ_buf_make(CANCEL_LINE_MAX);
    uint64_t ticket;

    writ_buf_fmt(&text,
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
        "\"params\":{\"requestId\":%llu}}",
        (unsigned long long)id);
    if (writ_is_ok(writ_buf_check(&text, NULL))) {
        WRIT_IGNORE(writ_child_send(instance->child, writ_buf_view(&text), &ticket));
    }
}

/* Takes a line back that the child has not read; else notifies it, if requested. */
static void
give_up(struct writ_flight *flight, bool tell)
{
    if (!flight->sent) {
        return;
    }
    if (writ_child_recall(flight->instance->child, flight->ticket)) {
        flight->sent = false; /* keeps (1) */
    } else if (tell) {
        tell_cancelled(flight->instance, flight->id);
    }
}

static void
flight_times_out(struct writ_timer *timer)
{
    struct writ_flight *flight = timer->ctx;

    give_up(flight, true);
    writ_flight_break(flight, WRIT_UPCALL_TIMEOUT, "timeout");
}

/* Its session is opened without waiting for the child: the gateway does the rest of the handshake,
 * and a notice tells the client that there is more to list. */
static void
join_late(struct writ_flight *flight)
{
    struct writ_instance *instance = flight->instance;

    if (flight->name == WRIT_MCP_INITIALIZE && instance != NULL &&
        instance->kind == WRIT_INSTANCE_SESSION && instance->state != WRIT_INSTANCE_UP) {
        instance->sends_initialized = instance->late = true;
    }
}

void
writ_stdio_send_cancel(struct writ_flight *flight, bool tell)
{
    if (!flight->over) {
        join_late(flight);
        if (tell || !writ_stdio_stream_leave(flight)) {
            give_up(flight, tell);
        }
        writ_flight_break(flight, WRIT_UPCALL_CANCELLED, "cancelled");
    }
}

static bool
say(struct writ_instance *instance, const struct writ_buf *line)
{
    uint64_t ticket;

    return writ_is_ok(writ_buf_check(line, NULL)) &&
           writ_is_ok(writ_child_send(instance->child, writ_buf_view(line), &ticket));
}

/* Writes a value unchanged; nothing for an absent one. The child must refuse such a message, not
 * the gateway. */
static writ_result
verbatim(const struct writ_json *value, struct writ_buf *ret)
{
    struct writ_write w = writ_write_to(ret);

    if (value == NULL) {
        return (writ_result){WRIT_E_ABSENT};
    }
    writ_write_verbatim(&w, value);
    return writ_write_end(&w, NULL);
}

/* ---- requests that a new child gets again ---- */

/* "<scope> <uri>": the client and resource of a subscription. False: not a subscription. */
static bool
put_subscription(
    struct writ_buf *text, const struct writ_flight *flight, const struct writ_json *message)
{
    writ_buf_put(text, writ_buf_view(&flight->scope));
    writ_buf_byte(text, ' ');
    return writ_is_ok(verbatim(writ_json_pointer(message, WRIT_LIT("/params/uri")), text));
}

static void
remember_wishes(struct writ_flight *flight, const struct writ_json *message)
{
    struct writ_instance *instance = flight->instance;
    writ_auto_buf text = writ_buf_make(NAME_MAX);

    if (flight->name == WRIT_MCP_SET_LEVEL) {
        writ_buf_clear(&instance->level);
        WRIT_IGNORE(verbatim(writ_json_get(message, WRIT_LIT("params")), &instance->level));
        return;
    }
    if (flight->name != WRIT_MCP_RESOURCES_SUBSCRIBE &&
        flight->name != WRIT_MCP_RESOURCES_UNSUBSCRIBE) {
        return;
    }
    if (!put_subscription(&text, flight, message)) {
        return;
    }
    (void)writ_line_list_take(&instance->kept, writ_buf_view(&text));
    if (flight->name == WRIT_MCP_RESOURCES_SUBSCRIBE &&
        !writ_line_list_add(&instance->kept, writ_buf_view(&text))) {
        writ_buf_clear(&instance->kept); /* full of subscriptions that were not taken back: keeps
                                            none */
        (void)writ_line_list_add(&instance->kept, writ_buf_view(&text));
    }
}

static void
ask_again(struct writ_instance *instance, const char *method, const char *open,
    struct writ_view params, const char *close)
{
    writ_auto_buf line = writ_buf_make(params.len + 256);

    writ_buf_fmt(&line, "{\"jsonrpc\":\"2.0\",\"id\":%llu,\"method\":\"%s\",\"params\":%s",
        (unsigned long long)++instance->last_id, method, open); /* its answer is dropped */
    writ_buf_put(&line, params);
    writ_buf_fmt(&line, "%s}", close);
    (void)say(instance, &line);
}

/* For a session that was opened before its server was up, all its items are new; none was
 * removed. */
static void
keep_news(struct writ_instance *instance)
{
    static const struct {
        const char *late, *again, *line;
    } news[] = {
        {"/capabilities/tools", "/capabilities/tools/listChanged",
            "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}"},
        {"/capabilities/prompts", "/capabilities/prompts/listChanged",
            "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/prompts/list_changed\"}"},
        {"/capabilities/resources", "/capabilities/resources/listChanged",
            "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/resources/list_changed\"}"},
        {"/none", "/capabilities/logging",
            "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"level\":"
            "\"warning\",\"logger\":\"writ\",\"data\":\"The server was started again: what it "
            "remembered of this session is gone.\"}}"},
    };
    struct writ_arena *scratch = writ_arena_new(INITIALIZE_MAX);
    const struct writ_json *said = NULL;
    bool again = instance->was_up || instance->lost;

    if (scratch != NULL && writ_is_ok(writ_json_read(writ_buf_view(&instance->initialized),
                               &writ_json_limits_default, scratch, &said, NULL))) {
        for (size_t i = 0; i < sizeof news / sizeof *news; i++) {
            const struct writ_json *flag =
                writ_json_pointer(said, writ_view_str(again ? news[i].again : news[i].late));
            if (writ_json_type(flag) == WRIT_JSON_TRUE ||
                writ_json_type(flag) == WRIT_JSON_OBJECT) {
                (void)writ_line_list_add(&instance->backlog, writ_view_str(news[i].line));
            }
        }
    }
    writ_arena_free(scratch);
}

void
writ_stdio_send_again(struct writ_instance *instance)
{
    size_t at = 0;

    if (instance->level.len > 0) {
        ask_again(instance, "logging/setLevel", "", writ_buf_view(&instance->level), "");
    }
    for (;;) {
        struct writ_view line = writ_line_list_next(&instance->kept, &at);
        size_t space = writ_view_find(line, ' ');
        if (line.ptr == NULL) {
            break;
        }
        ask_again(instance, "resources/subscribe",
            "{\"uri\":", writ_view_sub(line, space + 1, SIZE_MAX), "}");
    }
    if (instance->kind == WRIT_INSTANCE_SESSION) {
        keep_news(instance);
    }
}

/* ---- requests ---- */

static void
send_request(struct writ_flight *flight, const struct writ_json *message)
{
    struct writ_instance *instance = flight->instance;
    writ_auto_buf line = writ_buf_make(flight->body.len * 2 + LINE_MORE);
    writ_result r;

    if (flight->request->may_begin != NULL &&
        !flight->request->may_begin(flight->request->begin_ctx)) {
        writ_flight_break(flight, WRIT_UPCALL_BROKEN, "withheld");
        return;
    }
    flight->id = ++instance->last_id;
    r = make_line(flight, message, &line);
    if (writ_is_ok(r)) {
        r = writ_child_send(instance->child, writ_buf_view(&line), &flight->ticket);
    }
    if (!writ_is_ok(r)) {
        writ_flight_break(flight, WRIT_UPCALL_BROKEN, writ_code_name(r.code));
        return;
    }
    remember_wishes(flight, message);
    flight->sent = true;
    flight->timer = (struct writ_timer){.fn = flight_times_out, .ctx = flight};
    writ_flight_link(flight, &instance->buckets[flight->id % WRIT_FLIGHT_BUCKETS]);
    writ_flight_arm(flight, flight->stdio->loop);
    writ_stdio_stream_expect(flight);
}

/* ---- requests that the gateway answers for the child ---- */

/* Whether another client of the child has the same subscription. */
static bool
is_wanted_by_others(const struct writ_flight *flight, const struct writ_json *message)
{
    const struct writ_instance *instance = flight->instance;
    writ_auto_buf own = writ_buf_make(NAME_MAX);
    struct writ_view uri;
    size_t at = 0;

    if (flight->name != WRIT_MCP_RESOURCES_UNSUBSCRIBE ||
        !put_subscription(&own, flight, message)) {
        return false;
    }
    uri = writ_view_sub(writ_buf_view(&own), flight->scope.len, SIZE_MAX); /* " <uri>" */
    for (;;) {
        struct writ_view line = writ_line_list_next(&instance->kept, &at);
        if (line.ptr == NULL) {
            return false;
        }
        if (writ_view_equal(writ_view_sub(line, writ_view_find(line, ' '), SIZE_MAX), uri) &&
            !writ_view_equal(line, writ_buf_view(&own))) {
            return true;
        }
    }
}

static void
answer_unsubscribed(struct writ_flight *flight, const struct writ_json *message)
{
    writ_auto_buf body = writ_buf_make(NAME_MAX);
    struct writ_write w = writ_write_to(&body);

    remember_wishes(flight, message);
    writ_mcp_open(&w, flight->request->message->id);
    writ_write_name(&w, WRIT_LIT("result"));
    writ_write_object_begin(&w);
    writ_write_object_end(&w);
    writ_write_object_end(&w);
    WRIT_IGNORE(writ_write_end(&w, NULL)); /* the buffer remembers */
    writ_flight_answer(flight, 200, writ_buf_view(&body));
}

/* The child's answer, in the client's revision if the child's is as new. */
static void
answer_initialize(struct writ_flight *flight, const struct writ_json *message)
{
    struct writ_arena *scratch = writ_arena_new(INITIALIZE_MAX);
    writ_auto_buf body = writ_buf_make(INITIALIZE_MAX);
    struct writ_write w = writ_write_to(&body);
    struct writ_instance *instance = flight->instance;
    struct writ_view wanted =
        instance->kind == WRIT_INSTANCE_SESSION /* it was sent by this client */
            ? (struct writ_view){NULL, 0}
            : writ_json_string(writ_json_pointer(message, WRIT_LIT("/params/protocolVersion")));
    const struct writ_json *result = NULL;

    if (scratch == NULL || !writ_is_ok(writ_json_read(writ_buf_view(&instance->initialized),
                               &writ_json_limits_default, scratch, &result, NULL))) {
        writ_arena_free(scratch);
        writ_flight_break(flight, WRIT_UPCALL_BROKEN, "nomem");
        return;
    }
    writ_write_object_begin(&w);
    writ_write_text(&w, "jsonrpc", WRIT_LIT("2.0"));
    writ_write_name(&w, WRIT_LIT("id"));
    writ_write_verbatim(&w, writ_json_get(message, WRIT_LIT("id")));
    writ_write_name(&w, WRIT_LIT("result"));
    writ_write_object_begin(&w);
    WRIT_JSON_EACH(name, result)
    {
        const struct writ_json *value = writ_json_value(name);
        writ_write_name(&w, writ_json_string(name));
        if (writ_view_is(writ_json_string(name), "protocolVersion") &&
            writ_mcp_is_legacy_version(wanted) &&
            writ_view_compare(wanted, writ_json_string(value)) <= 0) {
            writ_write_string(&w, wanted);
        } else {
            writ_write_verbatim(&w, value);
        }
    }
    writ_write_object_end(&w);
    writ_write_object_end(&w);
    writ_arena_free(scratch);
    if (instance->kind == WRIT_INSTANCE_SESSION) {
        flight->session = writ_buf_make(instance->key.len);
        writ_buf_put(&flight->session, writ_buf_view(&instance->key));
    }
    if (writ_is_ok(writ_write_end(&w, NULL)) &&
        writ_is_ok(writ_buf_check(&flight->session, NULL))) {
        writ_flight_answer(flight, 200, writ_buf_view(&body));
    } else {
        writ_flight_break(flight, WRIT_UPCALL_BROKEN, "nomem");
    }
}

/* ---- notifications and answers of the client ---- */

/* Its client cancelled it: the server may still answer, or not. */
static void
let_go(struct writ_timer *timer)
{
    writ_flight_break(timer->ctx, WRIT_UPCALL_CANCELLED, "cancelled");
}

static void
cancel_flight(struct writ_flight *flight)
{
    tell_cancelled(flight->instance, flight->id);
    writ_flight_let_go(flight, flight->stdio->loop, LEFT_US, let_go);
}

/* A client may cancel requests of its own session, by its own id. */
static void
cancel_of_client(struct writ_flight *by, const struct writ_json *message)
{
    struct writ_instance *instance = by->instance;
    writ_auto_buf id = writ_buf_make(0);

    remember(&id, writ_json_pointer(message, WRIT_LIT("/params/requestId")));
    for (size_t i = 0; i < WRIT_FLIGHT_BUCKETS && id.len > 0 && by->scope.len > 0; i++) {
        for (struct writ_flight *flight = instance->buckets[i]; flight != NULL;
             flight = flight->next) {
            if (writ_view_equal(writ_buf_view(&flight->scope), writ_buf_view(&by->scope)) &&
                writ_view_equal(writ_buf_view(&flight->client_id), writ_buf_view(&id))) {
                cancel_flight(flight);
                return;
            }
        }
    }
    for (struct writ_orphan *orphan = instance->orphans; orphan != NULL; orphan = orphan->next) {
        if (id.len > 0 && writ_view_equal(writ_buf_view(&orphan->client_id), writ_buf_view(&id))) {
            tell_cancelled(instance, orphan->id);
            return;
        }
    }
}

/* A session's child gets every notice; one that serves several clients could not distinguish
 * them. */
static void
pass_on(struct writ_instance *instance, const struct writ_json *message)
{
    writ_auto_buf line = writ_buf_make((size_t)instance->stdio->gateway->config->limits.body_bytes);

    if (instance->kind == WRIT_INSTANCE_SESSION && writ_is_ok(verbatim(message, &line))) {
        (void)say(instance, &line);
    }
}

static void
take_notification(struct writ_flight *flight, const struct writ_json *message)
{
    if (flight->name == WRIT_MCP_CANCELLED) {
        cancel_of_client(flight, message);
    } else if (flight->name != WRIT_MCP_UNKNOWN && flight->era == WRIT_MCP_LEGACY) {
        pass_on(flight->instance, message);
    }
    if (flight->name == WRIT_MCP_INITIALIZED) {
        flight->instance->sends_initialized = true; /* the gateway sends it to the next child */
    }
    writ_flight_answer(flight, 202, (struct writ_view){NULL, 0});
}

/* An answer to a request of the child: accepted once, and only from the session that got the
 * request. */
static void
take_reply(struct writ_flight *flight, const struct writ_json *message)
{
    writ_auto_buf id = writ_buf_make(0);

    remember(&id, writ_json_get(message, WRIT_LIT("id")));
    if (writ_line_list_take(&flight->instance->asked, writ_buf_view(&id))) {
        pass_on(flight->instance, message);
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
    } else if (flight->kind == WRIT_MCP_RESPONSE) {
        take_reply(flight, message);
    } else if (flight->kind != WRIT_MCP_REQUEST) {
        take_notification(flight, message);
    } else if (flight->name == WRIT_MCP_INITIALIZE && flight->era == WRIT_MCP_LEGACY) {
        answer_initialize(flight, message);
    } else if (is_wanted_by_others(flight, message)) {
        answer_unsubscribed(flight, message);
    } else if (!writ_stdio_refuse_version(flight)) {
        send_request(flight, message);
    }
    writ_arena_free(scratch);
}

writ_result
writ_stdio_send_hello(struct writ_flight *flight, struct writ_buf *ret)
{
    const struct writ_upcall_request *request = flight->request;

    if (flight->name == WRIT_MCP_INITIALIZE) {
        const struct writ_json *params = request->message->params;
        writ_buf_str(ret, params == NULL ? "{}" : "");
        return params == NULL ? writ_buf_check(ret, NULL) : verbatim(params, ret);
    }
    if (request->client.len == 0) {
        return (writ_result){WRIT_E_ABSENT};
    }
    writ_buf_put(ret, request->client);
    return writ_buf_check(ret, NULL);
}

void
writ_stdio_send_begin(struct writ_flight *flight)
{
    switch (flight->method) {
    case WRIT_METHOD_POST:
        begin_message(flight);
        return;
    case WRIT_METHOD_GET:
        writ_stdio_stream_listen(flight);
        return;
    case WRIT_METHOD_DELETE:
    case WRIT_METHOD_OPTIONS:
    case WRIT_METHOD_NONE:
        break;
    }
    writ_flight_answer(flight, 200, (struct writ_view){NULL, 0});
}
