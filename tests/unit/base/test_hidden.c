/* Characters that a reader does not see. Every one is detected in exactly one way, and a stripped
 * text has none left. */
#include "support/unit.h"

#include "base/hidden.h"

START_TEST(hidden_class_of_a_character_is_unique)
{
    static const struct {
        uint32_t point;
        enum writ_hidden want;
    } cases[] = {
        {0x00, WRIT_HIDDEN_CONTROL},
        {0x1f, WRIT_HIDDEN_CONTROL},
        {0x20, WRIT_HIDDEN_NOT},
        {0x7e, WRIT_HIDDEN_NOT},
        {0x7f, WRIT_HIDDEN_CONTROL},
        {0x9f, WRIT_HIDDEN_CONTROL},
        {0xa0, WRIT_HIDDEN_SPACE},
        {0xa1, WRIT_HIDDEN_NOT},
        {0xad, WRIT_HIDDEN_INVISIBLE},
        {0xe9, WRIT_HIDDEN_NOT},
        {0x34f, WRIT_HIDDEN_INVISIBLE},
        {0x600, WRIT_HIDDEN_FORMAT},
        {0x61c, WRIT_HIDDEN_DIRECTION},
        {0x115f, WRIT_HIDDEN_INVISIBLE},
        {0x180e, WRIT_HIDDEN_INVISIBLE},
        {0x180b, WRIT_HIDDEN_SELECTOR},
        {0x2003, WRIT_HIDDEN_SPACE},
        {0x200a, WRIT_HIDDEN_SPACE},
        {0x200b, WRIT_HIDDEN_INVISIBLE},
        {0x200d, WRIT_HIDDEN_INVISIBLE},
        {0x200e, WRIT_HIDDEN_DIRECTION},
        {0x2028, WRIT_HIDDEN_LINE},
        {0x2029, WRIT_HIDDEN_LINE},
        {0x202a, WRIT_HIDDEN_DIRECTION},
        {0x202e, WRIT_HIDDEN_DIRECTION},
        {0x2060, WRIT_HIDDEN_INVISIBLE},
        {0x2069, WRIT_HIDDEN_DIRECTION},
        {0x2800, WRIT_HIDDEN_INVISIBLE},
        {0x3000, WRIT_HIDDEN_SPACE},
        {0x3164, WRIT_HIDDEN_INVISIBLE},
        {0x4e00, WRIT_HIDDEN_NOT},
        {0xe000, WRIT_HIDDEN_PRIVATE},
        {0xfe00, WRIT_HIDDEN_SELECTOR},
        {0xfe0f, WRIT_HIDDEN_SELECTOR},
        {0xfeff, WRIT_HIDDEN_INVISIBLE},
        {0xfffd, WRIT_HIDDEN_NOT},
        {0xffff, WRIT_HIDDEN_UNASSIGNED},
        {0x1f600, WRIT_HIDDEN_NOT},
        {0xe0000, WRIT_HIDDEN_TAG},
        {0xe0041, WRIT_HIDDEN_TAG},
        {0xe007f, WRIT_HIDDEN_TAG},
        {0xe0100, WRIT_HIDDEN_SELECTOR},
        {0xe01ef, WRIT_HIDDEN_SELECTOR},
        {0x10fffd, WRIT_HIDDEN_PRIVATE},
        {0x10ffff, WRIT_HIDDEN_UNASSIGNED},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ck_assert_msg(writ_hidden_kind(cases[i].point) == cases[i].want, "U+%04X is %d",
            cases[i].point, writ_hidden_kind(cases[i].point));
    }
}
END_TEST

START_TEST(text_with_a_hidden_character_is_detected)
{
    static const char *const hide[] = {
        "a\xe2\x80\x8b", "\xf3\xa0\x81\x81z", "\x1b", "a\nb", "\xc2\xa0", "\xff", "ab\xe2\x80"};
    static const char *const shown[] = {
        "", "plain text", "\xc3\xa9", "\xe6\x97\xa5\xe6\x9c\xac", "\xf0\x9f\x98\x80"};

    for (size_t i = 0; i < sizeof hide / sizeof hide[0]; i++) {
        ck_assert_msg(writ_hidden_in(writ_view_str(hide[i])), "%zu", i);
    }
    for (size_t i = 0; i < sizeof shown / sizeof shown[0]; i++) {
        ck_assert_msg(!writ_hidden_in(writ_view_str(shown[i])), "%zu", i);
    }
}
END_TEST

#define FAMILY "\xf0\x9f\x91\xa8\xe2\x80\x8d\xf0\x9f\x91\xa7" /* two emoji and a joiner */
#define HEART  "\xe2\x9d\xa4\xef\xb8\x8f"                     /* one and its selector */

