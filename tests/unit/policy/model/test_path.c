/* path.h: a path that some software reads as leaving its directory is devious. The cases of
 * `under` are in vectors/policy/ops.json (conformance/test_ops.c). */
#include "policy/model/path.h"
#include "support/unit.h"

START_TEST(path_directory_must_be_absolute_and_normal)
{
    static const struct {
        const char *path;
        bool normal;
    } cases[] = {{"/", true}, {"/a", true}, {"/a/b.c", true}, {"/a/...", true}, {"", false},
        {"a", false}, {"./a", false}, {"/a/", false}, {"//a", false}, {"/a//b", false},
        {"/a/.", false}, {"/./a", false}, {"/a/..", false}, {"/../a", false}, {"/a\\b", false},
        {"/a\nb", false}, {"/a\x7f", false}, {"/a\xc2\x85", false}};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ck_assert_msg(writ_path_is_normal(writ_view_str(cases[i].path)) == cases[i].normal, "%s",
            cases[i].path);
    }
}
END_TEST

START_TEST(path_with_dot_dot_backslash_or_control_is_devious)
{
    static const struct {
        struct writ_view text;
        bool devious;
    } cases[] = {{{"a/b", 3}, false}, {{"", 0}, false}, {{"..a", 3}, false}, {{"a..", 3}, false},
        {{"...", 3}, false}, {{".", 1}, false}, {{"..", 2}, true}, {{"../a", 4}, true},
        {{"a/..", 4}, true}, {{"a/../b", 6}, true}, {{"a\\b", 3}, true}, {{"a\0b", 3}, true},
        {{"a/%2e%2E/b", 10}, true}, {{"\xe2\x80\xa5/b", 5}, true}, {{"\xef\xb8\xb0", 3}, true},
        {{"a/.\xe2\x80\x8b.", 7}, true}, {{"a/%e2%80%a5", 11}, true},
        {{"a/%25e2%2580%25a5", 17}, true}, {{"a/.%u200b.", 10}, true},
        {{"a\xef\xbc\x8f..", 6}, true}, {{"\xe2\x80\xa6", 3}, false}, {{"caf\xc3\xa9", 5}, false},
        {{"\x1f", 1}, true}, {{"\x20", 1}, false}, {{"\xc2\x9f", 2}, true},
        {{"\xc2\xa0", 2}, false}};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ck_assert_msg(writ_path_is_devious(cases[i].text) == cases[i].devious, "case %zu", i);
    }
}
END_TEST

static const struct writ_view d = {"/d", 2};

START_TEST(path_under_needs_one_containing_directory)
{
    static const struct writ_view directories[] = {{"/a/b", 4}, {"/d", 2}, {"/e", 2}};

    ck_assert(writ_path_is_under(WRIT_LIT("/d/x"), directories, 3));
    ck_assert(writ_path_is_under(WRIT_LIT("/a/./b//x"), directories, 3));
    ck_assert(!writ_path_is_under(WRIT_LIT("/a/x"), directories, 3));
    ck_assert(!writ_path_is_under(WRIT_LIT("/e/../d"), directories, 3));
    ck_assert(!writ_path_is_under(WRIT_LIT("/d/x"), directories, 1));
    ck_assert(!writ_path_is_under(WRIT_LIT("/d/x"), directories, 0));
}
END_TEST

START_TEST(path_with_an_encoded_dot_dot_is_devious)
{
    static const char *const cases[] = {".. ", " ..", "..+", ".. .", "... ", ". .", "..;", "..;a=b",
        ".. ;", "..:$DATA", "..::$INDEX_ALLOCATION", "..?", "..#x", "..%20", "..%3b", "..%3a$DATA",
        "..\xef\xbc\x9b", "..\xe3\x80\x80", "..\xe2\xa9\xb4", "..\xe2\x81\x87", "&#46;&#46;",
        "&#46&#046", "&#x2e;&#X2E;", "&period;.", "..&sol;", "..&bsol;x", ".&shy.", "&nldr;",
        "..&semi;", "&amp;#46;.", "%26%2346;.", "a&#0;", "a&Tab;", "a&#133;"};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        writ_auto_buf inside = writ_buf_make(64);

        ck_assert_msg(writ_path_is_devious(writ_view_str(cases[i])), "%s", cases[i]);
        writ_buf_fmt(&inside, "a/%s/b", cases[i]);
        ck_assert_msg(writ_path_is_devious(writ_buf_view(&inside)), "%s inside", cases[i]);
    }
}
END_TEST

START_TEST(names_with_dots_separators_or_entities_are_not_devious)
{
    static const char *const cases[] = {"notes.", "notes ", "v1..v2", "a;b", "a:b", "..a;b", "...",
        "....", "...;x", ".. a", ". x .", ". ", ".;x", "a?b", "#1", "C++", "+", "R&D", "R&D;x", "&",
        "&#", "&#x;", "&#65;", "a&amp;b", "a&#46;b", "&hellip;", "&period;x", "&nosuch;&nosuch;",
        "&#99999999999999999999;", "&ic&ic", "%26"};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ck_assert_msg(!writ_path_is_devious(writ_view_str(cases[i])), "%s", cases[i]);
    }
}
END_TEST

START_TEST(path_with_an_ampersand_that_is_no_entity_is_not_devious)
{
    writ_auto_buf text = writ_buf_make(WRIT_PATH_MAX + 16);

    writ_buf_str(&text, "a&b=c&");
    while (text.len <= WRIT_PATH_MAX) {
        writ_buf_byte(&text, 'x');
    }
    ck_assert(!writ_path_is_devious(writ_buf_view(&text)));
    writ_buf_str(&text, "&#46;");
    ck_assert(writ_path_is_devious(writ_buf_view(&text)));
}
END_TEST

START_TEST(path_beyond_the_maximum_is_refused)
{
    writ_auto_buf path = writ_buf_make(WRIT_PATH_MAX + 1);

    writ_buf_str(&path, "/d/");
    while (path.len < WRIT_PATH_MAX) {
        writ_buf_byte(&path, 'x');
    }
    ck_assert(writ_path_is_under(writ_buf_view(&path), &d, 1));
    ck_assert(writ_path_is_normal(writ_buf_view(&path)));
    writ_buf_byte(&path, 'x');
    ck_assert(!writ_path_is_under(writ_buf_view(&path), &d, 1));
    ck_assert(!writ_path_is_normal(writ_buf_view(&path)));
}
END_TEST

START_TEST(escapes_nested_more_than_four_deep_are_refused)
{
    ck_assert(writ_path_is_under(WRIT_LIT("/d/%252525"), &d, 1));
    ck_assert(!writ_path_is_under(WRIT_LIT("/d/%2525252525"), &d, 1));
    ck_assert(writ_path_is_under(WRIT_LIT("/d/&amp;amp;amp;"), &d, 1));
    ck_assert(!writ_path_is_under(WRIT_LIT("/d/&amp;amp;amp;amp;amp;"), &d, 1));
}
END_TEST

WRIT_UNIT_MAIN("path", path_directory_must_be_absolute_and_normal,
    path_with_dot_dot_backslash_or_control_is_devious, path_with_an_encoded_dot_dot_is_devious,
    names_with_dots_separators_or_entities_are_not_devious,
    path_with_an_ampersand_that_is_no_entity_is_not_devious,
    path_under_needs_one_containing_directory, path_beyond_the_maximum_is_refused,
    escapes_nested_more_than_four_deep_are_refused)
