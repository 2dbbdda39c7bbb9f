/* Writ's names in `_meta`. They are removed from the params and results of others in any case, and
 * a message is rewritten whole or not at all. */
#include "support/unit.h"
#include "support/evidence/value.h"

#include "gateway/mcp/meta_namespace.h"

START_TEST(meta_namespace_matches_names_in_any_case)
{
    static const char *const ours[] = {"io.writ/credential", "io.writ/", "IO.WRIT/x", "Io.Writ/y"};
    static const char *const others[] = {"", "io.writ", "io.writer/x", "xio.writ/x", "writ/x"};

    for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++) {
        ck_assert_msg(writ_meta_namespace_is(writ_view_str(ours[i])), "%s", ours[i]);
    }
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        ck_assert_msg(!writ_meta_namespace_is(writ_view_str(others[i])), "%s", others[i]);
    }
}
END_TEST

START_TEST(meta_namespace_clear_changes_meta_of_params_and_result_only)
{
    static const struct {
        const char *before, *after; /* from NULL on: without a name of Writ */
    } rows[] = {
        {"{\"params\":{\"_meta\":{\"io.writ/a\":1,\"b\":1.50},\"x\":1e2}}",
            "{\"params\":{\"_meta\":{\"b\":1.50},\"x\":1e2}}"},
        {"{\"params\":{\"_Meta\":{\"IO.writ/a\":{}}}}", "{\"params\":{\"_Meta\":{}}}"},
        {"{\"id\":7,\"result\":{\"_meta\":{\"io.writ/a\":null},\"y\":[{\"_meta\":{}}]}}",
            "{\"id\":7,\"result\":{\"_meta\":{},\"y\":[{\"_meta\":{}}]}}"},
        {"{\"params\":{\"arguments\":{\"_meta\":{\"io.writ/a\":1}}}}", NULL},
        {"{\"params\":{\"_meta\":{\"a\":{\"io.writ/a\":1}}}}", NULL},
        {"{\"params\":{\"_meta\":1,\"io.writ/a\":1}}", NULL},
        {"{\"params\":[{\"_meta\":{\"io.writ/a\":1}}]}", NULL},
        {"{\"method\":\"ping\"}", NULL},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct writ_json *body = writ_values_json(rows[i].before);
        const char *want = rows[i].after != NULL ? rows[i].after : rows[i].before;
        writ_auto_buf got = writ_buf_make(4096);

        ck_assert_msg(
            writ_meta_namespace_in(body) == (rows[i].after != NULL), "%s", rows[i].before);
        ck_assert_ok(writ_meta_namespace_put_without(body, &got, NULL));
        ck_assert_msg(writ_view_is(writ_buf_view(&got), want), "%s", want);
    }
}
END_TEST

START_TEST(meta_namespace_clear_beyond_the_buffer_fails)
{
    const struct writ_json *body = writ_values_json("{\"params\":{\"x\":\"0123456789\"}}");
    writ_auto_buf enough = writ_buf_make(29);
    writ_auto_buf less = writ_buf_make(28);

    ck_assert_ok(writ_meta_namespace_put_without(body, &enough, NULL));
    ck_assert_code(writ_meta_namespace_put_without(body, &less, NULL), WRIT_E_LIMIT);
}
END_TEST

START_TEST(meta_namespace_scan_finds_every_name)
{
    static const char *const may[] = {"{\"io.writ/a\":1}", "{\"IO.Writ/a\":1}", "io.writ/",
        "{\"a/b\":1,\"io.writ/c\":2}", "{\"io.writ\\/a\":1}", "{\"i\\u006f.writ/a\":1}",
        "{\"io.writ\\u002fa\":1}"};
    static const char *const not [] = {"", "/", "o.writ/", "{\"io.writ\":1}", "{\"a\":\"b/c\\n\"}"};

    for (size_t i = 0; i < sizeof may / sizeof may[0]; i++) {
        ck_assert_msg(writ_meta_namespace_may_be_in(writ_view_str(may[i])), "%s", may[i]);
    }
    for (size_t i = 0; i < sizeof not / sizeof not [0]; i++) {
        ck_assert_msg(!writ_meta_namespace_may_be_in(writ_view_str(not [i])), "%s", not [i]);
    }
}
END_TEST

START_TEST(meta_namespace_clear_rewrites_value_and_text_or_neither)
{
    struct writ_view text = WRIT_LIT("{ \"result\" : {\"_meta\":{\"io.writ\\/a\":1,\"b\":2}} }");
    struct writ_view plain = WRIT_LIT("{ \"result\" : {\"_meta\":{\"b\":2}} }");
    const struct writ_json *message = writ_values_json(text.ptr), *before;
    struct writ_arena *small = writ_arena_new(16);
    struct writ_arena *arena = writ_arena_new(65536);
    struct writ_view told = text;

    before = message;
    ck_assert_code(
        writ_meta_namespace_clear(&writ_json_limits_default, small, &told, &message), WRIT_E_NOMEM);
    ck_assert_ptr_eq(message, before);
    ck_assert_ptr_eq(told.ptr, text.ptr);

    ck_assert_ok(writ_meta_namespace_clear(&writ_json_limits_default, arena, &told, &message));
    ck_assert(writ_view_is(told, "{\"result\":{\"_meta\":{\"b\":2}}}"));
    ck_assert(!writ_meta_namespace_in(message));
    ck_assert_ptr_nonnull(writ_json_pointer(message, WRIT_LIT("/result/_meta/b")));

    message = writ_values_json(plain.ptr);
    told = plain;
    ck_assert_ok(writ_meta_namespace_clear(&writ_json_limits_default, arena, &told, &message));
    ck_assert_ptr_eq(told.ptr, plain.ptr);
    writ_arena_free(small);
    writ_arena_free(arena);
}
END_TEST

WRIT_UNIT_MAIN("meta_namespace", meta_namespace_scan_finds_every_name,
    meta_namespace_clear_rewrites_value_and_text_or_neither,
    meta_namespace_matches_names_in_any_case,
    meta_namespace_clear_changes_meta_of_params_and_result_only,
    meta_namespace_clear_beyond_the_buffer_fails)
