/* bridge_end.c - what becomes of a call that has ended: its answer is passed on, or it is sent
 * again where that is safe, or its client learns that it may have run. keeps (1) and (2) */
#include "gateway/bridge/bridge_end.h"

#include "gateway/bridge/bridge_call.h"
#include "gateway/bridge/bridge_input.h"
#include "gateway/bridge/bridge_output.h"
#include "gateway/bridge/bridge_session.h"

#define ARENA_MAX   ((size_t)512 << 20)
#define TEXT_MAX    ((size_t)256 << 20)
#define TRIES_MAX   4
#define STATUS_GOOD 200

/* ---- of a line ---- */

/* The connection broke after a byte was sent. keeps (2) */
static void
line_broken(struct writ_bridge_call *call)
{
    const struct writ_bridge_message *message = &call->message;
    bool owed = message->kind == WRIT_MCP_REQUEST && !writ_bridge_call_is_answered(call);

    if (!owed && message->kind != WRIT_MCP_NOTIFICATION) {
        writ_bridge_call_free(call); /* answered, or an answer to a server that has ended */
    } else if (call->tries >= TRIES_MAX) {
        writ_bridge_call_lose(call);
    } else if (!owed || message->safe) {
        writ_bridge_call_again(call);
        writ_bridge_call_unlink(call->bridge);
    } else if (!message->modern && call->last_id.len > 0) {
        writ_bridge_call_again(call);
        call->kind = WRIT_BRIDGE_RESUMED;
        writ_bridge_call_unlink(call->bridge);
    } else {
        struct writ_bridge *bridge = call->bridge;

        writ_bridge_call_lose(call); /* and frees it */
        writ_bridge_call_unlink(bridge);
    }
}

static bool
is_noted(const struct writ_bridge_call *call)
{
    return call->bridge->options->note.len > 0 && (call->message.method == WRIT_MCP_INITIALIZE ||
                                                      call->message.method == WRIT_MCP_DISCOVER);
}

/* An answer that is not a stream, to a request. */
static void
put_answer(struct writ_bridge_call *call, const struct writ_json *answer)
{
    const struct writ_json *id = call->message.ids_n == 1 ? call->message.ids[0] : NULL;
    writ_auto_buf text = writ_buf_make(TEXT_MAX);

    if (answer == NULL) {
        writ_buf_fmt(&text, "the gateway answered with status %u", call->status);
        writ_bridge_call_refuse(call, WRIT_REASON_INTERNAL_ERROR, writ_buf_view(&text));
        return;
    }
    if (is_noted(call) &&
        writ_bridge_message_put_noted(&text, answer, call->bridge->options->note)) {
        writ_bridge_output_put(call->bridge, writ_buf_view(&text));
    } else if (id == NULL ||
               writ_bridge_message_answers(answer, id)) { /* a batch has its own answers */
        writ_bridge_output_put(call->bridge, writ_buf_view(&call->body));
    } else if (writ_json_get(answer, WRIT_LIT("error")) != NULL) {
        writ_bridge_message_put_as(&text, id, answer);
        writ_bridge_output_put(call->bridge, writ_buf_view(&text));
    } else {
        writ_bridge_call_refuse(
            call, WRIT_REASON_INTERNAL_ERROR, WRIT_LIT("the gateway answered another request"));
        return;
    }
    writ_bridge_call_free(call);
}

/* Only requests have an answer on standard output: a refusal of another message goes to people. */
static void
end_notification(struct writ_bridge_call *call, const struct writ_json *answer)
{
    struct writ_bridge *bridge = call->bridge;
    bool good = call->status >= STATUS_GOOD && call->status < STATUS_GOOD + 100;
    bool opened = good && call->message.method == WRIT_MCP_INITIALIZED;
    struct writ_view reason = writ_bridge_message_reason(answer);

    if (!good) {
        writ_bridge_output_say(
            "the gateway refused a message of the client: status %u " WRIT_VIEW_FMT, call->status,
            WRIT_VIEW_ARG(reason));
    }
    writ_bridge_call_free(call);
    if (opened) {
        writ_bridge_session_listen(bridge);
    }
}

