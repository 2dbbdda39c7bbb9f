/* From the bytes of a request to the message that is judged. The input is three lines (the values
 * of MCP-Protocol-Version, Mcp-Method and Mcp-Name; an empty line is an absent field) and the
 * body.
 *
 * For every input: a governed message has an id and is a single object; a present header names
 * what the body names; a refusal has a status, a code and a reason; and the canonical form of the
 * body is classified the same. */
#include "support/fuzz.h"

#include "evidence/json/jcs.h"
#include "gateway/mcp/mcp.h"
#include "gateway/mcp/method.h"

#define ARENA_MAX ((size_t)1 << 26)

static struct writ_view
next_line(struct writ_view *input)
{
    size_t end = writ_view_find(*input, '\n');
    struct writ_view line = writ_view_sub(*input, 0, end);

    *input = writ_view_sub(*input, end + 1, SIZE_MAX);
    return line.len > 0 ? line : (struct writ_view){NULL, 0};
}

static void
check_message(const struct writ_mcp_message *message, const struct writ_mcp_headers *headers)
{
    WRIT_INVARIANT(message->kind != WRIT_MCP_REFUSED);
    WRIT_INVARIANT(writ_json_type(message->body) == WRIT_JSON_OBJECT);
    if (writ_mcp_is_governed(message->method)) {
        WRIT_INVARIANT(message->kind == WRIT_MCP_REQUEST && message->id != NULL);
        WRIT_INVARIANT(writ_method_find(message->method) == WRIT_MCP_TOOLS_CALL);
    }
    if (headers->method.ptr != NULL) {
        WRIT_INVARIANT(writ_view_equal(headers->method, message->method));
    }
    if (headers->name.ptr != NULL) {
        writ_auto_buf decoded = writ_buf_make(headers->name.len + 1);
        WRIT_INVARIANT(writ_is_ok(writ_mcp_header_decode(headers->name, &decoded)));
        WRIT_INVARIANT(writ_view_equal(writ_buf_view(&decoded), message->name));
    }
}

/* Another reader of what we forward would see the same message. */
static void
check_canonical(struct writ_arena *arena, const struct writ_mcp_message *message,
    const struct writ_mcp_headers *headers)
{
    writ_auto_buf canonical = writ_buf_make(ARENA_MAX);
    const struct writ_json *again = NULL;
    struct writ_mcp_message second;
    struct writ_mcp_fault fault;

    if (!writ_is_ok(writ_jcs_put(&canonical, message->body, NULL)) ||
        !writ_is_ok(writ_json_read(
            writ_buf_view(&canonical), &writ_json_limits_default, arena, &again, NULL))) {
        return; /* no canonical form, or one beyond the limits: such a call is refused */
    }
    WRIT_INVARIANT(writ_is_ok(writ_mcp_classify(again, headers, &second, &fault)));
    WRIT_INVARIANT(second.kind == message->kind && second.era == message->era);
    WRIT_INVARIANT(writ_view_equal(second.method, message->method));
    WRIT_INVARIANT(writ_view_equal(second.name, message->name));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct writ_arena *arena = writ_arena_new(ARENA_MAX);
    struct writ_view input = writ_view(data, size);
    struct writ_mcp_headers headers;
    const struct writ_json *body = NULL;
    struct writ_mcp_message message = {.kind = WRIT_MCP_REFUSED};
    struct writ_mcp_fault fault = {0};

    WRIT_INVARIANT(arena != NULL);
    headers.version = next_line(&input);
    headers.method = next_line(&input);
    headers.name = next_line(&input);
    if (writ_is_ok(writ_json_read(input, &writ_json_limits_default, arena, &body, NULL))) {
        if (writ_is_ok(writ_mcp_classify(body, &headers, &message, &fault))) {
            check_message(&message, &headers);
            check_canonical(arena, &message, &headers);
        } else {
            WRIT_INVARIANT(fault.status >= 400 && fault.code != 0 && fault.text != NULL);
            WRIT_INVARIANT(fault.reason != WRIT_REASON_NONE);
        }
    }
    writ_arena_free(arena);
    return 0;
}
