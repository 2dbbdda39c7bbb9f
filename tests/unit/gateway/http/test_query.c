/* Query strings. A parameter is decoded as forms encode it; a repeated, invalid or overlong one is
 * refused. */
#include "support/unit.h"

#include "gateway/http/query.h"

#define MAX 8

static void
assert_value(const char *query, const char *want)
{
    struct writ_arena *arena = writ_arena_new(4096);
    struct writ_view value = WRIT_LIT("untouched");

    ck_assert_ok(writ_query_get(writ_view_str(query), WRIT_LIT("q"), MAX, arena, &value));
    if (want == NULL) {
        ck_assert_ptr_null(value.ptr);
    } else {
        ck_assert_ptr_nonnull(value.ptr);
        ck_assert_view(value, want);
    }
    writ_arena_free(arena);
}

static void
assert_refused(const char *query, enum writ_code code)
{
    struct writ_arena *arena = writ_arena_new(4096);
    struct writ_view value = WRIT_LIT("untouched");

    ck_assert_code(writ_query_get(writ_view_str(query), WRIT_LIT("q"), MAX, arena, &value), code);
    ck_assert_view(value, "untouched");
    writ_arena_free(arena);
}

START_TEST(query_get_decodes_a_form_value)
{
    assert_value("q=a", "a");
    assert_value("x=1&q=a%20b+c&y", "a b c");
    assert_value("q=%C3%a9", "\xc3\xa9");
    assert_value("q=%3D%26=", "=&=");
    assert_value("q=", "");
    assert_value("q", "");
    assert_value("", NULL);
    assert_value("qq=1&Q=2&=q", NULL);
}
END_TEST

START_TEST(query_get_of_a_repeated_or_invalid_parameter_is_refused)
{
    assert_refused("q=1&q=1", WRIT_E_PARSE);
    assert_refused("q=&q=1", WRIT_E_PARSE);
    assert_refused("q=%ff", WRIT_E_PARSE);
    assert_refused("q=%00", WRIT_E_PARSE);
    assert_refused("q=%1b", WRIT_E_PARSE);
    assert_refused("q=%7F", WRIT_E_PARSE);
}
END_TEST

START_TEST(query_get_limits_the_value)
{
    assert_value("q=12345678", "12345678");
    assert_value("q=%31%31%31%31%31%31%31%31", "11111111");
    assert_refused("q=123456789", WRIT_E_LIMIT);
}
END_TEST

WRIT_UNIT_MAIN("query", query_get_decodes_a_form_value,
    query_get_of_a_repeated_or_invalid_parameter_is_refused, query_get_limits_the_value)
