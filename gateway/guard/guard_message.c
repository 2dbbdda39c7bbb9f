/* guard_message.c - reads a message as strictly as the gateway does. A message that it does not
 * understand is refused, and only the credential of a tools/call is checked. */
#include "gateway/guard/guard_message.h"

#include "evidence/json/jcs.h"
#include "evidence/json/write.h"
#include "gateway/mcp/mended.h"
#include "gateway/mcp/method.h"
#include "gateway/request/refusal.h"

#define CANONICAL_MAX (6 * WRIT_GUARD_BODY_MAX)

const struct writ_json_limits writ_guard_message_limits = {
    .bytes = WRIT_GUARD_BODY_MAX,
    .depth = 64,
    .values = (size_t)1 << 20,
    .name_bytes = WRIT_GUARD_BODY_MAX,
    .string_bytes = WRIT_GUARD_BODY_MAX,
    .number_bytes = WRIT_NUMBER_MAX,
};

bool
writ_guard_message_is_own(const struct writ_json *id)
{
    return writ_view_has_prefix(writ_json_string(id), WRIT_LIT(WRIT_GUARD_MESSAGE_ID));
}

static enum writ_guard_way
refuse(
    struct writ_guard_message *ret, int status, int code, enum writ_reason reason, const char *text)
{
    ret->fault = (struct writ_mcp_fault){status, code, reason, text};
    return WRIT_GUARD_REFUSE;
}

/* Over stdio only the body classifies a message, so the head is made from it. */
static WRIT_RESULT
made_headers(const struct writ_json *body, struct writ_arena *arena, struct writ_mcp_headers *ret)
{
    const struct writ_json *params = writ_json_get(body, WRIT_LIT("params"));
    struct writ_view method = writ_json_string(writ_json_get(body, WRIT_LIT("method")));
    struct writ_view name = writ_mcp_mirrored_name(method, params);
    struct writ_buf text = writ_buf_in(arena, 2 * name.len + 64);

    writ_mcp_header_encode(&text, name);
    WRIT_TRY(writ_buf_check(&text, NULL));
    *ret = (struct writ_mcp_headers){
        .version = writ_json_string(
            writ_json_get(writ_json_get(params, WRIT_LIT("_meta")), WRIT_LIT(WRIT_META_VERSION))),
        .method = method,
        .name = name.ptr != NULL ? writ_buf_view(&text) : name,
    };
    return WRIT_DONE;
}

static bool
hash_arguments(const struct writ_json *arguments, char ret[WRIT_DIGEST_TEXT])
{
    struct writ_digest digest;

    if (arguments != NULL && writ_json_type(arguments) != WRIT_JSON_OBJECT) {
        return false;
    }
    if (!writ_is_ok(arguments == NULL
                        ? writ_digest_bytes(WRIT_LIT("{}"), &digest, NULL)
                        : writ_digest_json(arguments, CANONICAL_MAX, &digest, NULL))) {
        return false;
    }
    writ_digest_text(&digest, ret);
    return true;
}

/* A credential in the head and another one in the body: it is unclear which of them counts. */
static bool
read_token(const struct writ_json *meta, struct writ_view head, struct writ_view *ret)
{
    const struct writ_json *value = writ_json_get(meta, WRIT_LIT(WRIT_GUARD_META));
    struct writ_view body = writ_json_string(value);

    *ret = head.len > 0 ? head : body;
    return value == NULL || (body.ptr != NULL && (head.len == 0 || writ_view_equal(head, body)));
}

/* A probe request, which only reads. */
static bool
is_open(const struct writ_guard *guard, struct writ_view tool, struct writ_view token)
{
    return guard->options->open_probes && guard->probes != NULL && token.len == 0 &&
           writ_guard_probes_asks(guard->probes, tool);
}

static enum writ_guard_way
read_call(const struct writ_guard *guard, struct writ_view token, struct writ_arena *arena,
    struct writ_guard_message *ret)
{
    const struct writ_mcp_message *message = &ret->call;
    const struct writ_json *arguments = writ_json_get(message->params, WRIT_LIT("arguments"));