static void
line_ended(struct writ_bridge_call *call)
{
    writ_auto_arena arena = writ_arena_new(ARENA_MAX);
    const struct writ_json *answer = NULL;

    if (call->is_stream && call->body.len == 0) {
        if (writ_bridge_call_is_answered(call)) {
            writ_bridge_call_free(call);
        } else {
            line_broken(call);
        }
        return;
    }
    if (arena == NULL || !writ_is_ok(writ_buf_check(&call->body, NULL)) ||
        !writ_is_ok(writ_mcp_parse(writ_buf_view(&call->body), arena, &answer))) {
        answer = NULL;
    }
    if (call->refused == WRIT_REASON_SHUTTING_DOWN && call->tries < TRIES_MAX) {
        writ_bridge_call_again(call); /* keeps (2) */
        writ_bridge_call_unlink(call->bridge);
    } else if (call->refused == WRIT_REASON_SESSION_UNKNOWN && call->status == 404 &&
               !call->message.modern && call->tries < TRIES_MAX) {
        writ_bridge_call_again(call); /* keeps (2) */
        writ_bridge_session_reopen(call);
    } else if (call->message.kind != WRIT_MCP_REQUEST) {
        end_notification(call, answer);
    } else {
        if (call->message.method == WRIT_MCP_INITIALIZE && !call->message.modern) {
            writ_bridge_session_answered(call);
        }
        put_answer(call, answer);
    }
}

/* ---- of any call ---- */

static void
answered_whole(struct writ_bridge_call *call)
{
    switch (call->kind) {
    case WRIT_BRIDGE_LINE:
        line_ended(call);
        break;
    case WRIT_BRIDGE_RESUMED:
        if (writ_bridge_call_is_answered(call)) {
            writ_bridge_call_free(call);
        } else {
            writ_bridge_call_lose(call);
        }
        break;
    case WRIT_BRIDGE_STREAM:
        writ_bridge_session_unheard(call);
        break;
    case WRIT_BRIDGE_REOPEN:
    case WRIT_BRIDGE_REOPENED:
    case WRIT_BRIDGE_LEAVE:
        writ_bridge_session_answered(call);
        break;
    }
}

static void
broken(struct writ_bridge_call *call)
{
    switch (call->kind) {
    case WRIT_BRIDGE_LINE:
        line_broken(call);
        break;
    case WRIT_BRIDGE_RESUMED:
        writ_bridge_call_lose(call);
        break;
    case WRIT_BRIDGE_STREAM:
        writ_bridge_call_unlink(call->bridge);
        writ_bridge_session_unheard(call);
        break;
    case WRIT_BRIDGE_REOPEN:
    case WRIT_BRIDGE_REOPENED:
        writ_bridge_call_again(call);
        writ_bridge_call_unlink(call->bridge);
        break;
    case WRIT_BRIDGE_LEAVE:
        writ_bridge_session_answered(call);
        break;
    }
}

static void
not_sent(struct writ_bridge_call *call)
{
    if (call->kind == WRIT_BRIDGE_LEAVE) { /* the session ends by itself */
        writ_bridge_session_answered(call);
        return;
    }
    writ_bridge_call_again(call);
    writ_bridge_call_unlink(call->bridge);
}

void
writ_bridge_end_take(struct writ_bridge_call *call, const struct writ_http_end *end)
{
    struct writ_bridge *bridge = call->bridge;

    if (call->cancelled || atomic_load(&bridge->over)) {
        writ_bridge_call_free(call);
    } else if (end->reason == WRIT_HTTP_OK) {
        answered_whole(call);
    } else if (end->sent == WRIT_HTTP_NOT_SENT) {
        not_sent(call);
    } else {
        broken(call);
    }
    writ_bridge_input_pump(bridge);
}
