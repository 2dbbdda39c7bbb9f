/* apart.h: lines of rules alone are marked, in blocks, in brackets and in JSON; and what a
 * difference that may show only these shows. */
#include "policy/read/unified.h"
#include "policy/why/apart.h"
#include "support/unit.h"

#define ARENA_MAX ((size_t)1 << 20)

/* Of each line: x, it may be shown. */
static const struct {
    const char *text, *lines;
} files[] = {
    {"a: 1\ntools:\n  x: {b: 1}\n  y:\n    c: 2 # why\nd: e\n", ".xxxx."},
    {"tools: # rules\n  x: 1\n\n  y: 2\n# behind\n", "xxxx."},
    {"a: b\ntools: {x: 1,\n  y: 2} # rules\nagreed: true\n", ".xxx"},
    {"a: 1\r\ntools: {x: 1}\r\n", ".."},
    {"{\"a\": 1, \"tools\": {\"x\": 1}}", "."},
    {"{\"a\": 1,\n \"tools\": {\n  \"x\": 1\n },\n \"b\": 2}\n", ".xxx."},
    {"{\"a\": 1,\n \"tools\": {\n  \"x\": 1\n }, \"b\": 2}\n", ".xx."},
    {"{\"a\": 1,\n \"b\": 2, \"tools\": {\n  \"x\": 1\n }}\n", "...."},
    {"{\n\"tools\":\n{\"x\": 1}\n}", ".xx."},
    {"a: {tools: {x: 1}}\nb: |\n  tools:\n    x: 1\n", "...."},
    {"agreed: false\nupstreams: {a: 1}\n", "x."},
    {"a: 1\n", "."},
    {"a: [1\n", "."},
    {"", ""},
};

START_TEST(apart_lines_marks_lines_of_rules_and_no_other)
{
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        writ_auto_arena arena = writ_arena_new(ARENA_MAX);
        const bool *lines = writ_apart_lines(writ_view_str(files[i].text), arena);

        ck_assert_ptr_nonnull(lines);
        for (size_t at = 0; files[i].lines[at] != '\0'; at++) {
            ck_assert_msg(
                lines[at] == (files[i].lines[at] == 'x'), "file %zu, line %zu", i, at + 1);
        }
    }
}
END_TEST

/* A file, a changed one, the lines that may be shown, and its difference; NULL: it is not shown. */
static const struct {
    const char *before, *after, *lines, *difference;
} edits[] = {
    {"a\nb\nc\n", "a\nB\nc\n", "xxx", "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n"},
    {"a\nb\nc\n", "a\nB\nc\n", ".xx", "@@ -2,1 +2,1 @@\n-b\n+B\n"},
    {"a\nb\nc\n", "a\nB\nc\n", "xx.", "@@ -2,1 +2,1 @@\n-b\n+B\n"},
    {"a\nb\nc\n", "a\nB\nc\n", "x.x", NULL},
    {"a\nb\nc\n", "a\nb\nc\nd\n", "...", "@@ -3,0 +4,1 @@\n+d\n"},
    {"a\nb\nc\n", "a\nx\nb\nc\ny\n", "xx.", "@@ -1,0 +2,1 @@\n+x\n@@ -3,0 +5,1 @@\n+y\n"},
    {"a\nb\n", "b\n", ".x", NULL},
    {"a\nb", "a\nb\nc\n", "x.", NULL},
    {"a\nb", "a\nb\nc\n", "xx", "@@ -1,2 +1,3 @@\n a\n-b\n\\ No newline at end of file\n+b\n+c\n"},
    {"a\n", "a\n", ".", ""},
};

START_TEST(unified_put_of_lines_that_may_be_shown_shows_no_other)
{
    for (size_t i = 0; i < sizeof edits / sizeof edits[0]; i++) {
        writ_auto_arena arena = writ_arena_new(ARENA_MAX);
        writ_auto_buf text = writ_buf_make(ARENA_MAX);
        bool may[8] = {false}, shown;
        struct writ_unified texts = {.file = WRIT_LIT("f"),
            .before = writ_view_str(edits[i].before),
            .after = writ_view_str(edits[i].after),
            .may_show = may};

        for (size_t at = 0; edits[i].lines[at] != '\0'; at++) {
            may[at] = edits[i].lines[at] == 'x';
        }
        shown = writ_unified_put(&text, &texts, arena);
        ck_assert_msg(shown == (edits[i].difference != NULL), "edit %zu", i);
        ck_assert_ok(writ_buf_check(&text, NULL));
        if (shown && edits[i].difference[0] != '\0') {
            struct writ_view hunks = writ_view_sub(writ_buf_view(&text), 12, text.len);
            ck_assert_view(hunks, edits[i].difference);
        } else {
            ck_assert_uint_eq(text.len, 0);
        }
    }
}
END_TEST

WRIT_UNIT_MAIN("apart", apart_lines_marks_lines_of_rules_and_no_other,
    unified_put_of_lines_that_may_be_shown_shows_no_other)
