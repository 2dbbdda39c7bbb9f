/* bridge_input.c - cuts standard input into lines and hands on one at a time. A line waits in
 * memory until it may be taken (3); then nothing is read, so that the pipe makes the client wait.
 */
#include "gateway/bridge/bridge_input.h"

#include "gateway/bridge/bridge_call.h"
#include "gateway/bridge/bridge_output.h"
#include "gateway/bridge/bridge_session.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#define ORDER_US 200000 /* for a notification that the server is slow to take */

/* ---- in ---- */

/* Until when the next line waits for a call, unless it ends before. */
static int64_t
holds_until_us(const struct writ_bridge_call *call)
{
    const struct writ_bridge_message *message = &call->message;

    if (call->kind != WRIT_BRIDGE_LINE ||
        (message->kind == WRIT_MCP_REQUEST && message->method != WRIT_MCP_INITIALIZE)) {
        return INT64_MIN;
    }
    if (message->kind == WRIT_MCP_NOTIFICATION && message->method != WRIT_MCP_INITIALIZED &&
        writ_json_type(message->body) != WRIT_JSON_ARRAY) {
        return call->sent_us + ORDER_US;
    }
    return INT64_MAX;
}

static void
on_order_timer(struct writ_timer *timer)
{
    writ_bridge_input_pump(timer->ctx);
}

/* keeps (3) */
static bool
may_take(struct writ_bridge *bridge)
{
    int64_t now_us = writ_loop_now_us(bridge->loop), until_us = INT64_MIN;
    const struct writ_bridge_call *call;

    if (!bridge->linked || bridge->state == WRIT_BRIDGE_REOPENING || bridge->leaving ||
        bridge->paused) {
        return false;
    }
    TAILQ_FOREACH(call, &bridge->calls, link)
    {
        int64_t each_us = holds_until_us(call);

        until_us = each_us > until_us ? each_us : until_us;
    }
    if (until_us > now_us && until_us != INT64_MAX) {
        bridge->order_timer.fn = on_order_timer;
        bridge->order_timer.ctx = bridge;
        writ_loop_timer_set(bridge->loop, &bridge->order_timer, until_us);
    }
    return until_us <= now_us;
}

/* The call that a notification cancels, or NULL. */
static struct writ_bridge_call *
find_cancelled(struct writ_bridge *bridge, const struct writ_bridge_message *message)
{
    const struct writ_json *id = writ_json_get(message->params, WRIT_LIT("requestId"));
    struct writ_bridge_call *call;

    TAILQ_FOREACH(call, &bridge->calls, link)
    {
        if (call->message.ids_n == 1 && id != NULL && writ_json_equal(call->message.ids[0], id)) {
            return call;
        }
    }
    return NULL;
}

/* 2026-07-28 has no notification for it over HTTP: the end of the stream is the cancellation. For
 * the older revisions the gateway passes the notification on. True: it is not to be sent. */
static bool
cancels_here(struct writ_bridge *bridge, const struct writ_bridge_message *message)
{
    struct writ_bridge_call *call;

    if (message->method != WRIT_MCP_CANCELLED) {
        return false;
    }
    call = find_cancelled(bridge, message);
    if (call == NULL) { /* it has ended */
        return bridge->state == WRIT_BRIDGE_NO_SESSION;
    }
    call->given_up = true;
    if (!call->message.modern) {
        return false;
    }
    call->cancelled = true;
    if (call->http != NULL) {
        writ_http_client_cancel(call->http);
    } else {
        writ_bridge_call_free(call);
    }
    return true;
}

static void
refuse_line(struct writ_bridge *bridge, const struct writ_json *id, enum writ_rpc_code code,
    enum writ_reason reason, const char *text)
{
    writ_auto_buf error = writ_buf_make(WRIT_BRIDGE_ERROR_MAX);

    writ_bridge_message_put_error(&error, id, code, reason, writ_view_str(text));
    if (writ_is_ok(writ_buf_check(&error, NULL))) {
        writ_bridge_output_put(bridge, writ_buf_view(&error));
    }
}

/* keeps (1) */
static void
refuse_call(struct writ_bridge_call *call)
{
    const struct writ_bridge_message *message = &call->message;

    if (message->body != NULL) {
        refuse_line(call->bridge, NULL, WRIT_RPC_INVALID_REQUEST, WRIT_REASON_MALFORMED_REQUEST,
            "not a JSON-RPC message");
    } else if (message->ids_n == 0) {
        refuse_line(call->bridge, NULL, WRIT_RPC_PARSE_ERROR, WRIT_REASON_MALFORMED_REQUEST,
            "not strict JSON");
    }
    for (size_t i = 0; i < message->ids_n; i++) {
        refuse_line(call->bridge, message->ids[i], WRIT_RPC_PARSE_ERROR,
            WRIT_REASON_MALFORMED_REQUEST,
            "not strict JSON: an escape in a string is half of a character");
    }
    writ_bridge_call_free(call);
}

