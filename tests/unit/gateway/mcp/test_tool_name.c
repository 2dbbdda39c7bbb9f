/* Tool names with the name of their upstream. A joined or shortened name leads back to exactly one
 * tool. */
#include "support/unit.h"

#include "gateway/mcp/tool_name.h"

#define UP  WRIT_LIT("up")
#define SEP WRIT_LIT("__")

START_TEST(tool_name_splits_at_the_first_separator)
{
    struct writ_view upstream = {NULL, 0}, own = {NULL, 0};

    ck_assert(writ_tool_name_split(SEP, WRIT_LIT("up__a__b"), &upstream, &own));
    ck_assert_view(upstream, "up");
    ck_assert_view(own, "a__b");
    ck_assert(writ_tool_name_split(WRIT_LIT("."), WRIT_LIT("up."), &upstream, &own));
    ck_assert_view(own, "");
    upstream = own = writ_view(NULL, 0);
    ck_assert(!writ_tool_name_split(SEP, WRIT_LIT("up_a"), &upstream, &own));
    ck_assert_ptr_null(upstream.ptr);
}
END_TEST

START_TEST(tool_name_shown_is_a_name_that_models_accept)
{
    for (size_t length = 59; length <= 62; length++) {
        writ_auto_buf own = writ_buf_make(100);
        writ_auto_buf shown = writ_buf_make(200);
        for (size_t i = 0; i < length; i++) {
            writ_buf_byte(&own, 'a');
        }
        writ_tool_name_put_tool(SEP, UP, writ_buf_view(&own), &shown);
        ck_assert_uint_le(shown.len, WRIT_TOOL_NAME_NAME_MAX);
        if (length <= 60) {
            ck_assert_uint_eq(shown.len, length + 4);
        } else {
            ck_assert_uint_eq(shown.len, WRIT_TOOL_NAME_NAME_MAX);
            ck_assert_int_eq(shown.ptr[WRIT_TOOL_NAME_NAME_MAX - 9], '-');
        }
    }
}
END_TEST

START_TEST(tool_name_short_leads_back_to_its_tool)
{
    struct writ_arena *arena = writ_arena_new((size_t)1 << 20);
    struct writ_catalog *catalog = NULL;
    const struct writ_json *value;
    writ_auto_buf shown = writ_buf_make(200);
    struct writ_view upstream, own;

    ck_assert_ok(writ_json_read(
        WRIT_LIT("{\"name\":\"a b\"}"), &writ_json_limits_default, arena, &value, NULL));
    ck_assert_ok(writ_catalog_new(&catalog));
    ck_assert_ok(writ_catalog_add(catalog, value));
    writ_catalog_seal(catalog);
    writ_tool_name_put_tool(SEP, UP, WRIT_LIT("a b"), &shown);
    ck_assert(writ_tool_name_split(SEP, writ_buf_view(&shown), &upstream, &own));
    ck_assert_view(writ_tool_name_tool(SEP, UP, own, catalog), "a b");
    ck_assert(writ_view_equal(writ_tool_name_tool(SEP, UP, own, NULL), own));
    ck_assert_view(writ_tool_name_tool(SEP, UP, WRIT_LIT("a b"), catalog), "a b");
    ck_assert_view(writ_tool_name_tool(SEP, UP, WRIT_LIT("a-00000000"), catalog), "a-00000000");
    writ_catalog_drop(catalog);
    writ_arena_free(arena);
}
END_TEST

WRIT_UNIT_MAIN("tool_name", tool_name_splits_at_the_first_separator,
    tool_name_shown_is_a_name_that_models_accept, tool_name_short_leads_back_to_its_tool)
