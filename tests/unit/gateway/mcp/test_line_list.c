/* A list of lines. Order is kept, each line is taken once and whole, and a line that does not fit
 * changes nothing. */
#include "gateway/mcp/line_list.h"

#include "support/unit.h"

START_TEST(lines_are_kept_in_their_order)
{
    writ_auto_buf list = writ_buf_make(64);
    size_t at = 0;

    ck_assert(writ_line_list_add(&list, WRIT_LIT("one")));
    ck_assert(writ_line_list_add(&list, WRIT_LIT("")));
    ck_assert(writ_line_list_add(&list, WRIT_LIT("three")));
    ck_assert_view(writ_line_list_next(&list, &at), "one");
    ck_assert_view(writ_line_list_next(&list, &at), "");
    ck_assert_view(writ_line_list_next(&list, &at), "three");
    ck_assert_ptr_null(writ_line_list_next(&list, &at).ptr);
}
END_TEST

START_TEST(line_list_take_gives_each_line_once_and_whole)
{
    writ_auto_buf list = writ_buf_make(64);

    ck_assert(writ_line_list_add(&list, WRIT_LIT("12")));
    ck_assert(writ_line_list_add(&list, WRIT_LIT("1")));
    ck_assert(writ_line_list_add(&list, WRIT_LIT("1")));
    ck_assert(writ_line_list_take(&list, WRIT_LIT("1")));
    ck_assert_view(writ_buf_view(&list), "12\n1\n");
    ck_assert(!writ_line_list_take(&list, WRIT_LIT("2")));
    ck_assert(writ_line_list_take(&list, WRIT_LIT("1")));
    ck_assert(!writ_line_list_take(&list, WRIT_LIT("1")));
    ck_assert_view(writ_buf_view(&list), "12\n");
}
END_TEST

START_TEST(line_list_put_beyond_the_limit_changes_nothing)
{
    writ_auto_buf list = writ_buf_make(6);

    ck_assert(writ_line_list_add(&list, WRIT_LIT("abc")));
    ck_assert(!writ_line_list_add(&list, WRIT_LIT("de")));
    ck_assert_view(writ_buf_view(&list), "abc\n");
    ck_assert(writ_line_list_add(&list, WRIT_LIT("d")));
    ck_assert_view(writ_buf_view(&list), "abc\nd\n");
}
END_TEST

WRIT_UNIT_MAIN("line_list", lines_are_kept_in_their_order,
    line_list_take_gives_each_line_once_and_whole, line_list_put_beyond_the_limit_changes_nothing)