START_TEST(hidden_strip_removes_invisible_characters)
{
    static const struct {
        const char *text, *want;
        size_t left_out;
    } cases[] = {
        {"", "", 0},
        {"two\nlines\tand\r\n", "two\nlines\tand\r\n", 0},
        {"a\xf3\xa0\x81\x88\xf3\xa0\x81\x89z", "az", 2},
        {"a\xe2\x80\x8b\xe2\x80\x8c\xe2\x80\x8d\xe2\x81\xa0z", "az", 4},
        {"\xe2\x80\xae"
         "drow\xe2\x80\xac",
            "drow", 2},
        {"\x1b[2J", "[2J", 1},
        {"a\xff", "a", 1},
        {"a\xc2\xa0z", "a\xc2\xa0z", 0},
        {FAMILY, FAMILY, 0},
        {HEART, HEART, 0},
        {HEART "\xef\xb8\x8e\xef\xb8\x8f", HEART, 2},
        {"a\xef\xb8\x8f", "a", 1},
        {"\xf0\x9f\x91\xa8\xe2\x80\x8d\xe2\x80\x8d\xf0\x9f\x91\xa7",
            "\xf0\x9f\x91\xa8\xf0\x9f\x91\xa7", 2},
        {"\xd9\x85\xdb\x8c\xe2\x80\x8c\xd8\xae", "\xd9\x85\xdb\x8c\xe2\x80\x8c\xd8\xae", 0},
        {"\xf0\x9f\x91\xa8\xf3\xa0\x84\x80\xf3\xa0\x84\x81", "\xf0\x9f\x91\xa8", 2},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        writ_auto_buf got = writ_buf_make(1000);
        ck_assert_uint_eq(writ_hidden_strip(&got, writ_view_str(cases[i].text)), cases[i].left_out);
        ck_assert_view(writ_buf_view(&got), cases[i].want);
    }
}
END_TEST

START_TEST(hidden_strip_twice_changes_nothing)
{
    static const uint32_t points[] = {
        'a', 0x200d, 0x200c, 0xfe0f, 0x1f468, 0xe0041, 0x627, '\n', 0x202e};
    const size_t n = sizeof points / sizeof points[0];

    for (size_t i = 0; i < n * n * n * n; i++) {
        writ_auto_buf text = writ_buf_make(100), once = writ_buf_make(100);
        writ_auto_buf twice = writ_buf_make(100);
        for (size_t rest = i, k = 0; k < 4; k++, rest /= n) {
            unsigned char utf8[4];
            uint32_t p = points[rest % n];
            size_t len = p < 0x80 ? 1 : p < 0x800 ? 2 : p < 0x10000 ? 3 : 4;
            for (size_t at = len; at-- > 1; p >>= 6) {
                utf8[at] = (unsigned char)(0x80 | (p & 0x3f));
            }
            utf8[0] = (unsigned char)(len == 1 ? p : (0xf00u >> len & 0xff) | p);
            writ_buf_put(&text, writ_view(utf8, len));
        }
        (void)writ_hidden_strip(&once, writ_buf_view(&text));
        ck_assert_msg(writ_hidden_strip(&twice, writ_buf_view(&once)) == 0, "%zu", i);
    }
}
END_TEST

START_TEST(hidden_mark_of_a_character_shows_its_code_point)
{
    static const struct {
        const char *text, *marked;
        size_t marks;
    } rows[] = {
        {"{\"a\":\"plain, \xc3\xa4\"}", "{\"a\":\"plain, \xc3\xa4\"}", 0},
        {"a\xe2\x80\x8b"
         "b",
            "a[U+200B]b", 1},
        {"p\xd0\xb0ypal", "p[U+0430]\xd0\xb0ypal", 1},
        {"\xd0\xbf\xd0\xb0", "\xd0\xbf\xd0\xb0", 0},
        {"\\n\xd0\xbf\xd0\xb0", "\\n\xd0\xbf\xd0\xb0", 0},
        {"\xef\xbd\x81", "[U+FF41]\xef\xbd\x81", 1},
        {"\x7f\xff\t", "[U+007F][?][U+0009]", 3},
        {"\\", "\\", 0},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        writ_auto_buf marked = writ_buf_make(100);
        size_t marks = writ_hidden_mark(&marked, writ_view_str(rows[i].text));

        ck_assert_msg(writ_view_is(writ_buf_view(&marked), rows[i].marked), "%zu", i);
        ck_assert_uint_eq(marks, rows[i].marks);
    }
}
END_TEST

START_TEST(hidden_mark_text_of_a_backslash_takes_it_as_a_character)
{
    static const struct {
        const char *text, *marked;
        size_t marks;
    } rows[] = {
        {"\\n\xd0\xb0me", "\\n[U+0430]\xd0\xb0me", 1},
        {"\\\xe2\x80\x8b", "\\[U+200B]", 1},
        {"a\nb", "a[U+000A]b", 1},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        writ_auto_buf marked = writ_buf_make(100);
        size_t marks = writ_hidden_mark_text(&marked, writ_view_str(rows[i].text));

        ck_assert_msg(writ_view_is(writ_buf_view(&marked), rows[i].marked), "%zu", i);
        ck_assert_uint_eq(marks, rows[i].marks);
    }
}
END_TEST

WRIT_UNIT_MAIN("hidden", hidden_mark_of_a_character_shows_its_code_point,
    hidden_mark_text_of_a_backslash_takes_it_as_a_character, hidden_class_of_a_character_is_unique,
    text_with_a_hidden_character_is_detected, hidden_strip_removes_invisible_characters,
    hidden_strip_twice_changes_nothing)
