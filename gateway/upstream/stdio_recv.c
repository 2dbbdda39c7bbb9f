/* stdio_recv.c - sorts the lines of a child into answers, requests and notices.
 *
 * Invariant (1): a message of a child reaches only the clients that it serves: the session that
 * owns the child, or, when clients share it, the one whose request or subscription the message
 * names. */
#include "gateway/upstream/stdio_recv.h"

#include "gateway/mcp/line_list.h"
#include "gateway/mcp/rewrite.h"
#include "gateway/state/catalog_snapshot.h"
#include "gateway/upstream/stdio_handshake.h"
#include "gateway/upstream/stdio_stream.h"

#include "evidence/json/write.h"

#define PROGRESS_MAX (1u << 20)
#define REPLY_MAX    65536
#define NAME_MAX     65536
#define NOTES_MAX    10 /* log lines about one child, per second */
#define SECOND_US    INT64_C(1000000)
#define LISTEN_ID    WRIT_LIT("io.modelcontextprotocol/subscriptionId")
#define LOG_LEVEL    WRIT_LIT("io.modelcontextprotocol/logLevel")

/* A child that only sends invalid messages must not fill the log. */
static void
note(struct writ_instance *instance, const char *why)
{
    int64_t now_us = writ_loop_now_us(instance->stdio->loop);

    if (now_us - instance->noted_us >= SECOND_US) {
        instance->noted_us = now_us;
        instance->noted = 0;
    }
    if (instance->noted >= NOTES_MAX) {
        instance->unnoted++;
        return;
    }
    instance->noted++;
    WRIT_LOG(instance->stdio->gateway->log, WRIT_EVENT_UPSTREAM_MALFORMED,
        writ_log_text("upstream", instance->stdio->config->name), writ_log_str("why", why),
        writ_log_int("dropped", (int64_t)instance->unnoted));
    instance->unnoted = 0;
}

static struct writ_flight *
flight_find(struct writ_instance *instance, uint64_t id)
{
    struct writ_flight *flight = instance->buckets[id % WRIT_FLIGHT_BUCKETS];

    while (flight != NULL && flight->id != id) {
        flight = flight->next;
    }
    return flight;
}

/* Faults that a server over HTTP finds before it reads the method (2026-07-28, basic). */
static bool
envelope_is_good(const struct writ_json *meta)
{
    const struct writ_json *client =
        writ_json_get(meta, WRIT_LIT("io.modelcontextprotocol/clientInfo"));

    return writ_json_type(writ_json_get(meta, WRIT_LIT(WRIT_META_CAPABILITIES))) ==
               WRIT_JSON_OBJECT &&
           (client == NULL || writ_json_type(client) == WRIT_JSON_OBJECT);
}

/* As over HTTP: the stateless revision gives some errors a status of their own
 * (basic/transports/streamable-http). */
static unsigned
status_of(const struct writ_instance *instance, const struct writ_flight *flight,
    const struct writ_json *message)
{
    int64_t code = 0;

    if (instance->kind != WRIT_INSTANCE_MODERN ||
        !writ_is_ok(writ_json_integer(
            writ_json_pointer(message, WRIT_LIT("/error/code")), INT64_MIN, INT64_MAX, &code))) {
        return 200;
    }
    if (code == WRIT_RPC_METHOD_NOT_FOUND) {
        return 404;
    }
    return code == WRIT_RPC_UNSUPPORTED_VERSION || code == WRIT_RPC_MISSING_CAPABILITY ||
                   (code == WRIT_RPC_INVALID_PARAMS &&
                       !envelope_is_good(flight->request->message->meta))
               ? 400
               : 200;
}

/* The response of an orphan; or a late one, whose request was given up. */
static void
take_orphan_response(struct writ_instance *instance, const struct writ_json *message, uint64_t id)
{
    struct writ_orphan *orphan = writ_stdio_stream_orphan(instance, id);
    writ_auto_buf body =
        writ_buf_make((size_t)instance->stdio->gateway->config->limits.response_bytes);

    if (orphan != NULL &&
        writ_is_ok(writ_rewrite_id(message, writ_buf_view(&orphan->client_id), &body))) {
        writ_stdio_stream_respond_heir(instance, orphan, writ_buf_view(&body));
    }
}

