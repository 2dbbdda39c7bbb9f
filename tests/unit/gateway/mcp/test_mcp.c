/* MCP messages. A body is one request, notification or response, the headers agree with it, and
 * anything else is refused. */
#include "support/unit.h"
#include "support/evidence/value.h"

#include "gateway/mcp/mcp.h"
#include "gateway/mcp/method.h"

#define MODERN_META                                                                                \
    "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","                       \
    "\"io.modelcontextprotocol/clientCapabilities\":{}}"

struct refusal {
    const char *body;
    struct writ_mcp_headers headers;
    int status, code;
    enum writ_reason reason;
};

#define HEADERS(v, m, n)                                                                           \
    (struct writ_mcp_headers)                                                                      \
    {                                                                                              \
        .version = writ_view_str(v), .method = writ_view_str(m), .name = writ_view_str(n)          \
    }

#define ID_64   "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define LONG_ID ID_64 ID_64 ID_64 ID_64 "x" /* of a server's request; a client's is refused */

static const struct writ_mcp_headers none;

static void
assert_refused(const struct refusal *want)
{
    struct writ_mcp_message message = {.kind = WRIT_MCP_REFUSED};
    struct writ_mcp_fault fault = {0};

    ck_assert_code(
        writ_mcp_classify(writ_values_json(want->body), &want->headers, &message, &fault),
        WRIT_E_INVALID);
    ck_assert_int_eq(message.kind, WRIT_MCP_REFUSED);
    ck_assert_msg(
        fault.status == want->status && fault.code == want->code && fault.reason == want->reason,
        "%s: %d, %d, %s", want->body, fault.status, fault.code, fault.text);
}

START_TEST(mcp_read_of_no_message_is_refused)
{
    static const char *const bodies[] = {
        "1",
        "\"x\"",
        "null",
        "{}",
        "{\"jsonrpc\":\"2.0\"}",
        "{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"}",
        "{\"id\":1,\"method\":\"ping\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"ping\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":1e2,\"method\":\"ping\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":9007199254740992,\"method\":\"ping\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":[1],\"method\":\"ping\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":true,\"method\":\"ping\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":7}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"result\":{}}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":[]}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{\"_meta\":1}}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"Method\":\"tools/call\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{},\"error\":{}}",
        "{\"jsonrpc\":\"2.0\",\"result\":{}}",
    };

    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        struct refusal want = {bodies[i], none, 400, -32600, WRIT_REASON_MALFORMED_REQUEST};
        assert_refused(&want);
    }
}
END_TEST

START_TEST(mcp_read_of_any_batch_is_refused)
{
    static const char *const bodies[] = {"[]",
        "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]",
        "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"x\"}}]"};

    for (size_t i = 0; i < 3; i++) {
        struct refusal want = {bodies[i], none, 400, -32600, WRIT_REASON_BATCH_REFUSED};
        assert_refused(&want);
    }
}
END_TEST

START_TEST(mcp_read_of_a_tools_call_without_id_is_refused)
{
    struct refusal want = {
        "{\"jsonrpc\":\"2.0\",\"method\":\"tools/call\",\"params\":{\"name\":\"x\"}}", none, 400,
        -32600, WRIT_REASON_REQUEST_WITHOUT_ID};

    assert_refused(&want);
}
END_TEST

