/* mcp.c - classifies a message by its body; headers may only confirm it. Names are compared byte by
 * byte, and a member that the specification does not define is refused. */
#include "gateway/mcp/mcp.h"

#include "evidence/json/jcs.h"
#include "gateway/mcp/method.h"

#define ID_INTEGER_MAX ((int64_t)9007199254740991) /* 2^53 - 1 */

#define SERVER_VALUES_MAX (1u << 20) /* of one message: bounds the memory that it costs */

/* The envelope is a closed set, compared exactly: a parser upstream that folds case must find no
 * member that was not judged. */
static const char *const envelope[] = {
    "jsonrpc", "id", "method", "params", "result", "error", NULL};

static writ_result
refuse(
    struct writ_mcp_fault *fault, int status, int code, enum writ_reason reason, const char *text)
{
    *fault =
        (struct writ_mcp_fault){.status = status, .code = code, .reason = reason, .text = text};
    return (writ_result){WRIT_E_INVALID};
}

static writ_result
malformed(struct writ_mcp_fault *fault, const char *text)
{
    return refuse(fault, 400, WRIT_RPC_INVALID_REQUEST, WRIT_REASON_MALFORMED_REQUEST, text);
}

static writ_result
mismatch(struct writ_mcp_fault *fault, const char *text)
{
    return refuse(fault, 400, WRIT_RPC_HEADER_MISMATCH, WRIT_REASON_HEADER_MISMATCH, text);
}

bool
writ_mcp_is_unambiguous(const struct writ_json *body)
{
    WRIT_JSON_EACH(name, body)
    {
        for (size_t i = 0; envelope[i] != NULL; i++) {
            if (writ_view_equal_nocase(writ_json_string(name), writ_view_str(envelope[i])) &&
                !writ_view_is(writ_json_string(name), envelope[i])) {
                return false;
            }
        }
    }
    return true;
}

static bool
id_is_good(const struct writ_json *id, size_t max)
{
    int64_t number;

    switch (writ_json_type(id)) {
    case WRIT_JSON_STRING:
        return writ_json_string(id).len <= max;
    case WRIT_JSON_NUMBER:
        return writ_is_ok(writ_json_integer(id, -ID_INTEGER_MAX, ID_INTEGER_MAX, &number));
    case WRIT_JSON_NONE:
    case WRIT_JSON_NULL:
    case WRIT_JSON_FALSE:
    case WRIT_JSON_TRUE:
    case WRIT_JSON_ARRAY:
    case WRIT_JSON_OBJECT:
        return false;
    }
    return false;
}

static size_t
most_of(const struct writ_json *body)
{
    return writ_json_get(body, WRIT_LIT("method")) == NULL ? WRIT_MCP_ANSWER_ID_MAX
                                                           : WRIT_MCP_ID_MAX;
}

const struct writ_json *
writ_mcp_id(const struct writ_json *body)
{
    const struct writ_json *id = writ_json_get(body, WRIT_LIT("id"));

    return id_is_good(id, most_of(body)) ? id : NULL;
}

/* Whether it is a request, a notification or a response: each has its own members and no others. */
static writ_result
kind_of(
    const struct writ_json *body, struct writ_mcp_message *message, struct writ_mcp_fault *fault)
{
    const struct writ_json *method = writ_json_get(body, WRIT_LIT("method"));
    const struct writ_json *id = writ_json_get(body, WRIT_LIT("id"));
    bool result = writ_json_get(body, WRIT_LIT("result")) != NULL;
    bool error = writ_json_get(body, WRIT_LIT("error")) != NULL;
    bool params = writ_json_get(body, WRIT_LIT("params")) != NULL;

    if (!writ_json_is(writ_json_get(body, WRIT_LIT("jsonrpc")), WRIT_LIT("2.0"))) {
        return malformed(fault, "jsonrpc must be \"2.0\"");
    }
    if (!writ_json_has_only(body, envelope)) {
        return malformed(fault, "the message has a member that JSON-RPC does not know");
    }
    if (id != NULL && !id_is_good(id, most_of(body))) {
        return malformed(fault,
            "id must be a string of at most 256 bytes (4096 in an answer) or an integer within "
            "2^53");
    }
    if (method == NULL) {
        if (id == NULL || result == error || params) {
            return malformed(fault, "not a JSON-RPC request, notification or response");
        }
        message->kind = WRIT_MCP_RESPONSE;
        message->id = id;
        return WRIT_DONE;
    }
    if (writ_json_type(method) != WRIT_JSON_STRING || result || error) {
        return malformed(fault, "method must be a string, without result or error beside it");
    }
    message->kind = id != NULL ? WRIT_MCP_REQUEST : WRIT_MCP_NOTIFICATION;
    message->id = id;
    message->method = writ_json_string(method);
    return WRIT_DONE;
}

