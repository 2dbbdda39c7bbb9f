/* The bridge reads of a line what HTTP needs, keeps the ids of requests, and answers each request
 * with an error of its own when no answer of the gateway comes. */
#include "support/unit.h"

#include "gateway/bridge/bridge_message.h"
#include "support/evidence/value.h"

static struct writ_bridge_message
message_of(const char *line, struct writ_arena *arena)
{
    struct writ_bridge_message message = {0};

    ck_assert_ok(writ_bridge_message_read(writ_view_str(line), arena, &message));
    return message;
}

START_TEST(read_each_form_gives_its_kind)
{
    static const struct {
        const char *line;
        enum writ_mcp_kind kind;
        size_t ids;
    } rows[] = {
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}", WRIT_MCP_REQUEST, 1},
        {"{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"tools/call\",\"params\":{}}",
            WRIT_MCP_REQUEST, 1},
        {"{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}", WRIT_MCP_REQUEST, 0},
        {"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}", WRIT_MCP_NOTIFICATION,
            0},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}", WRIT_MCP_RESPONSE, 0},
        {"[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"},{\"jsonrpc\":\"2.0\",\"method\":"
         "\"x\"},"
         "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}]",
            WRIT_MCP_REQUEST, 2},
        {"[{\"jsonrpc\":\"2.0\",\"method\":\"x\"}]", WRIT_MCP_NOTIFICATION, 0},
        {"{}", WRIT_MCP_REFUSED, 0},
        {"7", WRIT_MCP_REFUSED, 0},
        {"{\"id\":1,\"id\":2}", WRIT_MCP_REFUSED, 0},
        {"nonsense", WRIT_MCP_REFUSED, 0},
        /* halves of characters: the id alone is found, unless it is broken itself */
        {"{\"id\":1,\"method\":\"x\",\"params\":{\"a\":\"\\ud800\"}}", WRIT_MCP_REFUSED, 1},
        {"{\"id\":\"\\ud83d\\ude00\",\"method\":\"\\uDC00\"}", WRIT_MCP_REFUSED, 1},
        {"[{\"id\":1,\"method\":\"x\"},{\"id\":2,\"method\":\"\\\\\\ud800\\ud800\"}]",
            WRIT_MCP_REFUSED, 2},
        {"{\"id\":\"\\udfff\",\"method\":\"x\"}", WRIT_MCP_REFUSED, 0},
        {"{\"id\":1,\"result\":\"\\ud800\"}", WRIT_MCP_REFUSED, 0},
        {"{\"id\":1,\"id\":2,\"method\":\"\\ud800\"}", WRIT_MCP_REFUSED, 0},
        {"{\"id\":1,\"method\":\"\\\\ud800\"", WRIT_MCP_REFUSED, 0},
        {"{\"id\":1,\"method\":\"\\ud8\"}", WRIT_MCP_REFUSED, 0},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        writ_auto_arena arena = writ_value_arena();
        struct writ_bridge_message message = message_of(rows[i].line, arena);

        ck_assert_msg(message.kind == rows[i].kind, "%s", rows[i].line);
        ck_assert_msg(message.ids_n == rows[i].ids, "%s", rows[i].line);
    }
}
END_TEST

START_TEST(read_modern_request_gives_version_and_name)
{
    writ_auto_arena arena = writ_value_arena();
    struct writ_bridge_message message =
        message_of("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/"
                   "call\",\"params\":{\"name\":\"t\",\"_meta\":{"
                   "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\"}}}",
            arena);

    ck_assert(message.modern);
    ck_assert_view(message.version, "2026-07-28");
    ck_assert_view(message.name, "t");
    ck_assert(!message.safe);
}
END_TEST

START_TEST(read_of_reading_methods_says_safe)
{
    static const char *const safe[] = {
        "ping", "initialize", "tools/list", "resources/read", "tasks/get", "subscriptions/listen"};
    static const char *const unsafe[] = {
        "tools/call", "tasks/update", "tasks/cancel", "x/unknown", "Tools/List"};
    writ_auto_buf line = writ_buf_make(1024);

    for (size_t i = 0; i < sizeof safe / sizeof safe[0] + sizeof unsafe / sizeof unsafe[0]; i++) {
        bool good = i < sizeof safe / sizeof safe[0];
        const char *method = good ? safe[i] : unsafe[i - sizeof safe / sizeof safe[0]];
        writ_auto_arena arena = writ_value_arena();

        writ_buf_clear(&line);
        writ_buf_fmt(&line, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"%s\"}%c", method, 0);
        ck_assert_msg(message_of(line.ptr, arena).safe == good, "%s", method);
    }
}
END_TEST