START_TEST(mcp_read_with_a_disagreeing_header_is_refused)
{
    static const char legacy[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\","
                                 "\"params\":{\"name\":\"read\"}}";
    static const char modern[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\","
                                 "\"params\":{\"name\":\"read\"," MODERN_META "}}";
    const struct refusal cases[] = {
        {legacy, HEADERS("2025-11-25", NULL, "write"), 400, -32020, WRIT_REASON_HEADER_MISMATCH},
        {legacy, HEADERS(NULL, "tools/list", NULL), 400, -32020, WRIT_REASON_HEADER_MISMATCH},
        {legacy, HEADERS(NULL, NULL, "Read"), 400, -32020, WRIT_REASON_HEADER_MISMATCH},
        {modern, HEADERS("2026-07-28", "tools/call", "write"), 400, -32020,
            WRIT_REASON_HEADER_MISMATCH},
        {modern, HEADERS("2026-07-28", "tools/call", "=?base64?d3JpdGU=?="), 400, -32020,
            WRIT_REASON_HEADER_MISMATCH},
        {modern, HEADERS("2026-07-28", "tools/call", NULL), 400, -32020,
            WRIT_REASON_HEADER_MISMATCH},
        {modern, HEADERS("2026-07-28", NULL, "read"), 400, -32020, WRIT_REASON_HEADER_MISMATCH},
        {modern, HEADERS("2025-11-25", "tools/call", "read"), 400, -32020,
            WRIT_REASON_HEADER_MISMATCH},
        {modern, HEADERS(NULL, "tools/call", "read"), 400, -32020, WRIT_REASON_HEADER_MISMATCH},
        {legacy, HEADERS("2026-07-28", "tools/call", "read"), 400, -32602,
            WRIT_REASON_MALFORMED_REQUEST},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_refused(&cases[i]);
    }
}
END_TEST

START_TEST(requests_notifications_and_responses_are_distinguished)
{
    static const struct {
        const char *body;
        enum writ_mcp_kind kind;
        const char *method, *name;
    } cases[] = {
        {"{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"ping\"}", WRIT_MCP_REQUEST, "ping", NULL},
        {"{\"jsonrpc\":\"2.0\",\"id\":-9007199254740991,\"method\":\"prompts/get\","
         "\"params\":{\"name\":\"p\"}}",
            WRIT_MCP_REQUEST, "prompts/get", "p"},
        {"{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"resources/read\",\"params\":{\"uri\":\"u:\"}}",
            WRIT_MCP_REQUEST, "resources/read", "u:"},
        {"{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"tasks/update\",\"params\":{\"taskId\":\"t\"}}",
            WRIT_MCP_REQUEST, "tasks/update", "t"},
        {"{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"tasks/result\",\"params\":{\"taskId\":\"t\"}}",
            WRIT_MCP_REQUEST, "tasks/result", NULL},
        {"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}", WRIT_MCP_NOTIFICATION,
            "notifications/initialized", NULL},
        {"{\"jsonrpc\":\"2.0\",\"id\":5,\"result\":{}}", WRIT_MCP_RESPONSE, "", NULL},
        {"{\"jsonrpc\":\"2.0\",\"id\":5,\"error\":{}}", WRIT_MCP_RESPONSE, "", NULL},
        {"{\"jsonrpc\":\"2.0\",\"id\":\"" LONG_ID "\",\"result\":{}}", WRIT_MCP_RESPONSE, "", NULL},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct writ_mcp_message message;
        struct writ_mcp_fault fault;
        ck_assert_ok(writ_mcp_classify(writ_values_json(cases[i].body), &none, &message, &fault));
        ck_assert_int_eq(message.kind, cases[i].kind);
        ck_assert_int_eq(message.era, WRIT_MCP_LEGACY);
        ck_assert_view(message.method, cases[i].method);
        ck_assert(writ_view_equal(message.name, writ_view_str(cases[i].name)));
    }
}
END_TEST

START_TEST(mcp_era_follows_the_body)
{
    const struct writ_mcp_headers headers = HEADERS("2026-07-28", "tools/call", "=?base64?w7w=?=");
    struct writ_mcp_message message;
    struct writ_mcp_fault fault;

    ck_assert_ok(writ_mcp_classify(
        writ_values_json("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\","
                         "\"params\":{\"name\":\"\\u00fc\"," MODERN_META "}}"),
        &headers, &message, &fault));
    ck_assert_int_eq(message.era, WRIT_MCP_ERA_MODERN);
    ck_assert_view(message.name, "\xc3\xbc");
}
END_TEST

START_TEST(mcp_refusal_echoes_a_valid_id_only)
{
    ck_assert_view(writ_json_text(writ_mcp_id(writ_values_json("{\"id\":7,\"method\":1}"))), "7");
    ck_assert_view(writ_json_text(writ_mcp_id(writ_values_json("{\"id\":\"a\"}"))), "a");
    ck_assert_ptr_null(writ_mcp_id(writ_values_json("{\"id\":null}")));
    ck_assert_ptr_null(writ_mcp_id(writ_values_json("{\"id\":[7]}")));
    ck_assert_ptr_null(writ_mcp_id(writ_values_json("[{\"id\":7}]")));
}
END_TEST

START_TEST(mcp_header_value_round_trips)
{
    static const char *const values[] = {
        "plain", "a b", " padded ", "t\tab", "\xc3\xbc", "", "=?base64?eA==?=", "line\nbreak"};

    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        writ_auto_buf encoded = writ_buf_make(1024), decoded = writ_buf_make(1024);
        writ_mcp_header_encode(&encoded, writ_view_str(values[i]));
        ck_assert_ok(writ_buf_check(&encoded, NULL));
        for (size_t j = 0; j < encoded.len; j++) {
            ck_assert(encoded.ptr[j] >= 0x20 && encoded.ptr[j] <= 0x7e);
        }
        ck_assert_ok(writ_mcp_header_decode(writ_buf_view(&encoded), &decoded));
        ck_assert_view(writ_buf_view(&decoded), values[i]);
    }
}
END_TEST

START_TEST(mcp_read_of_members_that_differ_by_case_is_ambiguous)
{
    static const struct {
        const char *text;
        bool good;
    } cases[] = {
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}", true},
        {"{\"jsonrpc\":\"2.0\",\"method\":\"x\",\"vendor\":1}", true},
        {"{\"jsonrpc\":\"2.0\",\"method\":\"x\",\"Result\":{}}", false},
        {"{\"jsonrpc\":\"2.0\",\"method\":\"x\",\"ID\":1}", false},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct writ_arena *arena = writ_arena_new(65536);
        const struct writ_json *body;
        ck_assert_ok(writ_json_read(
            writ_view_str(cases[i].text), &writ_json_limits_default, arena, &body, NULL));
        ck_assert_int_eq(writ_mcp_is_unambiguous(body), cases[i].good);
        writ_arena_free(arena);
    }
}
END_TEST