static void
take_response(struct writ_instance *instance, const struct writ_json *message, uint64_t id)
{
    struct writ_flight *flight = flight_find(instance, id);
    writ_auto_buf body = writ_buf_make(flight != NULL ? flight->body_max : 0);

    if (flight == NULL) {
        take_orphan_response(instance, message, id);
        return;
    }
    if (!writ_is_ok(writ_rewrite_id(message, writ_buf_view(&flight->client_id), &body))) {
        writ_flight_break(flight, WRIT_UPCALL_TOO_LARGE, "result_too_large");
    } else {
        writ_stdio_stream_respond(
            instance, flight, status_of(instance, flight, message), writ_buf_view(&body));
    }
}

/* ---- notices */

static bool
tell(struct writ_flight *flight, const struct writ_json *message, const struct writ_view *path,
    size_t n, struct writ_view raw)
{
    writ_auto_buf body = writ_buf_make(PROGRESS_MAX);

    return writ_is_ok(writ_rewrite_at(message, path, n, raw, &body)) &&
           writ_stdio_stream_tell(flight->instance, flight, writ_buf_view(&body));
}

static const struct writ_view progress_path[] = {WRIT_LIT("params"), WRIT_LIT("progressToken")};

static void
take_orphan_progress(struct writ_instance *instance, const struct writ_json *message, uint64_t id)
{
    struct writ_orphan *orphan = writ_stdio_stream_orphan(instance, id);
    writ_auto_buf body = writ_buf_make(PROGRESS_MAX);

    if (orphan != NULL && orphan->client_token.len > 0 &&
        writ_is_ok(writ_rewrite_at(
            message, progress_path, 2, writ_buf_view(&orphan->client_token), &body))) {
        writ_stdio_stream_tell_heir(instance, orphan, writ_buf_view(&body));
    }
}

static void
take_progress(struct writ_instance *instance, const struct writ_json *message)
{
    const struct writ_json *token = writ_json_pointer(message, WRIT_LIT("/params/progressToken"));
    struct writ_flight *flight;
    int64_t id;

    if (!writ_is_ok(writ_json_integer(token, 1, INT64_MAX, &id))) {
        return;
    }
    flight = flight_find(instance, (uint64_t)id);
    if (flight == NULL) {
        take_orphan_progress(instance, message, (uint64_t)id);
        return;
    }
    if (flight->client_token.len == 0 || !flight->takes_stream) {
        return;
    }
    writ_flight_arm(flight, instance->stdio->loop);
    (void)tell(flight, message, progress_path, 2, writ_buf_view(&flight->client_token));
}

/* The request that was sent last, of those whose answer may be a stream. */
static struct writ_flight *
latest_call(struct writ_instance *instance)
{
    struct writ_flight *latest = NULL;

    for (size_t i = 0; i < WRIT_FLIGHT_BUCKETS; i++) {
        for (struct writ_flight *f = instance->buckets[i]; f != NULL; f = f->next) {
            if (f->takes_stream && (latest == NULL || f->id > latest->id)) {
                latest = f;
            }
        }
    }
    return latest != NULL ? latest : instance->heirs;
}

/* To one stream of the session, never to two (2025-11-25, basic/transports); a message of a call
 * goes to the stream of the latest one, because the child does not name its call. */
static bool
tell_session(struct writ_instance *instance, struct writ_view line, bool of_call)
{
    struct writ_flight *call = latest_call(instance);

    if (of_call && call != NULL) {
        writ_flight_arm(call, instance->stdio->loop);
        if (writ_stdio_stream_tell(instance, call, line)) {
            return true;
        }
    }
    if (instance->listeners != NULL &&
        writ_stdio_stream_tell(instance, instance->listeners, line)) {
        return true;
    }
    return writ_line_list_add(&instance->backlog, line);
}

static bool
is_list_changed(struct writ_view method)
{
    return writ_view_has_prefix(method, WRIT_LIT("notifications/")) &&
           writ_view_has_suffix(method, WRIT_LIT("/list_changed"));
}

static bool
has_subscribed(const struct writ_instance *instance, const struct writ_flight *listener,
    const struct writ_json *uri)
{
    writ_auto_buf wanted = writ_buf_make(NAME_MAX);
    struct writ_write w;
    size_t at = 0;

    writ_buf_put(&wanted, writ_buf_view(&listener->scope));
    writ_buf_byte(&wanted, ' ');
    w = writ_write_to(&wanted);
    writ_write_verbatim(&w, uri);
    if (!writ_is_ok(writ_write_end(&w, NULL))) {
        return false;
    }
    for (;;) {
        struct writ_view line = writ_line_list_next(&instance->kept, &at);
        if (line.ptr == NULL || writ_view_equal(line, writ_buf_view(&wanted))) {
            return line.ptr != NULL;
        }
    }
}