    if (message->name.len == 0 || !writ_mcp_params_are_known(message->params)) {
        return refuse(ret, 400, WRIT_RPC_INVALID_PARAMS, WRIT_REASON_MALFORMED_REQUEST,
            "params of a tools/call have a name, and no member that the specification has not");
    }
    if (arguments != NULL && !writ_jcs_all_exact(arguments)) { /* the received bytes go on */
        return refuse(ret, 400, WRIT_RPC_INVALID_PARAMS, WRIT_REASON_NUMBER_NOT_EXACT,
            writ_reason_sentence(WRIT_REASON_NUMBER_NOT_EXACT).ptr);
    }
    if (!hash_arguments(arguments, ret->params_hash)) {
        return refuse(ret, 400, WRIT_RPC_INVALID_PARAMS, WRIT_REASON_MALFORMED_REQUEST,
            "arguments of a tools/call are an object");
    }
    if (!read_token(message->meta, token, &ret->ask.token)) {
        return refuse(ret, 403, WRIT_REFUSAL_CODE, WRIT_REASON_MALFORMED,
            "the head and the body of the request have two credentials");
    }
    ret->ask.tool = message->name;
    ret->ask.params_hash = writ_view_str(ret->params_hash);
    ret->ask.call = message;
    ret->ask.arena = arena;
    return is_open(guard, message->name, ret->ask.token) ? WRIT_GUARD_PASS : WRIT_GUARD_CALL;
}

/* The id of a message that is not JSON for halves of characters alone, or NULL. */
static const struct writ_json *
mended_id(struct writ_view text, struct writ_arena *arena)
{
    struct writ_view mended = writ_mended_text(text, arena);
    const struct writ_json *body = NULL;

    if (mended.ptr == NULL ||
        !writ_is_ok(writ_json_read(mended, &writ_guard_message_limits, arena, &body, NULL))) {
        return NULL;
    }
    return writ_mended_id(body);
}

enum writ_guard_way
writ_guard_message_read(const struct writ_guard *guard, struct writ_view text,
    const struct writ_mcp_headers *headers, struct writ_view token, struct writ_arena *arena,
    struct writ_guard_message *ret)
{
    const struct writ_json *body = NULL;
    struct writ_mcp_headers made;

    *ret = (struct writ_guard_message){0};
    if (!writ_is_ok(writ_json_read(text, &writ_guard_message_limits, arena, &body, NULL))) {
        ret->id = mended_id(text, arena);
        return refuse(ret, 400, WRIT_RPC_PARSE_ERROR, WRIT_REASON_MALFORMED_REQUEST,
            "the message is not strict JSON");
    }
    ret->id = writ_mcp_id(body);
    if (headers == NULL && !writ_is_ok(made_headers(body, arena, &made))) {
        return refuse(ret, 503, WRIT_REFUSAL_CODE, WRIT_REASON_OVERLOADED, "no memory");
    }
    if (!writ_is_ok(
            writ_mcp_classify(body, headers != NULL ? headers : &made, &ret->call, &ret->fault))) {
        return WRIT_GUARD_REFUSE;
    }
    if (writ_guard_message_is_own(ret->id)) {
        return refuse(ret, 400, WRIT_RPC_INVALID_REQUEST, WRIT_REASON_MALFORMED_REQUEST,
            "ids that begin with " WRIT_GUARD_MESSAGE_ID " are the guard's own");
    }
    switch (ret->call.kind) {
    case WRIT_MCP_RESPONSE:
        return WRIT_GUARD_PASS;
    case WRIT_MCP_REQUEST:
    case WRIT_MCP_NOTIFICATION:
        break;
    case WRIT_MCP_REFUSED:
        return refuse(
            ret, 400, WRIT_RPC_INVALID_REQUEST, WRIT_REASON_MALFORMED_REQUEST, "no message");
    }
    if (writ_mcp_is_governed(ret->call.method)) {
        return read_call(guard, token, arena, ret);
    }
    if (writ_method_find(ret->call.method) != WRIT_MCP_UNKNOWN) {
        return WRIT_GUARD_PASS;
    }
    if (ret->call.kind == WRIT_MCP_NOTIFICATION) {
        return WRIT_GUARD_DROP;
    }
    return refuse(ret, 200, WRIT_RPC_METHOD_NOT_FOUND, WRIT_REASON_MALFORMED_REQUEST,
        "the method is not known here, so it is not passed on");
}

void
writ_guard_message_put_fault(struct writ_buf *buf, const struct writ_guard_message *message)
{
    writ_refusal_put_fault(buf, message->id, message->fault.code, message->fault.reason,
        writ_view_str(message->fault.text));
}

void
writ_guard_message_put_no(struct writ_buf *buf, const struct writ_guard_message *message)
{
    writ_refusal_put_error(buf, message->id, message->ask.reason);
}
