/* The context of a review as one row. Its parts read back as written, and rows of earlier builds
 * are still read. */
#include "support/unit.h"

#include "store/tables/review_context.h"

START_TEST(review_context_parts_read_back)
{
    static const struct {
        const char *arguments, *state, *before, *conditions, *salt, *candidates;
    } rows[] = {
        {"{}", "", "", "", "00", ""},
        {"{\"a\":1}", "{\"/v\":2}", "{\"/v\":1}", "[{}]", "ff", ""},
        {"{\"a\":\"1 2 3\\n\"}", "null", "", "[]", "", "[1]"},
        {"{}", "", "3 1 1\n", "", "1 2\n", ""},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        writ_auto_buf text = writ_buf_make(4096);
        const struct writ_review_context put = {.arguments = writ_view_str(rows[i].arguments),
            .state = writ_view_str(rows[i].state),
            .before = writ_view_str(rows[i].before),
            .conditions = writ_view_str(rows[i].conditions),
            .salt = writ_view_str(rows[i].salt),
            .candidates = writ_view_str(rows[i].candidates)};
        struct writ_review_context got;

        writ_review_context_put(&put, &text);
        got = writ_review_context_read(writ_buf_view(&text));
        ck_assert_view(got.arguments, rows[i].arguments);
        ck_assert_view(got.state, rows[i].state);
        ck_assert_view(got.before, rows[i].before);
        ck_assert_view(got.conditions, rows[i].conditions);
        ck_assert_view(got.salt, rows[i].salt);
        ck_assert_view(got.candidates, rows[i].candidates);
    }
}
END_TEST

START_TEST(review_context_of_an_earlier_build_has_three_parts)
{
    struct writ_review_context got = writ_review_context_read(WRIT_LIT("2 3 1\n{}[1]5"));

    ck_assert_view(got.arguments, "{}");
    ck_assert_view(got.state, "[1]");
    ck_assert_view(got.before, "5");
    ck_assert_uint_eq(got.conditions.len + got.salt.len, 0);
}
END_TEST

START_TEST(review_context_of_another_form_is_arguments)
{
    static const char *const texts[] = {"", "{\"a\":1}", "2 0\n{}", "2 0 0\n{", "2 0 0\n{}x",
        "-1 0 0\n{}", "2 0 0 {}", "99999999999999999999 0 0\n{}", "a b c\n{}", "2\n{}",
        "2 0 0 0\n{}", "2 0 0 0 0 0 0\n{}", "2  0\n{}", "1 1 0 0 1\n{}", "\n"};

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct writ_review_context got = writ_review_context_read(writ_view_str(texts[i]));

        ck_assert_view(got.arguments, texts[i]);
        ck_assert_uint_eq(got.state.len + got.before.len, 0);
    }
}
END_TEST

WRIT_UNIT_MAIN("review_context", review_context_parts_read_back,
    review_context_of_an_earlier_build_has_three_parts, review_context_of_another_form_is_arguments)