/* A log message concerns one of several clients, but does not name it: it is dropped. */
static void
tell_common(struct writ_instance *instance, const struct writ_json *message, struct writ_view line)
{
    struct writ_view method = writ_json_string(writ_json_get(message, WRIT_LIT("method")));
    const struct writ_json *uri = writ_json_pointer(message, WRIT_LIT("/params/uri"));
    bool updated = writ_view_is(method, "notifications/resources/updated");

    for (struct writ_flight *f = instance->listeners; f != NULL; f = f->next) {
        if (is_list_changed(method) || (updated && has_subscribed(instance, f, uri))) {
            (void)writ_stdio_stream_tell(instance, f, line); /* its client reads the state again
                                                                anyway */
        }
    }
}

static bool
wants_logs(const struct writ_flight *flight)
{
    return flight->takes_stream && writ_json_get(flight->request->message->meta, LOG_LEVEL) != NULL;
}

/* A log message belongs to a request that asked for some, but does not name it: when several are
 * open no client gets it. keeps (1) */
static void
tell_only_logged(struct writ_instance *instance, struct writ_view line)
{
    struct writ_flight *only = NULL;

    for (size_t i = 0; i < WRIT_FLIGHT_BUCKETS; i++) {
        for (struct writ_flight *f = instance->buckets[i]; f != NULL; f = f->next) {
            if (wants_logs(f) && only != NULL) {
                return;
            }
            only = wants_logs(f) ? f : only;
        }
    }
    if (only != NULL) {
        (void)writ_stdio_stream_tell(instance, only, line);
    }
}

/* 2026-07-28: a message of a subscription names its request. */
static void
tell_modern(struct writ_instance *instance, const struct writ_json *message, struct writ_view line)
{
    static const struct writ_view path[] = {
        WRIT_LIT("params"), WRIT_LIT("_meta"), WRIT_LIT("io.modelcontextprotocol/subscriptionId")};
    const struct writ_json *meta = writ_json_pointer(message, WRIT_LIT("/params/_meta"));
    const struct writ_json *name = writ_json_get(meta, LISTEN_ID);
    struct writ_flight *flight = NULL;
    int64_t id;

    if (writ_is_ok(writ_json_integer(name, 1, INT64_MAX, &id))) {
        flight = flight_find(instance, (uint64_t)id);
    }
    if (flight != NULL && flight->takes_stream) {
        (void)tell(flight, message, path, 3, writ_buf_view(&flight->client_id));
    } else if (name == NULL && writ_json_is(writ_json_get(message, WRIT_LIT("method")),
                                   WRIT_LIT("notifications/message"))) {
        tell_only_logged(instance, line);
    }
}

static void
take_notice(struct writ_instance *instance, const struct writ_json *message, struct writ_view line)
{
    struct writ_view method = writ_json_string(writ_json_get(message, WRIT_LIT("method")));

    if (writ_view_is(method, "notifications/progress")) {
        take_progress(instance, message);
        return;
    }
    if (writ_view_is(method, "notifications/tools/list_changed")) {
        writ_catalog_snapshot_doubt(instance->stdio->snapshot);
    }
    switch (instance->kind) {
    case WRIT_INSTANCE_SESSION:
        (void)tell_session(instance, line,
            !is_list_changed(method) && !writ_view_is(method, "notifications/resources/updated"));
        return;
    case WRIT_INSTANCE_MODERN:
        tell_modern(instance, message, line);
        return;
    case WRIT_INSTANCE_COMMON:
        tell_common(instance, message, line);
        return;
    case WRIT_INSTANCE_SCOUT:
        return;
    }
}

/* ---- requests of the child */