struct writ_view
writ_mcp_mirrored_name(struct writ_view method, const struct writ_json *params)
{
    if (writ_view_is(method, "tools/call") || writ_view_is(method, "prompts/get")) {
        return writ_json_string(writ_json_get(params, WRIT_LIT("name")));
    }
    if (writ_view_is(method, "resources/read")) {
        return writ_json_string(writ_json_get(params, WRIT_LIT("uri")));
    }
    if (writ_view_is(method, "tasks/get") || writ_view_is(method, "tasks/update") ||
        writ_view_is(method, "tasks/cancel")) {
        return writ_json_string(writ_json_get(params, WRIT_LIT("taskId")));
    }
    return (struct writ_view){NULL, 0};
}

/* An extension may have the header or not: if present, it must repeat the body. */
static struct writ_view
extension_name(struct writ_view method, const struct writ_json *params)
{
    struct writ_view name = writ_json_string(writ_json_get(params, WRIT_LIT("name")));

    if (writ_method_find(method) != WRIT_MCP_UNKNOWN) {
        return (struct writ_view){NULL, 0};
    }
    return name.ptr != NULL ? name : writ_json_string(writ_json_get(params, WRIT_LIT("uri")));
}

static bool
header_equals(struct writ_view header, struct writ_view text)
{
    writ_auto_buf decoded = writ_buf_make(header.len + 1);

    return writ_is_ok(writ_mcp_header_decode(header, &decoded)) &&
           writ_view_equal(writ_buf_view(&decoded), text);
}

/* A header that names something must name the same as the body, in every era: policies elsewhere
 * may read only the header. */
static writ_result
check_mirrors(const struct writ_mcp_headers *headers, const struct writ_mcp_message *message,
    struct writ_mcp_fault *fault)
{
    bool modern = message->era == WRIT_MCP_ERA_MODERN && message->kind == WRIT_MCP_REQUEST;

    if (headers->method.ptr != NULL && !writ_view_equal(headers->method, message->method)) {
        return mismatch(fault, "Mcp-Method does not name the method of the body");
    }
    if (headers->name.ptr != NULL && !header_equals(headers->name, message->name)) {
        return mismatch(fault, "Mcp-Name does not name what the body names");
    }
    if (modern && headers->method.ptr == NULL) {
        return mismatch(fault, "Mcp-Method is required");
    }
    if (modern && message->name.ptr != NULL && headers->name.ptr == NULL) {
        return mismatch(fault, "Mcp-Name is required");
    }
    return WRIT_DONE;
}

/* The body decides the era; the header only cross-checks it (mcp.h). */
static writ_result
era_of(const struct writ_mcp_headers *headers, struct writ_mcp_message *message,
    struct writ_mcp_fault *fault)
{
    const struct writ_json *claim = writ_json_get(message->meta, WRIT_LIT(WRIT_META_VERSION));
    bool header_modern = writ_view_compare(headers->version, WRIT_LIT(WRIT_MCP_MODERN)) >= 0;

