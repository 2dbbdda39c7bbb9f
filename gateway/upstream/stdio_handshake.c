/* stdio_handshake.c - the scout sends server/discover first and then initialize, to learn the
 * protocol families of the server. A child takes no request before its handshake has ended, and a
 * timer ends a handshake that is not answered. */
#include "gateway/upstream/stdio_handshake.h"

#include "gateway/state/catalog_snapshot.h"
#include "gateway/upstream/instance.h"
#include "gateway/upstream/stdio_route.h"

#include "evidence/json/write.h"

#define DISCOVER_US 2000000 /* for the answer to server/discover; then initialize is sent */

static void
handshake_times_out(struct writ_timer *timer)
{
    writ_instance_reject(timer->ctx, "initialize was not answered in time");
}

static void
arm_handshake(struct writ_instance *instance, writ_timer_fn *fn, int64_t in_us)
{
    struct writ_loop *loop = instance->stdio->loop;

    writ_loop_timer_cancel(&instance->handshake);
    instance->handshake = (struct writ_timer){.fn = fn, .ctx = instance};
    writ_loop_timer_set(loop, &instance->handshake, writ_loop_now_us(loop) + in_us);
}

/* A child that takes no input answers nothing: the timer ends it. */
static void
say(struct writ_instance *instance, struct writ_view line)
{
    uint64_t ticket;

    WRIT_IGNORE(writ_child_send(instance->child, line, &ticket));
}

