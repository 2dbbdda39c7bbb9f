/* pattern.h. More cases of `matches` are in vectors/policy/ops.json (conformance/test_ops.c). */
#include "policy/pattern.h"
#include "support/unit.h"
#include "support/value.h"

static void
pattern_freep(struct writ_pattern **pattern)
{
    writ_pattern_free(*pattern);
}

#define auto_pattern WRIT_AUTO(struct writ_pattern *, pattern_freep)

static struct writ_pattern *
compiled(struct writ_view text)
{
    struct writ_pattern *pattern = NULL;

    ck_assert_ok(writ_pattern_new(text, &pattern, NULL));
    return pattern;
}

static void
put(struct writ_buf *buf, char byte, size_t times)
{
    for (size_t i = 0; i < times; i++) {
        writ_buf_byte(buf, byte);
    }
}

START_TEST(a_faulty_pattern_is_told_with_its_offset)
{
    struct writ_pattern *pattern = NULL;
    struct writ_err err = {0};

    ck_assert_code(writ_pattern_new(WRIT_LIT("ab(c"), &pattern, &err), WRIT_E_PARSE);
    ck_assert_uint_eq(err.offset, 4);
    ck_assert_str_eq(err.text, "missing closing parenthesis at byte 4 of the pattern");
    ck_assert_ptr_null(pattern);
    ck_assert_code(writ_pattern_new(WRIT_LIT("\\C"), &pattern, &err), WRIT_E_PARSE);
    ck_assert_code(writ_pattern_new(WRIT_LIT("\xff"), &pattern, &err), WRIT_E_PARSE);
}
END_TEST

START_TEST(a_pattern_has_a_maximum)
{
    writ_auto_buf text = writ_buf_make(WRIT_PATTERN_MAX + 1);
    struct writ_pattern *pattern = NULL;

    put(&text, 'a', WRIT_PATTERN_MAX);
    writ_pattern_free(compiled(writ_buf_view(&text)));
    put(&text, 'a', 1);
    ck_assert_code(writ_pattern_new(writ_buf_view(&text), &pattern, NULL), WRIT_E_LIMIT);
    ck_assert_code(writ_pattern_new(WRIT_LIT(""), &pattern, NULL), WRIT_E_LIMIT);
    ck_assert_ptr_null(pattern);
}
END_TEST

START_TEST(a_text_has_a_maximum)
{
    writ_auto_arena arena = writ_value_arena();
    auto_pattern pattern = compiled(WRIT_LIT("a*"));
    writ_auto_buf text = writ_buf_make(WRIT_PATTERN_TEXT_MAX + 1);

    put(&text, 'a', WRIT_PATTERN_TEXT_MAX);
    ck_assert_int_eq(writ_pattern_match(pattern, writ_buf_view(&text), arena), WRIT_PATTERN_YES);
    put(&text, 'a', 1);
    ck_assert_int_eq(writ_pattern_match(pattern, writ_buf_view(&text), arena), WRIT_PATTERN_LIMIT);
}
END_TEST

START_TEST(a_match_that_takes_long_has_no_answer)
{
    static const char *const patterns[] = {"(a+)+[bc]", "(a|a)*[bc]", "(a|aa)+[bc]",
        "([a-z]+)*[0-9]", "(.*)(.*)(.*)(.*)(.*)(.*)(.*)[0-9]"};
    writ_auto_arena arena = writ_value_arena();
    writ_auto_buf text = writ_buf_make(1000);

    put(&text, 'a', 200);
    for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++) {
        auto_pattern pattern = compiled(writ_view_str(patterns[i]));
        ck_assert_msg(
            writ_pattern_match(pattern, writ_buf_view(&text), arena) == WRIT_PATTERN_LIMIT, "%s",
            patterns[i]);
    }
}
END_TEST

START_TEST(a_pattern_cannot_raise_its_own_limits)
{
    writ_auto_arena arena = writ_value_arena();
    auto_pattern pattern = compiled(WRIT_LIT(
        "(*LIMIT_MATCH=4000000000)(*LIMIT_DEPTH=4000000000)(*LIMIT_HEAP=4000000)(a+)+[bc]"));
    auto_pattern interpreted =
        compiled(WRIT_LIT("(*NO_JIT)(*LIMIT_MATCH=4000000000)(*LIMIT_HEAP=4000000)(a+)+[bc]"));
    writ_auto_buf text = writ_buf_make(1000);

    put(&text, 'a', 200);
    ck_assert_int_eq(writ_pattern_match(pattern, writ_buf_view(&text), arena), WRIT_PATTERN_LIMIT);
    ck_assert_int_eq(
        writ_pattern_match(interpreted, writ_buf_view(&text), arena), WRIT_PATTERN_LIMIT);
}
END_TEST

START_TEST(deep_recursion_has_no_answer)
{
    writ_auto_arena arena = writ_value_arena();
    auto_pattern pattern = compiled(WRIT_LIT("(\\((?1)*\\))"));
    auto_pattern interpreted = compiled(WRIT_LIT("(*NO_JIT)(\\((?1)*\\))"));
    writ_auto_buf text = writ_buf_make(WRIT_PATTERN_TEXT_MAX);

    put(&text, '(', WRIT_PATTERN_TEXT_MAX / 2);
    put(&text, ')', WRIT_PATTERN_TEXT_MAX / 2);
    ck_assert_int_eq(writ_pattern_match(pattern, writ_buf_view(&text), arena), WRIT_PATTERN_LIMIT);
    ck_assert_int_eq(
        writ_pattern_match(interpreted, writ_buf_view(&text), arena), WRIT_PATTERN_LIMIT);
}
END_TEST

START_TEST(without_memory_there_is_no_answer)
{
    struct writ_arena *arena = writ_arena_new(64);
    auto_pattern pattern = compiled(WRIT_LIT("a"));

    ck_assert_int_eq(writ_pattern_match(pattern, WRIT_LIT("a"), arena), WRIT_PATTERN_LIMIT);
    writ_arena_free(arena);
}
END_TEST

START_TEST(freeing_nothing_does_nothing)
{
    writ_pattern_free(NULL);
}
END_TEST

WRIT_UNIT_MAIN("pattern", a_faulty_pattern_is_told_with_its_offset, a_pattern_has_a_maximum,
    a_text_has_a_maximum, a_match_that_takes_long_has_no_answer,
    a_pattern_cannot_raise_its_own_limits, deep_recursion_has_no_answer,
    without_memory_there_is_no_answer, freeing_nothing_does_nothing)
