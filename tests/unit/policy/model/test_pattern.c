/* pattern.h: faulty patterns are reported, limits hold, and a search that hits one has no answer.
 * More cases of `matches` are in vectors/policy/ops.json (conformance/test_ops.c). */
#include "policy/model/pattern.h"
#include "support/unit.h"
#include "support/evidence/value.h"

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

START_TEST(faulty_pattern_is_reported_with_its_offset)
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

START_TEST(pattern_beyond_the_maximum_is_refused)
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

START_TEST(pattern_match_of_a_text_beyond_the_maximum_has_no_answer)
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

START_TEST(pattern_match_beyond_its_limit_has_no_answer)
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

START_TEST(pattern_new_cannot_raise_its_own_limits)
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

START_TEST(pattern_match_without_memory_has_no_answer)
{
    struct writ_arena *arena = writ_arena_new(64);
    auto_pattern pattern = compiled(WRIT_LIT("a"));

    ck_assert_int_eq(writ_pattern_match(pattern, WRIT_LIT("a"), arena), WRIT_PATTERN_LIMIT);
    writ_arena_free(arena);
}
END_TEST

START_TEST(pattern_free_of_null_does_nothing)
{
    writ_pattern_free(NULL);
}
END_TEST

static struct writ_pattern *
searching(struct writ_view text)
{
    struct writ_pattern *pattern = NULL;

    ck_assert_ok(writ_pattern_new_search(text, &pattern, NULL));
    return pattern;
}

static struct writ_pattern_budget
plenty(size_t matches)
{
    return (struct writ_pattern_budget){
        .matches = matches, .clock = writ_clock_system(), .until_us = INT64_MAX};
}

START_TEST(pattern_replace_changes_every_match_only)
{
    static const struct {
        const char *pattern, *text, *with, *want; /* want NULL: no match */
    } cases[] = {
        {"b+", "abbbcb", "-", "a-c-"},
        {"a|b", "ab", "", ""},
        {"\\bx\\b", "xx x", "y", "xx y"},
        {"^a", "aa", "$0", "$0a"},
        {"a$", "a\n", "x", NULL},
        {"\\w", "\xc3\xa9!", "x", "x!"},
        {"(?<=a)b", "ab", "c", "ac"},
        {"x", "", "y", NULL},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        auto_pattern pattern = searching(writ_view_str(cases[i].pattern));
        writ_auto_buf got = writ_buf_make(64);
        struct writ_pattern_budget left = plenty(9);
        enum writ_pattern_answer answer = writ_pattern_replace(
            pattern, writ_view_str(cases[i].text), writ_view_str(cases[i].with), &left, &got);
        ck_assert_int_eq(answer, cases[i].want != NULL ? WRIT_PATTERN_YES : WRIT_PATTERN_NO);
        ck_assert_view(writ_buf_view(&got), cases[i].want != NULL ? cases[i].want : cases[i].text);
    }
}
END_TEST

START_TEST(pattern_new_search_of_a_pattern_that_matches_empty_text_is_refused)
{
    struct writ_pattern *pattern = NULL;
    struct writ_err err = {0};

    ck_assert_code(writ_pattern_new_search(WRIT_LIT("a*"), &pattern, &err), WRIT_E_INVALID);
    ck_assert_code(writ_pattern_new_search(WRIT_LIT("a|"), &pattern, &err), WRIT_E_INVALID);
    ck_assert_ptr_null(pattern);
}
END_TEST