static void
take_line(struct writ_bridge *bridge, struct writ_view line)
{
    struct writ_bridge_call *call = writ_bridge_call_new(bridge, WRIT_BRIDGE_LINE, line);

    if (call == NULL) {
        writ_bridge_output_give_up(bridge); /* a line that is lost would be waited for */
        return;
    }
    if (call->message.kind == WRIT_MCP_REFUSED) {
        refuse_call(call);
        return;
    }
    if (cancels_here(bridge, &call->message)) {
        writ_bridge_call_free(call);
        return;
    }
    if (call->message.method == WRIT_MCP_INITIALIZE && !call->message.modern) {
        writ_buf_clear(&bridge->opening);
        writ_buf_put(&bridge->opening, line);
        writ_buf_clear(&bridge->session);
        writ_buf_clear(&bridge->version);
        bridge->state = WRIT_BRIDGE_NO_SESSION;
    }
    writ_bridge_call_send(call);
}

/* Takes one line out of what was read. False: there is none yet. */
static bool
next_line(struct writ_bridge *bridge)
{
    struct writ_view all = writ_buf_view(&bridge->pending), line;
    size_t end = bridge->partial < all.len ? writ_view_find(all, '\n') : all.len;

    if (end == all.len && (!bridge->ended || all.len == 0)) {
        return false;
    }
    line = writ_view_sub(all, 0, end);
    if (writ_view_trim(writ_view_sub(line, 0, writ_view_find(line, '\r'))).len > 0) {
        take_line(bridge, line);
    }
    writ_buf_consume(&bridge->pending, end < all.len ? end + 1 : end);
    return true;
}

/* A line that is longer than the gateway could take is dropped as it comes; no other line is. */
static void
add_bytes(struct writ_bridge *bridge, struct writ_view bytes)
{
    while (bytes.len > 0) {
        struct writ_view piece = writ_view_sub(bytes, 0, writ_view_find(bytes, '\n') + 1);
        bool ends = piece.ptr[piece.len - 1] == '\n';

        if (!bridge->too_long && bridge->partial + piece.len > WRIT_BRIDGE_LINE_MAX) {
            bridge->too_long = true;
            writ_buf_cut(&bridge->pending, bridge->pending.len - bridge->partial);
            refuse_line(bridge, NULL, WRIT_RPC_INVALID_REQUEST, WRIT_REASON_REQUEST_TOO_LARGE,
                "the line is too long");
        }
        if (!bridge->too_long) {
            writ_buf_put(&bridge->pending, piece);
        }
        bridge->partial = ends || bridge->too_long ? 0 : bridge->partial + piece.len;
        bridge->too_long = bridge->too_long && !ends;
        bytes = writ_view_sub(bytes, piece.len, bytes.len);
    }
    if (!writ_is_ok(writ_buf_check(&bridge->pending, NULL))) {
        writ_bridge_output_give_up(bridge); /* a line that is lost would be waited for */
    }
}

static void
read_input(struct writ_bridge *bridge)
{
    static char bytes[WRIT_BRIDGE_READ_BYTES];
    ssize_t n = read(STDIN_FILENO, bytes, sizeof bytes);

    if (n < 0 && (errno == EINTR || errno == EAGAIN)) {
        return;
    }
    if (n > 0) {
        add_bytes(bridge, writ_view(bytes, (size_t)n));
    } else {
        bridge->ended = true;
    }
}

static void
on_input(struct writ_watch *watch, uint32_t events)
{
    struct writ_bridge *bridge = watch->ctx;

    (void)events;
    read_input(bridge);
    writ_bridge_input_pump(bridge);
}

static void
on_reading(struct writ_task *task)
{
    struct writ_bridge *bridge = task->ctx;

    read_input(bridge);
    writ_bridge_input_pump(bridge);
}

/* A file cannot be watched, and is always ready. */
static void
want_input(struct writ_bridge *bridge)
{
    if (!bridge->input.active && !writ_is_ok(writ_loop_watch(bridge->loop, &bridge->input,
                                     STDIN_FILENO, EPOLLIN, on_input, bridge, NULL))) {
        bridge->reading.fn = on_reading; /* it may be deferred already */
        bridge->reading.ctx = bridge;
        writ_loop_defer(bridge->loop, &bridge->reading, WRIT_LOOP_LAST);
    }
}

static bool
has_lines(const struct writ_bridge *bridge)
{
    const struct writ_bridge_call *call;

    TAILQ_FOREACH(call, &bridge->calls, link)
    {
        bool waited_for = call->message.method != WRIT_MCP_LISTEN && !call->given_up;

        if ((call->kind == WRIT_BRIDGE_LINE || call->kind == WRIT_BRIDGE_RESUMED) && waited_for) {
            return true;
        }
    }
    return false;
}

void
writ_bridge_input_pump(struct writ_bridge *bridge)
{
    bool more = true;

    if (atomic_load(&bridge->over)) {
        return;
    }
    while (more && may_take(bridge)) {
        more = next_line(bridge);
    }
    if (more) {
        writ_loop_unwatch(&bridge->input);
    } else if (!bridge->ended) {
        want_input(bridge);
    } else {
        writ_loop_unwatch(&bridge->input);
        if (!has_lines(bridge) && writ_line_output_waits(&bridge->output) == 0) {
            writ_bridge_session_leave(bridge);
        }
    }
}
