/* probe.h: the question for the state of a target, and the parts of the answer that count. An
 * answer that does not say the state is an error. */
#include "gateway/probe/probe.h"

#include "support/unit.h"
#include "support/evidence/value.h"

static struct writ_view selected[2];
static struct writ_state_probe probe;
static struct writ_probe_request wanted;

/* A probe of this kind that selects `first` (and `second`). */
static void
make(enum writ_probe_kind kind, const char *first, const char *second)
{
    size_t n = 0;

    if (first != NULL) {
        selected[n++] = writ_view_str(first);
    }
    if (second != NULL) {
        selected[n++] = writ_view_str(second);
    }
    probe =
        (struct writ_state_probe){.kind = kind, .tool = WRIT_LIT("look"), .select = {selected, n}};
    wanted = (struct writ_probe_request){.probe = &probe, .uri = WRIT_LIT("item:7")};
}

/* The state in a response; "" without one. `ret_shown` (NULL: not shown) gets the text. */
static const char *
read_response(const char *answer, struct writ_buf *ret_shown)
{
    static char text[WRIT_DIGEST_TEXT];
    writ_auto_arena arena = writ_value_arena();
    struct writ_probe_state state = {.known = true};

    writ_probe_read_response(&wanted, writ_view_str(answer), ret_shown != NULL, arena, &state);
    text[0] = '\0';
    if (state.known) {
        writ_digest_text(&state.digest, text);
    }
    if (ret_shown != NULL) {
        writ_buf_put(ret_shown, state.text);
    } else {
        ck_assert_uint_eq(state.text.len, 0);
    }
    return text;
}

static void
check_is(const char *got, const char *of)
{
    char want[WRIT_DIGEST_TEXT];
    struct writ_digest digest;

    ck_assert_ok(writ_digest_bytes(writ_view_str(of), &digest, NULL));
    writ_digest_text(&digest, want);
    ck_assert_str_eq(got, want);
}

START_TEST(probe_read_finds_selected_members_in_three_places)
{
    static const char want[] = "{\"/modified\":\"today\",\"/size\":\"4\"}";

    make(WRIT_PROBE_TOOL, "/size", "/modified");
    check_is(read_response("{\"result\":{\"structuredContent\":{\"size\":\"4\",\"modified\":"
                           "\"today\",\"x\":1}}}",
                 NULL),
        want);
    check_is(read_response("{\"result\":{\"content\":[{\"text\":\"{\\\"modified\\\":\\\"today\\\","
                           "\\\"size\\\":\\\"4\\\"}\"}]}}",
                 NULL),
        want);
    check_is(read_response("{\"result\":{\"structuredContent\":{\"size\":\"5\"},\"content\":["
                           "{\"text\":\"size:  4\\nmodified: today\"}]}}",
                 NULL),
        want);
    ck_assert_str_eq(
        read_response("{\"result\":{\"content\":[{\"text\":\"size: 4\"}]}}", NULL), "");
    ck_assert_str_eq(read_response("{\"result\":{}}", NULL), "");
}
END_TEST

START_TEST(probe_read_without_a_selection_takes_the_whole_answer)
{
    make(WRIT_PROBE_TOOL, NULL, NULL);
    check_is(read_response("{\"result\":{\"structuredContent\":{\"b\":1,\"a\":2},\"y\":0}}", NULL),
        "{\"a\":2,\"b\":1}");
    check_is(read_response("{\"result\":{\"content\":[]}}", NULL), "{\"content\":[]}");
    make(WRIT_PROBE_RESOURCE, NULL, NULL);
    check_is(read_response("{\"result\":{\"contents\":[{\"text\":\"x\"}]}}", NULL),
        "[{\"text\":\"x\"}]");
}
END_TEST

START_TEST(probe_read_of_a_missing_target_is_a_state_if_configured)
{
    static const char error[] = "{\"error\":{\"code\":-32002,\"message\":\"no\"}}";
    static const char failed[] = "{\"result\":{\"isError\":true,\"structuredContent\":{\"a\":1}}}";

    make(WRIT_PROBE_TOOL, NULL, NULL);
    ck_assert_str_eq(read_response(failed, NULL), "");
    probe.on_error = WRIT_PROBE_MISSING_ABSENT;
    check_is(read_response(failed, NULL), "null");
    ck_assert_str_eq(read_response(error, NULL), ""); /* the tool could not be called */
    probe.kind = WRIT_PROBE_RESOURCE;
    check_is(read_response(error, NULL), "null");
    ck_assert_str_eq(read_response("{\"result\":", NULL), "");
    ck_assert_str_eq(read_response("", NULL), "");
}
END_TEST