START_TEST(pattern_replace_beyond_a_limit_has_no_answer)
{
    auto_pattern slow = searching(WRIT_LIT("(a+)+b(?=x)"));
    auto_pattern letter = searching(WRIT_LIT("a"));
    writ_auto_buf text = writ_buf_make(WRIT_PATTERN_FIND_MAX + 1);
    writ_auto_buf got = writ_buf_make(WRIT_PATTERN_FIND_MAX + 1);
    writ_auto_buf small = writ_buf_make(2);
    struct writ_pattern_budget left = plenty(3);

    put(&text, 'a', 60);
    writ_buf_byte(&text, 'b');
    ck_assert_int_eq(writ_pattern_replace(slow, writ_buf_view(&text), WRIT_LIT(""), &left, &got),
        WRIT_PATTERN_LIMIT);
    left = plenty(3);
    ck_assert_int_eq(writ_pattern_replace(letter, WRIT_LIT("aaa"), WRIT_LIT("x"), &left, &got),
        WRIT_PATTERN_YES);
    ck_assert_uint_eq(left.matches, 0);
    ck_assert_int_eq(writ_pattern_replace(letter, WRIT_LIT("a"), WRIT_LIT("x"), &left, &got),
        WRIT_PATTERN_LIMIT);
    left = plenty(9);
    ck_assert_int_eq(writ_pattern_replace(letter, WRIT_LIT("aaa"), WRIT_LIT("x"), &left, &small),
        WRIT_PATTERN_LIMIT);
    writ_buf_clear(&text);
    put(&text, 'b', WRIT_PATTERN_FIND_MAX + 1);
    ck_assert_int_eq(writ_pattern_replace(letter, writ_buf_view(&text), WRIT_LIT(""), &left, &got),
        WRIT_PATTERN_LIMIT);
    writ_buf_clear(&got);
    ck_assert_int_eq(
        writ_pattern_replace(letter, writ_view_sub(writ_buf_view(&text), 0, WRIT_PATTERN_FIND_MAX),
            WRIT_LIT(""), &left, &got),
        WRIT_PATTERN_NO);
}
END_TEST

START_TEST(pattern_replace_in_a_long_text_finds_every_match)
{
    static const char *const fillers[] = {"b", "\xc3\xa9", "\xf0\x9f\x98\x80"};
    auto_pattern pattern = searching(WRIT_LIT("(?<=.)aX?c"));

    for (size_t f = 0; f < sizeof fillers / sizeof fillers[0]; f++) {
        for (size_t at = WRIT_PATTERN_SLICE - 6; at < WRIT_PATTERN_SLICE + 6; at++) {
            writ_auto_buf text = writ_buf_make(4096), got = writ_buf_make(4096);
            struct writ_pattern_budget budget = plenty(9);

            while (text.len < at) {
                writ_buf_str(&text, fillers[f]);
            }
            writ_buf_str(&text, "aXc");
            put(&text, 'z', WRIT_PATTERN_SLICE);
            ck_assert_int_eq(
                writ_pattern_replace(pattern, writ_buf_view(&text), WRIT_LIT("<>"), &budget, &got),
                WRIT_PATTERN_YES);
            ck_assert_uint_eq(got.len, text.len - 1);
            ck_assert_uint_eq(budget.matches, 8);
        }
    }
}
END_TEST

/* A millisecond passes at each call. */
static int64_t
tick(void *ctx)
{
    int64_t *now_us = ctx;

    return *now_us += 1000;
}

START_TEST(pattern_replace_beyond_its_time_has_no_answer)
{
    auto_pattern pattern = searching(WRIT_LIT("x"));
    writ_auto_buf text = writ_buf_make(4 * WRIT_PATTERN_SLICE),
                  got = writ_buf_make(4 * WRIT_PATTERN_SLICE);
    int64_t now_us = 0;
    const struct writ_clock clock = {.wall_us = tick, .mono_us = tick, .ctx = &now_us};
    struct writ_pattern_budget budget = {.matches = 9, .clock = &clock, .until_us = 3000};

    put(&text, 'a', 2 * WRIT_PATTERN_SLICE); /* two readings of the clock */
    ck_assert_int_eq(
        writ_pattern_replace(pattern, writ_buf_view(&text), WRIT_LIT(""), &budget, &got),
        WRIT_PATTERN_NO);
    now_us = 0;
    writ_buf_clear(&got); /* only the clock is to refuse */
    put(&text, 'a', 1);   /* three */
    ck_assert_int_eq(
        writ_pattern_replace(pattern, writ_buf_view(&text), WRIT_LIT(""), &budget, &got),
        WRIT_PATTERN_LIMIT);
}
END_TEST

WRIT_UNIT_MAIN("pattern", pattern_replace_in_a_long_text_finds_every_match,
    pattern_replace_beyond_its_time_has_no_answer, pattern_replace_changes_every_match_only,
    pattern_new_search_of_a_pattern_that_matches_empty_text_is_refused,
    pattern_replace_beyond_a_limit_has_no_answer, faulty_pattern_is_reported_with_its_offset,
    pattern_beyond_the_maximum_is_refused, pattern_match_of_a_text_beyond_the_maximum_has_no_answer,
    pattern_match_beyond_its_limit_has_no_answer, pattern_new_cannot_raise_its_own_limits,
    deep_recursion_has_no_answer, pattern_match_without_memory_has_no_answer,
    pattern_free_of_null_does_nothing)