    if (claim != NULL) {
        if (writ_json_type(claim) != WRIT_JSON_STRING) {
            return refuse(fault, 400, WRIT_RPC_INVALID_PARAMS, WRIT_REASON_MALFORMED_REQUEST,
                "_meta protocolVersion must be a string");
        }
        message->era = WRIT_MCP_ERA_MODERN;
        if (headers->version.ptr == NULL ||
            !writ_view_equal(headers->version, writ_json_string(claim))) {
            return mismatch(fault, "MCP-Protocol-Version is not the version of the body");
        }
        return WRIT_DONE;
    }
    if (message->kind == WRIT_MCP_REQUEST && header_modern &&
        !writ_view_is(message->method, "initialize")) {
        return refuse(fault, 400, WRIT_RPC_INVALID_PARAMS, WRIT_REASON_MALFORMED_REQUEST,
            "_meta protocolVersion is required by the revision that the header names");
    }
    message->era = message->kind == WRIT_MCP_NOTIFICATION && header_modern ? WRIT_MCP_ERA_MODERN
                                                                           : WRIT_MCP_LEGACY;
    return WRIT_DONE;
}

writ_result
writ_mcp_classify(const struct writ_json *body, const struct writ_mcp_headers *headers,
    struct writ_mcp_message *ret, struct writ_mcp_fault *fault)
{
    struct writ_mcp_message message = {.body = body};
    const struct writ_json *params;

    if (writ_json_type(body) == WRIT_JSON_ARRAY) {
        return refuse(fault, 400, WRIT_RPC_INVALID_REQUEST, WRIT_REASON_BATCH_REFUSED,
            "a batch is refused: send each message alone");
    }
    if (writ_json_type(body) != WRIT_JSON_OBJECT) {
        return malformed(fault, "the message must be a JSON object");
    }
    WRIT_TRY(kind_of(body, &message, fault));

    params = writ_json_get(body, WRIT_LIT("params"));
    if (params != NULL && writ_json_type(params) != WRIT_JSON_OBJECT) {
        return malformed(fault, "params must be an object");
    }
    message.params = params;
    message.meta = writ_json_get(params, WRIT_LIT("_meta"));
    if (message.meta != NULL && writ_json_type(message.meta) != WRIT_JSON_OBJECT) {
        return malformed(fault, "params._meta must be an object");
    }
    message.name = writ_mcp_mirrored_name(message.method, params);
    if (headers->name.ptr != NULL && message.name.ptr == NULL) {
        message.name = extension_name(message.method, params);
    }
    WRIT_TRY(era_of(headers, &message, fault));
    WRIT_TRY(check_mirrors(headers, &message, fault));

    if (message.kind == WRIT_MCP_NOTIFICATION && writ_mcp_is_governed(message.method)) {
        return refuse(fault, 400, WRIT_RPC_INVALID_REQUEST, WRIT_REASON_REQUEST_WITHOUT_ID,
            "a tools/call needs an id: without one it could not be answered");
    }
    *ret = message;
    return WRIT_DONE;
}

bool
writ_mcp_is_legacy_version(struct writ_view version)
{
    static const char *const known[] = {
        "2024-11-05", "2025-03-26", "2025-06-18", WRIT_MCP_LATEST_LEGACY};

    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (writ_view_is(version, known[i])) {
            return true;
        }
    }
    return false;
}

bool
writ_mcp_elicits_url(const struct writ_json *capabilities)
{
    const struct writ_json *elicitation = writ_json_get(capabilities, WRIT_LIT("elicitation"));

    return writ_json_get_typed(elicitation, WRIT_LIT("url"), WRIT_JSON_OBJECT) != NULL;
}

bool
writ_mcp_is_governed(struct writ_view method)
{
    return writ_view_is(method, "tools/call");
}

/* The members of a tools/call in the specification, compared exactly. Any other would go upstream
 * without having been judged, and a parser there may take a look-alike for one of these.
 * It is refused, not dropped, so that the caller learns that it has no effect. */
