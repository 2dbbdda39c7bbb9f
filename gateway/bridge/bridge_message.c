/* bridge_message.c - reads loosely: a message that the gateway would refuse is sent to the gateway,
 * which says what is wrong with it. Only the ids of requests are kept with care, so that each of
 * them gets one answer. */
#include "gateway/bridge/bridge_message.h"

#include "gateway/mcp/mended.h"
#include "gateway/request/refusal.h"

static const struct writ_json *
request_id(const struct writ_json *message)
{
    return writ_json_type(writ_json_get(message, WRIT_LIT("method"))) == WRIT_JSON_STRING
               ? writ_mcp_id(message)
               : NULL;
}

/* Its second answer is as good as its first one, and asking twice does nothing. */
static bool
is_safe(enum writ_mcp_method method)
{
    switch (writ_method_route(method)) {
    case WRIT_ROUTE_LOCAL:
    case WRIT_ROUTE_HANDSHAKE:
    case WRIT_ROUTE_NAMED:
    case WRIT_ROUTE_LIST:
    case WRIT_ROUTE_URI:
    case WRIT_ROUTE_ALL:
    case WRIT_ROUTE_COMPLETE:
    case WRIT_ROUTE_STREAM:
        return true;
    case WRIT_ROUTE_UNKNOWN:
    case WRIT_ROUTE_CALL:
    case WRIT_ROUTE_CANCEL:
    case WRIT_ROUTE_SINGLE:
    case WRIT_ROUTE_TASK:
        break;
    }
    return method == WRIT_MCP_TASKS_GET || method == WRIT_MCP_TASKS_RESULT ||
           method == WRIT_MCP_TASKS_LIST;
}

static void
read_batch(const struct writ_json *body, struct writ_bridge_message *ret)
{
    WRIT_JSON_EACH(message, body)
    {
        const struct writ_json *id = request_id(message);

        if (id != NULL && ret->ids_n < WRIT_BRIDGE_IDS_MAX) {
            ret->ids[ret->ids_n++] = id;
        }
    }
    ret->kind = ret->ids_n > 0 ? WRIT_MCP_REQUEST : WRIT_MCP_NOTIFICATION;
}

static void
read_object(const struct writ_json *body, struct writ_bridge_message *ret)
{
    const struct writ_json *meta;

    ret->method_name = writ_json_string(writ_json_get(body, WRIT_LIT("method")));
    ret->params = writ_json_get_typed(body, WRIT_LIT("params"), WRIT_JSON_OBJECT);
    meta = writ_json_get_typed(ret->params, WRIT_LIT("_meta"), WRIT_JSON_OBJECT);
    if (ret->method_name.ptr == NULL) {
        ret->kind = writ_mcp_id(body) != NULL ? WRIT_MCP_RESPONSE : WRIT_MCP_REFUSED;
        return;
    }
    ret->method = writ_method_find(ret->method_name);
    ret->version = writ_json_string(writ_json_get(meta, WRIT_LIT(WRIT_META_VERSION)));
    ret->modern = ret->version.ptr != NULL;
    ret->name = writ_mcp_mirrored_name(ret->method_name, ret->params);
    ret->kind = WRIT_MCP_NOTIFICATION;
    if (writ_json_get(body, WRIT_LIT("id")) != NULL) {
        ret->kind = WRIT_MCP_REQUEST;
        ret->ids[0] = writ_mcp_id(body);
        ret->ids_n = ret->ids[0] != NULL ? 1 : 0;
        ret->safe = is_safe(ret->method);
    }
}

/* What such a request is answered with must have its id. */
static void
read_mended(struct writ_view line, struct writ_arena *arena, struct writ_bridge_message *ret)
{
    struct writ_view text = writ_mended_text(line, arena);
    const struct writ_json *body = NULL;

    if (text.ptr == NULL || !writ_is_ok(writ_mcp_parse(text, arena, &body))) {
        return;
    }
    if (writ_json_type(body) != WRIT_JSON_ARRAY) {
        ret->ids[0] = writ_mended_id(body);
        ret->ids_n = ret->ids[0] != NULL ? 1 : 0;
        return;
    }
    WRIT_JSON_EACH(message, body)
    {
        const struct writ_json *id = writ_mended_id(message);

        if (id != NULL && ret->ids_n < WRIT_BRIDGE_IDS_MAX) {
            ret->ids[ret->ids_n++] = id;
        }
    }
}

WRIT_RESULT
writ_bridge_message_read(
    struct writ_view line, struct writ_arena *arena, struct writ_bridge_message *ret)
{
    writ_result result = writ_mcp_parse(line, arena, &ret->body);

