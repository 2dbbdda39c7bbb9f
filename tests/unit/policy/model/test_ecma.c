/* ecma.h: a pattern of a schema matches the same texts as a pattern of `matches`, or is refused. */
#include "policy/model/ecma.h"

#include "policy/model/pattern.h"
#include "support/evidence/value.h"
#include "support/unit.h"

#define PATTERN_MAX 4096

static bool
matches(const char *ecma, struct writ_view text)
{
    writ_auto_buf pattern = writ_buf_make(PATTERN_MAX);
    writ_auto_arena arena = writ_value_arena();
    struct writ_pattern *compiled = NULL;
    enum writ_pattern_answer answer;

    ck_assert_msg(writ_ecma_pattern(writ_view_str(ecma), &pattern), "%s", ecma);
    ck_assert_ok(writ_pattern_new(writ_buf_view(&pattern), &compiled, NULL));
    answer = writ_pattern_match(compiled, text, arena);
    writ_pattern_free(compiled);
    ck_assert_int_ne(answer, WRIT_PATTERN_LIMIT);
    return answer == WRIT_PATTERN_YES;
}

START_TEST(ecma_pattern_matches_as_in_ecmascript)
{
    static const struct {
        const char *ecma, *yes, *no;
    } cases[] = {
        {"^[a-z]+$", "abc", "abc\n"},
        {"b", "abc", "ac"},
        {"^a", "ab", "ba"},
        {"a$", "ba", "a\n"},
        {"^a|b$", "axx", "xbx"},
        {"^a\\$", "a$b", "ab"},
        {"^\\d{3}$", "123", "\u0661\u0662\u0663"},
        {"^\\w+$", "a_1", "\u00e4"},
        {"^\\D$", "\u0661", "1"},
        {"^[\\w.-]+$", "a.b-c", "a b"},
        {"^\\s$", "\u00a0", "x"},
        {"^\\S+$", "ab", "a b"},
        {"^.$", "x", "\r"},
        {"^.$", "\u00e4", "\u2028"},
        {"^\\u0041\\x42$", "AB", "ab"},
        {"^(a|b)+?$", "abab", "c"},
        {"^(?:a)(?=b)b$", "ab", "a"},
        {"^a(?!b).$", "ac", "ab"},
        {"^[[]$", "[", "]"},
        {"^[^a]$", "b", "a"},
        {"^[\\w-~]+$", "a-~", "|"},
        {"^[\\w-.]+$", "a-.", "/"},
        {"^[!-\\d]+$", "!-5", "/"},
        {"^[\\d-a]+$", "1-a", "b"},
        {"^[a-c-\\d]+$", "b-1", "d"},
        {"^[\\d-\\s]+$", "1- ", "a"},
        {"^[-\\d]+$", "-1", "/"},
        {"^[+--]+$", ",", "a"},
        {"^a\\/b\\-c\\.$", "a/b-c.", "a/b-cx"},
        {"^x{2,3}$", "xx", "x"},
        {"^x{2,}$", "xxxx", "x"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ck_assert_msg(
            matches(cases[i].ecma, writ_view_str(cases[i].yes)), "%s: yes", cases[i].ecma);
        ck_assert_msg(!matches(cases[i].ecma, writ_view_str(cases[i].no)), "%s: no", cases[i].ecma);
    }
}
END_TEST

START_TEST(ecma_pattern_with_another_meaning_is_refused)
{
    static const char *const refused[] = {"(", "[", "[]", "[^]", "a**", "a++", "a{,3}", "a{",
        "a{x}", "a{1", "]", "}", "(?i)a", "(?<n>a)\\k<n>", "(a)\\1", "\\Qa\\E", "\\K", "\\h", "\\b",
        "\\p{Script=Greek}", "\\uD83D", "\\u{1F600}", "\\u12", "[\\D]", "[\\d-a-z]", "(*FAIL)",
        "(?#a)", "(?>a)", "\\"};

    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        writ_auto_buf pattern = writ_buf_make(PATTERN_MAX);
        ck_assert_msg(!writ_ecma_pattern(writ_view_str(refused[i]), &pattern), "%s", refused[i]);
    }
}
END_TEST

START_TEST(ecma_pattern_above_the_limit_is_refused)
{
    writ_auto_buf text = writ_buf_make(2 * PATTERN_MAX), pattern = writ_buf_make(PATTERN_MAX);

    writ_buf_byte(&text, '^');
    for (int i = 0; i < PATTERN_MAX - 4; i++) {
        writ_buf_byte(&text, 'a');
    }
    writ_buf_byte(&text, '$');
    ck_assert(writ_ecma_pattern(writ_buf_view(&text), &pattern));
    writ_buf_clear(&pattern);
    writ_buf_cut(&text, text.len - 1);
    writ_buf_str(&text, "aa$");
    ck_assert(!writ_ecma_pattern(writ_buf_view(&text), &pattern));
}
END_TEST

WRIT_UNIT_MAIN("ecma", ecma_pattern_matches_as_in_ecmascript,
    ecma_pattern_with_another_meaning_is_refused, ecma_pattern_above_the_limit_is_refused)