START_TEST(answers_only_the_request_with_the_same_id)
{
    writ_auto_arena arena = writ_value_arena();
    const struct writ_json *one = writ_value_of(arena, WRIT_LIT("1"));
    const struct writ_json *text = writ_value_of(arena, WRIT_LIT("\"1\""));
    const struct writ_json *answer = writ_value_of(arena, WRIT_LIT("{\"id\":1,\"result\":{}}"));
    const struct writ_json *asks =
        writ_value_of(arena, WRIT_LIT("{\"id\":1,\"method\":\"sampling/createMessage\"}"));

    ck_assert(writ_bridge_message_answers(answer, one));
    ck_assert(!writ_bridge_message_answers(answer, text));
    ck_assert(!writ_bridge_message_answers(answer, NULL));
    ck_assert(!writ_bridge_message_answers(asks, one));
}
END_TEST

START_TEST(reason_is_found_in_both_forms)
{
    writ_auto_arena arena = writ_value_arena();

    ck_assert_view(
        writ_bridge_message_reason(writ_value_of(
            arena, WRIT_LIT("{\"error\":{\"code\":1,\"data\":{\"reason\":\"shutting_down\"}}}"))),
        "shutting_down");
    ck_assert_view(
        writ_bridge_message_reason(writ_value_of(arena,
            WRIT_LIT("{\"result\":{\"_meta\":{\"io.writ/refusal\":{\"reason\":\"killed\"}}}}"))),
        "killed");
    ck_assert_uint_eq(writ_bridge_message_reason(NULL).len, 0);
}
END_TEST

START_TEST(put_errors_have_id_reason_and_execution)
{
    writ_auto_arena arena = writ_value_arena();
    const struct writ_json *id = writ_value_of(arena, WRIT_LIT("\"a\""));
    writ_auto_buf text = writ_buf_make(WRIT_BRIDGE_ERROR_MAX);
    const struct writ_json *error;

    writ_bridge_message_put_lost(&text, id);
    error = writ_value_of(arena, writ_buf_view(&text));
    ck_assert(writ_bridge_message_answers(error, id));
    ck_assert_view(writ_bridge_message_reason(error), "interrupted_execution_unknown");
    ck_assert(writ_json_is(
        writ_json_pointer(error, WRIT_LIT("/error/data/execution")), WRIT_LIT("unknown")));

    writ_buf_clear(&text);
    writ_bridge_message_put_error(
        &text, NULL, WRIT_RPC_PARSE_ERROR, WRIT_REASON_MALFORMED_REQUEST, WRIT_LIT("bad"));
    ck_assert(writ_json_type(writ_json_get(
                  writ_value_of(arena, writ_buf_view(&text)), WRIT_LIT("id"))) == WRIT_JSON_NULL);

    writ_buf_clear(&text);
    writ_bridge_message_put_as(&text, id,
        writ_value_of(
            arena, WRIT_LIT("{\"id\":null,\"error\":{\"code\":-32603,\"message\":\"m\"}}")));
    ck_assert_view(writ_buf_view(&text),
        "{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"error\":{\"code\":-32603,\"message\":\"m\"}}");
}
END_TEST

START_TEST(put_noted_keeps_the_result_and_extends_its_instructions)
{
    writ_auto_arena arena = writ_value_arena();
    writ_auto_buf text = writ_buf_make(WRIT_BRIDGE_ERROR_MAX);

    ck_assert(writ_bridge_message_put_noted(&text,
        writ_value_of(
            arena, WRIT_LIT("{\"id\":1,\"result\":{\"n\":1.0,\"instructions\":\"a\",\"z\":[]}}")),
        WRIT_LIT("b")));
    ck_assert_view(writ_buf_view(&text), "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"n\":1.0,"
                                         "\"z\":[],\"instructions\":\"a\\n\\nb\"}}");
    writ_buf_clear(&text);
    ck_assert(!writ_bridge_message_put_noted(
        &text, writ_value_of(arena, WRIT_LIT("{\"id\":1,\"error\":{}}")), WRIT_LIT("b")));
    ck_assert_uint_eq(text.len, 0);
}
END_TEST

WRIT_UNIT_MAIN("bridge_message", put_noted_keeps_the_result_and_extends_its_instructions,
    read_each_form_gives_its_kind, read_modern_request_gives_version_and_name,
    read_of_reading_methods_says_safe, answers_only_the_request_with_the_same_id,
    reason_is_found_in_both_forms, put_errors_have_id_reason_and_execution)