    if (result.code == WRIT_E_NOMEM) {
        return result;
    }
    if (!writ_is_ok(result)) {
        ret->body = NULL;
        read_mended(line, arena, ret);
    } else if (writ_json_type(ret->body) == WRIT_JSON_ARRAY) {
        read_batch(ret->body, ret);
    } else if (writ_json_type(ret->body) == WRIT_JSON_OBJECT) {
        read_object(ret->body, ret);
    }
    return WRIT_DONE;
}

bool
writ_bridge_message_answers(const struct writ_json *answer, const struct writ_json *id)
{
    return writ_json_get(answer, WRIT_LIT("method")) == NULL && id != NULL &&
           writ_json_equal(writ_json_get(answer, WRIT_LIT("id")), id);
}

struct writ_view
writ_bridge_message_reason(const struct writ_json *answer)
{
    const struct writ_json *error = writ_json_pointer(answer, WRIT_LIT("/error/data/reason"));

    return writ_json_string(error != NULL ? error
                                          : writ_json_pointer(answer,
                                                WRIT_LIT("/result/_meta/io.writ~1refusal/reason")));
}

static struct writ_write
begin_error(struct writ_buf *buf, const struct writ_json *id, int code, struct writ_view text)
{
    struct writ_write w = writ_write_to(buf);

    writ_mcp_open(&w, id);
    writ_write_name(&w, WRIT_LIT("error"));
    writ_write_object_begin(&w);
    writ_write_integer(&w, "code", code);
    writ_write_text(&w, "message", text);
    writ_write_name(&w, WRIT_LIT("data"));
    writ_write_object_begin(&w);
    return w;
}

static void
end_error(struct writ_write *w)
{
    writ_write_object_end(w);
    writ_write_object_end(w);
    writ_write_object_end(w);
    WRIT_IGNORE(writ_write_end(w, NULL)); /* the buffer remembers */
}

void
writ_bridge_message_put_error(struct writ_buf *buf, const struct writ_json *id,
    enum writ_rpc_code code, enum writ_reason reason, struct writ_view text)
{
    struct writ_write w =
        begin_error(buf, id, code, text.len > 0 ? text : writ_reason_sentence(reason));

    writ_write_text_if(&w, "reason", writ_reason_name(reason));
    writ_write_text_if(&w, "hint", writ_reason_hint(reason));
    end_error(&w);
}

void
writ_bridge_message_put_lost(struct writ_buf *buf, const struct writ_json *id)
{
    static const enum writ_reason reason = WRIT_REASON_INTERRUPTED_EXECUTION_UNKNOWN;
    struct writ_write w = begin_error(buf, id, WRIT_REFUSAL_CODE,
        WRIT_LIT(
            "the gateway ended before it answered; the call may have run. Find out at the target "
            "what happened before you call again"));

    writ_write_text(&w, "reason", writ_reason_name(reason));
    writ_write_text_if(&w, "hint", writ_reason_hint(reason));
    writ_write_text(&w, "execution", WRIT_LIT("unknown"));
    end_error(&w);
}

void
writ_bridge_message_put_as(
    struct writ_buf *buf, const struct writ_json *id, const struct writ_json *answer)
{
    struct writ_write w = writ_write_to(buf);

    writ_mcp_open(&w, id);
    writ_write_name(&w, WRIT_LIT("error"));
    writ_write_verbatim(&w, writ_json_get(answer, WRIT_LIT("error")));
    writ_write_object_end(&w);
    WRIT_IGNORE(writ_write_end(&w, NULL)); /* the buffer remembers */
}

static void
put_instructions(struct writ_write *w, struct writ_view before, struct writ_view note)
{
    writ_auto_buf text = writ_buf_make(before.len + note.len + 2);

    writ_buf_put(&text, before);
    writ_buf_str(&text, before.len > 0 ? "\n\n" : "");
    writ_buf_put(&text, note);
    writ_write_name(w, WRIT_LIT("instructions"));
    writ_write_string(w, writ_buf_view(&text));
}

bool
writ_bridge_message_put_noted(
    struct writ_buf *buf, const struct writ_json *answer, struct writ_view note)
{
    const struct writ_json *result =
        writ_json_get_typed(answer, WRIT_LIT("result"), WRIT_JSON_OBJECT);
    struct writ_write w = writ_write_to(buf);

    if (result == NULL) {
        return false;
    }
    writ_mcp_open(&w, writ_json_get(answer, WRIT_LIT("id")));
    writ_write_name(&w, WRIT_LIT("result"));
    writ_write_object_begin(&w);
    WRIT_JSON_EACH(name, result)
    {
        if (!writ_json_is(name, WRIT_LIT("instructions"))) {
            writ_write_name(&w, writ_json_string(name));
            writ_write_verbatim(&w, writ_json_value(name));
        }
    }
    put_instructions(&w, writ_json_string(writ_json_get(result, WRIT_LIT("instructions"))), note);
    writ_write_object_end(&w);
    writ_write_object_end(&w);
    return writ_is_ok(writ_write_end(&w, NULL));
}