START_TEST(methods_are_found_byte_by_byte)
{
    ck_assert_int_eq(writ_method_find(WRIT_LIT("tools/call")), WRIT_MCP_TOOLS_CALL);
    ck_assert_int_eq(writ_method_find(WRIT_LIT("Tools/call")), WRIT_MCP_UNKNOWN);
    ck_assert_int_eq(writ_method_find(WRIT_LIT("tools/call ")), WRIT_MCP_UNKNOWN);
    ck_assert_int_eq(writ_method_find((struct writ_view){NULL, 0}), WRIT_MCP_UNKNOWN);
    ck_assert_int_eq(writ_method_route(WRIT_MCP_UNKNOWN), WRIT_ROUTE_UNKNOWN);
    for (unsigned i = WRIT_MCP_UNKNOWN + 1; i < WRIT_MCP_METHOD_COUNT; i++) {
        struct writ_view name = writ_method_name((enum writ_mcp_method)i);
        ck_assert_int_eq(writ_method_find(name), i);
        ck_assert_int_ne(writ_method_route((enum writ_mcp_method)i), WRIT_ROUTE_UNKNOWN);
        ck_assert(writ_mcp_is_governed(name) ==
                  (writ_method_route((enum writ_mcp_method)i) == WRIT_ROUTE_CALL));
    }
}
END_TEST

WRIT_UNIT_MAIN("mcp", mcp_read_of_no_message_is_refused, mcp_read_of_any_batch_is_refused,
    mcp_read_of_a_tools_call_without_id_is_refused, mcp_read_with_a_disagreeing_header_is_refused,
    requests_notifications_and_responses_are_distinguished, mcp_era_follows_the_body,
    mcp_refusal_echoes_a_valid_id_only, mcp_header_value_round_trips,
    mcp_read_of_members_that_differ_by_case_is_ambiguous, methods_are_found_byte_by_byte)