bool
writ_mcp_params_are_known(const struct writ_json *params)
{
    static const char *const known[] = {
        "name", "arguments", "_meta", "task", "inputResponses", "requestState", NULL};

    return writ_json_has_only(params, known);
}

static const struct writ_view base64_open = WRIT_LIT("=?base64?");
static const struct writ_view base64_close = WRIT_LIT("?=");

writ_result
writ_mcp_header_decode(struct writ_view value, struct writ_buf *ret)
{
    struct writ_view text = writ_view_trim(value);

    if (writ_view_has_prefix(text, base64_open) && writ_view_has_suffix(text, base64_close) &&
        text.len >= base64_open.len + base64_close.len) {
        return writ_base64_read(
            writ_view_sub(text, base64_open.len, text.len - base64_open.len - base64_close.len),
            ret);
    }
    writ_buf_put(ret, text);
    return writ_buf_check(ret, NULL);
}

static bool
is_safe_header(struct writ_view value)
{
    if (value.len != writ_view_trim(value).len || writ_view_has_prefix(value, base64_open)) {
        return false;
    }
    for (size_t i = 0; i < value.len; i++) {
        if ((unsigned char)value.ptr[i] < 0x20 || (unsigned char)value.ptr[i] > 0x7e) {
            return false;
        }
    }
    return true;
}

void
writ_mcp_header_encode(struct writ_buf *buf, struct writ_view value)
{
    if (is_safe_header(value)) {
        writ_buf_put(buf, value);
        return;
    }
    writ_buf_put(buf, base64_open);
    writ_base64_put(buf, value);
    writ_buf_put(buf, base64_close);
}

struct writ_json_limits
writ_mcp_limits(struct writ_view text)
{
    struct writ_json_limits limits = writ_json_limits_default;

    limits.bytes = limits.string_bytes = text.len;
    limits.values = SERVER_VALUES_MAX;
    return limits;
}

writ_result
writ_mcp_parse(struct writ_view text, struct writ_arena *arena, const struct writ_json **ret)
{
    const struct writ_json_limits limits = writ_mcp_limits(text);

    return writ_json_read(text, &limits, arena, ret, NULL);
}

void
writ_mcp_open(struct writ_write *w, const struct writ_json *id)
{
    writ_write_object_begin(w);
    writ_write_text(w, "jsonrpc", WRIT_LIT("2.0"));
    writ_write_name(w, WRIT_LIT("id"));
    if (id != NULL) {
        writ_write_value(w, id);
    } else {
        writ_write_null(w);
    }
}

void
writ_mcp_put_error(struct writ_write *w, enum writ_rpc_code code, const char *message)
{
    writ_write_object_begin(w);
    writ_write_integer(w, "code", code);
    writ_write_text(w, "message", writ_view_str(message));
    writ_write_object_end(w);
}

static void
put_own_meta(struct writ_write *w, const struct writ_mcp_message *asked)
{
    if (asked->era != WRIT_MCP_ERA_MODERN) {
        return;
    }
    writ_write_name(w, WRIT_LIT("_meta"));
    writ_write_object_begin(w);
    WRIT_JSON_EACH(name, asked->meta)
    {
        struct writ_view key = writ_json_string(name);
        if (writ_view_has_prefix(key, WRIT_LIT("io.modelcontextprotocol/"))) {
            writ_write_name(w, key);
            writ_write_value(w, writ_json_value(name));
        }
    }
    writ_write_object_end(w);
}

void
writ_mcp_open_own(struct writ_write *w, struct writ_view id, struct writ_view method,
    const struct writ_mcp_message *asked)
{
    writ_write_object_begin(w);
    writ_write_text(w, "jsonrpc", WRIT_LIT("2.0"));
    writ_write_text(w, "id", id);
    writ_write_text(w, "method", method);
    writ_write_name(w, WRIT_LIT("params"));
    writ_write_object_begin(w);
    put_own_meta(w, asked);
}