static void
send_initialize(struct writ_instance *instance)
{
    writ_auto_buf line = writ_buf_make(instance->hello.len + 512);

    instance->state = WRIT_INSTANCE_INITIALIZING;
    arm_handshake(instance, handshake_times_out, instance->stdio->config->start_timeout_us);
    writ_buf_str(&line, "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":");
    if (instance->hello.len > 0) {
        writ_buf_put(&line, writ_buf_view(&instance->hello));
    } else {
        writ_buf_str(&line,
            "{\"protocolVersion\":\"" WRIT_MCP_LATEST_LEGACY "\",\"capabilities\":{},"
            "\"clientInfo\":{\"name\":\"writ\",\"version\":\"" WRIT_VERSION "\"}}");
    }
    writ_buf_byte(&line, '}');
    say(instance, writ_buf_view(&line));
}

static void
discover_times_out(struct writ_timer *timer)
{
    send_initialize(timer->ctx);
}

void
writ_stdio_handshake_begin(struct writ_instance *instance)
{
    switch (instance->kind) {
    case WRIT_INSTANCE_MODERN:
        writ_catalog_snapshot_doubt(instance->stdio->snapshot);
        writ_instance_came_up(instance); /* every request has everything that the server needs */
        return;
    case WRIT_INSTANCE_SESSION:
    case WRIT_INSTANCE_COMMON:
        send_initialize(instance);
        return;
    case WRIT_INSTANCE_SCOUT:
        break;
    }
    instance->state = WRIT_INSTANCE_DISCOVERING;
    arm_handshake(instance, discover_times_out, DISCOVER_US);
    say(instance,
        WRIT_LIT("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"server/discover\",\"params\":{"
                 "\"_meta\":{\"" WRIT_META_VERSION "\":\"" WRIT_MCP_MODERN "\","
                 "\"" WRIT_META_CAPABILITIES "\":{},\"io.modelcontextprotocol/clientInfo\":{"
                 "\"name\":\"writ\",\"version\":\"" WRIT_VERSION "\"}}}}"));
}

static void
keep_versions(struct writ_stdio *stdio, const struct writ_json *versions)
{
    struct writ_write w = writ_write_to(&stdio->versions);

    writ_buf_clear(&stdio->versions);
    if (writ_json_type(versions) == WRIT_JSON_ARRAY) {
        writ_write_verbatim(&w, versions);
        if (!writ_is_ok(writ_write_end(&w, NULL))) {
            writ_buf_clear(&stdio->versions);
        }
    }
}

/* A result, or an error that only such a server gives, means yes (2026-07-28, basic/transports/
 * stdio); also an answer that comes late. */
void
writ_stdio_handshake_discovered(struct writ_instance *instance, const struct writ_json *message)
{
    int64_t code = 0;
    bool yes = writ_json_type(writ_json_get(message, WRIT_LIT("result"))) == WRIT_JSON_OBJECT ||
               (writ_is_ok(writ_json_integer(writ_json_pointer(message, WRIT_LIT("/error/code")),
                    INT64_MIN, INT64_MAX, &code)) &&
                   code == WRIT_RPC_UNSUPPORTED_VERSION);

    instance->stdio->modern = yes ? WRIT_STDIO_YES : WRIT_STDIO_NO;
    keep_versions(
        instance->stdio, writ_json_pointer(message, WRIT_LIT("/result/supportedVersions")));
    if (instance->state == WRIT_INSTANCE_DISCOVERING) {
        send_initialize(instance);
    }
}

/* The scout is done, and its child is a spare one. */
static void
settle(struct writ_instance *scout, enum writ_instance_kind kind)
{
    scout->kind = kind;
    if (scout->stdio->modern == WRIT_STDIO_UNKNOWN) { /* it did not answer the request before */
        scout->stdio->modern = WRIT_STDIO_NO;
    }
    writ_instance_came_up(scout);
    writ_stdio_route_learnt(scout->stdio);
}

static void
take_refusal(struct writ_instance *instance, const struct writ_json *error)
{
    struct writ_stdio *stdio = instance->stdio;
    struct writ_write w;

    if (instance->kind == WRIT_INSTANCE_SESSION && error != NULL && !instance->was_up &&
        !instance->lost) {
        writ_instance_refused(instance, error);
        return;
    }
    if (instance->kind != WRIT_INSTANCE_SCOUT || stdio->modern != WRIT_STDIO_YES || error == NULL) {
        writ_instance_reject(instance, "initialize was not answered with a result");
        return;
    }
    stdio->legacy = WRIT_STDIO_NO;
    writ_buf_clear(&stdio->no_legacy);
    w = writ_write_to(&stdio->no_legacy);
    writ_write_verbatim(&w, error);
    if (writ_is_ok(writ_write_end(&w, NULL))) {
        settle(instance, WRIT_INSTANCE_MODERN);
    } else {
        writ_instance_reject(instance, "the refusal of initialize is too long");
    }
}

void
writ_stdio_handshake_initialized(struct writ_instance *instance, const struct writ_json *message)
{
    const struct writ_json *result = writ_json_get(message, WRIT_LIT("result"));
    struct writ_write w;

    if (writ_json_type(result) != WRIT_JSON_OBJECT) {
        take_refusal(instance, writ_json_get(message, WRIT_LIT("error")));
        return;
    }
    writ_buf_clear(&instance->initialized);
    w = writ_write_to(&instance->initialized);
    writ_write_verbatim(&w, result);
    if (!writ_is_ok(writ_write_end(&w, NULL))) {
        writ_instance_reject(instance, "the answer to initialize is too long");
        return;
    }
    instance->primes =
        writ_view_compare(writ_json_string(writ_json_get(result, WRIT_LIT("protocolVersion"))),
            WRIT_LIT(WRIT_MCP_LATEST_LEGACY)) >= 0;
    writ_catalog_snapshot_doubt(
        instance->stdio->snapshot); /* another process, perhaps of another version */
    if (instance->kind != WRIT_INSTANCE_SESSION || instance->sends_initialized) {
        say(instance, WRIT_LIT("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}"));
    }
    if (instance->kind == WRIT_INSTANCE_SCOUT) {
        instance->stdio->legacy = WRIT_STDIO_YES;
        settle(instance, WRIT_INSTANCE_COMMON);
    } else {
        writ_instance_came_up(instance);
    }
}