START_TEST(probe_read_page_accepts_found_pages_only)
{
    writ_auto_arena arena = writ_value_arena();
    struct writ_probe_state state;
    char text[WRIT_DIGEST_TEXT];

    make(WRIT_PROBE_HTTP, "/v", NULL);
    writ_probe_read_page(&wanted, 200, WRIT_LIT("{\"v\":1,\"w\":2}"), false, arena, &state);
    ck_assert(state.known);
    writ_digest_text(&state.digest, text);
    check_is(text, "{\"/v\":1}");
    for (unsigned status = 0; status < 600; status += 1) {
        writ_probe_read_page(&wanted, status, WRIT_LIT("{\"v\":1}"), false, arena, &state);
        ck_assert_int_eq(state.known, status >= 200 && status <= 299);
    }
    probe.on_error = WRIT_PROBE_MISSING_ABSENT;
    writ_probe_read_page(&wanted, 404, WRIT_LIT("{\"v\":1}"), false, arena, &state);
    writ_digest_text(&state.digest, text);
    check_is(text, "null");
    writ_probe_read_page(&wanted, 500, WRIT_LIT("{\"v\":1}"), false, arena, &state);
    ck_assert(!state.known);
}
END_TEST

START_TEST(probe_read_keeps_the_shown_text_within_its_limit)
{
    writ_auto_buf answer = writ_buf_make(4 * WRIT_PROBE_SHOWN_MAX);
    writ_auto_buf shown = writ_buf_make(2 * WRIT_PROBE_SHOWN_MAX);

    make(WRIT_PROBE_TOOL, "/b", "/a");
    check_is(read_response("{\"result\":{\"structuredContent\":{\"a\":1,\"b\":2.0}}}", &shown),
        "{\"/a\":1,\"/b\":2}");
    ck_assert_view(writ_buf_view(&shown), "{\"/a\":1,\"/b\":2}");
    writ_buf_clear(&shown);
    make(WRIT_PROBE_TOOL, "/a", NULL);
    writ_buf_str(&answer, "{\"result\":{\"structuredContent\":{\"a\":\"");
    for (size_t i = 0; i < WRIT_PROBE_SHOWN_MAX; i++) {
        writ_buf_byte(&answer, 'x');
    }
    writ_buf_str(&answer, "\"}}}");
    writ_buf_byte(&answer, '\0');
    ck_assert_str_ne(read_response(answer.ptr, &shown), "");
    ck_assert_uint_eq(shown.len, 0);
}
END_TEST

START_TEST(probe_put_repeats_the_protocol_version_of_the_call)
{
    writ_auto_arena arena = writ_value_arena();
    writ_auto_buf text = writ_buf_make(1000);
    struct writ_mcp_message asked = {.era = WRIT_MCP_LEGACY,
        .meta = writ_value_of(arena, WRIT_LIT("{\"io.modelcontextprotocol/protocolVersion\":\"v\","
                                              "\"io.writ/credential\":\"secret\"}"))};

    make(WRIT_PROBE_TOOL, NULL, NULL);
    wanted.arguments = writ_value_of(arena, WRIT_LIT("{\"b\":1,\"a\":2}"));
    ck_assert_ok(writ_probe_put(&text, &wanted, WRIT_LIT("me"), &asked));
    ck_assert_view(writ_buf_view(&text),
        "{\"jsonrpc\":\"2.0\",\"id\":\"me\",\"method\":\"tools/call\",\"params\":{\"name\":"
        "\"look\",\"arguments\":{\"a\":2,\"b\":1}}}");
    writ_buf_clear(&text);
    make(WRIT_PROBE_RESOURCE, NULL, NULL);
    asked.era = WRIT_MCP_ERA_MODERN;
    ck_assert_ok(writ_probe_put(&text, &wanted, WRIT_LIT("me"), &asked));
    ck_assert_view(writ_buf_view(&text),
        "{\"jsonrpc\":\"2.0\",\"id\":\"me\",\"method\":\"resources/read\",\"params\":{\"_meta\":"
        "{\"io.modelcontextprotocol/protocolVersion\":\"v\"},\"uri\":\"item:7\"}}");
}
END_TEST

WRIT_UNIT_MAIN("probe", probe_read_finds_selected_members_in_three_places,
    probe_read_without_a_selection_takes_the_whole_answer,
    probe_read_of_a_missing_target_is_a_state_if_configured,
    probe_read_page_accepts_found_pages_only, probe_read_keeps_the_shown_text_within_its_limit,
    probe_put_repeats_the_protocol_version_of_the_call)