/* In place of a client: code 0 is an empty result. */
static void
reply(struct writ_instance *instance, const struct writ_json *request, int code, const char *text)
{
    writ_auto_buf line = writ_buf_make(REPLY_MAX);
    struct writ_write w = writ_write_to(&line);
    uint64_t ticket;

    writ_write_object_begin(&w);
    writ_write_text(&w, "jsonrpc", WRIT_LIT("2.0"));
    writ_write_name(&w, WRIT_LIT("id"));
    writ_write_verbatim(&w, writ_json_get(request, WRIT_LIT("id")));
    if (code == 0) {
        writ_write_name(&w, WRIT_LIT("result"));
        writ_write_object_begin(&w);
        writ_write_object_end(&w);
    } else {
        writ_write_name(&w, WRIT_LIT("error"));
        writ_mcp_put_error(&w, code, text);
    }
    writ_write_object_end(&w);
    if (writ_is_ok(writ_write_end(&w, NULL))) {
        WRIT_IGNORE(writ_child_send(instance->child, writ_buf_view(&line), &ticket));
    }
}

/* Its client answers with a separate message, which stdio_send.c accepts if the id is noted
 * here. */
static void
ask_session(struct writ_instance *instance, const struct writ_json *message, struct writ_view line)
{
    writ_auto_buf id = writ_buf_make(NAME_MAX);
    struct writ_write w = writ_write_to(&id);

    writ_write_verbatim(&w, writ_json_get(message, WRIT_LIT("id")));
    if (!writ_is_ok(writ_write_end(&w, NULL)) ||
        !writ_line_list_add(&instance->asked, writ_buf_view(&id))) {
        reply(instance, message, WRIT_RPC_INTERNAL_ERROR, "too many requests wait for the client");
        return;
    }
    if (!tell_session(instance, line, true)) {
        (void)writ_line_list_take(&instance->asked, writ_buf_view(&id));
        reply(instance, message, WRIT_RPC_INTERNAL_ERROR, "the client does not listen");
    }
}

/* A child that serves several clients was told that they have no capabilities: only ping is
 * left. */
static void
take_request(struct writ_instance *instance, const struct writ_json *message, struct writ_view line)
{
    bool ping = writ_json_is(writ_json_get(message, WRIT_LIT("method")), WRIT_LIT("ping"));

    switch (instance->kind) {
    case WRIT_INSTANCE_SESSION:
        ask_session(instance, message, line);
        return;
    case WRIT_INSTANCE_MODERN: /* 2026-07-28: MUST NOT; and a client writes no responses */
        note(instance, "a request of the server, which the revision does not have");
        return;
    case WRIT_INSTANCE_COMMON:
    case WRIT_INSTANCE_SCOUT:
        reply(instance, message, ping ? 0 : WRIT_RPC_METHOD_NOT_FOUND, "Method not found");
        return;
    }
}

/* ---- lines */

static void
take_answer(struct writ_instance *instance, const struct writ_json *message, int64_t id)
{
    if (id == WRIT_STDIO_DISCOVER_ID) {
        writ_stdio_handshake_discovered(instance, message);
    } else if (id == WRIT_STDIO_INITIALIZE_ID && instance->state == WRIT_INSTANCE_INITIALIZING) {
        writ_stdio_handshake_initialized(instance, message);
    } else if (id == WRIT_STDIO_INITIALIZE_ID) {
        note(instance, "initialize was answered twice");
    } else {
        take_response(instance, message, (uint64_t)id);
    }
}

static void
take_message(struct writ_instance *instance, const struct writ_json *message, struct writ_view line)
{
    const struct writ_json *id = writ_json_get(message, WRIT_LIT("id"));
    bool answers = writ_json_get(message, WRIT_LIT("result")) != NULL ||
                   writ_json_get(message, WRIT_LIT("error")) != NULL;
    int64_t number = 0;

    if (writ_json_get(message, WRIT_LIT("method")) != NULL) {
        if (id != NULL) {
            take_request(instance, message, line);
        } else {
            take_notice(instance, message, line);
        }
    } else if (answers && writ_is_ok(writ_json_integer(id, 0, INT64_MAX, &number))) {
        take_answer(instance, message, number);
    } else {
        note(instance, "a line that is not a message");
    }
}

void
writ_stdio_recv_line(struct writ_instance *instance, struct writ_view line)
{
    struct writ_arena *scratch = writ_arena_new(64 * line.len + 65536);
    const struct writ_json *message = NULL;

    if (scratch == NULL || !writ_is_ok(writ_mcp_parse(line, scratch, &message)) ||
        writ_json_type(message) != WRIT_JSON_OBJECT) {
        note(instance, "a line that is not JSON");
    } else {
        take_message(instance, message, line);
    }
    writ_arena_free(scratch);
}
