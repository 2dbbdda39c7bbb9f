#include "support/unit.h"

#include "store/showing.h"

START_TEST(what_was_put_is_read_part_by_part)
{
    static const struct {
        const char *arguments, *state, *before;
    } rows[] = {
        {"{}", "", ""},
        {"{\"a\":1}", "{\"/v\":2}", "{\"/v\":1}"},
        {"{\"a\":\"1 2 3\\n\"}", "null", ""},
        {"{}", "", "3 1 1\n"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        writ_auto_buf text = writ_buf_make(4096);
        const struct writ_showing put = {.arguments = writ_view_str(rows[i].arguments),
            .state = writ_view_str(rows[i].state),
            .before = writ_view_str(rows[i].before)};
        struct writ_showing got;

        writ_showing_put(&put, &text);
        got = writ_showing_read(writ_buf_view(&text));
        ck_assert_view(got.arguments, rows[i].arguments);
        ck_assert_view(got.state, rows[i].state);
        ck_assert_view(got.before, rows[i].before);
    }
}
END_TEST

START_TEST(bytes_of_another_form_are_arguments)
{
    static const char *const texts[] = {"", "{\"a\":1}", "2 0\n{}", "2 0 0\n{", "2 0 0\n{}x",
        "-1 0 0\n{}", "2 0 0 {}", "99999999999999999999 0 0\n{}", "a b c\n{}"};

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct writ_showing got = writ_showing_read(writ_view_str(texts[i]));

        ck_assert_view(got.arguments, texts[i]);
        ck_assert_uint_eq(got.state.len + got.before.len, 0);
    }
}
END_TEST

WRIT_UNIT_MAIN("showing", what_was_put_is_read_part_by_part, bytes_of_another_form_are_arguments)
