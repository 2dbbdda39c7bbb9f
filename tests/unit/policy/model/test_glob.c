/* glob.h: faulty patterns are reported, and a match that would take long has no answer. More cases
 * of `glob` are in vectors/policy/ops.json (conformance/test_ops.c). */
#include "policy/model/glob.h"
#include "support/unit.h"

START_TEST(faulty_patterns_are_reported)
{
    static const struct {
        const char *pattern;
        bool good;
    } cases[] = {{"a", true}, {"*", true}, {"**", true}, {"a**b", true}, {"[a]", true},
        {"[!a-z_]", true}, {"[]a]", true}, {"[]]", true}, {"[a-]", true}, {"\\[", true},
        {"\\\\", true}, {"", false}, {"[", false}, {"[]", false}, {"[a", false}, {"a[!", false},
        {"[z-a]", false}, {"\\", false}, {"a\\", false}, {"***", false}, {"a****", false},
        {"\xff", false}};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *fault = writ_glob_fault(writ_view_str(cases[i].pattern));
        ck_assert_msg((fault == NULL) == cases[i].good, "%s: %s", cases[i].pattern,
            fault != NULL ? fault : "no fault");
    }
}
END_TEST

START_TEST(some_patterns_span_slashes)
{
    ck_assert(writ_glob_spans(WRIT_LIT("a/b")));
    ck_assert(writ_glob_spans(WRIT_LIT("**")));
    ck_assert(!writ_glob_spans(WRIT_LIT("a*b?[c]")));
    ck_assert(!writ_glob_spans(WRIT_LIT("\\*\\*")));
    ck_assert(writ_glob_spans(WRIT_LIT("a\\/b")));
}
END_TEST

static void
put(struct writ_buf *buf, const char *text, size_t times)
{
    for (size_t i = 0; i < times; i++) {
        writ_buf_str(buf, text);
    }
}

START_TEST(glob_pattern_beyond_the_maximum_is_refused)
{
    writ_auto_buf pattern = writ_buf_make(WRIT_GLOB_MAX + 1);

    put(&pattern, "a", WRIT_GLOB_MAX);
    ck_assert_ptr_null(writ_glob_fault(writ_buf_view(&pattern)));
    put(&pattern, "a", 1);
    ck_assert_ptr_nonnull(writ_glob_fault(writ_buf_view(&pattern)));
}
END_TEST

START_TEST(glob_text_beyond_the_maximum_has_no_answer)
{
    writ_auto_buf text = writ_buf_make(WRIT_GLOB_TEXT_MAX + 1);

    put(&text, "a", WRIT_GLOB_TEXT_MAX);
    ck_assert_int_eq(writ_glob_match(WRIT_LIT("a*"), writ_buf_view(&text)), WRIT_GLOB_YES);
    put(&text, "a", 1);
    ck_assert_int_eq(writ_glob_match(WRIT_LIT("a*"), writ_buf_view(&text)), WRIT_GLOB_LIMIT);
}
END_TEST

START_TEST(glob_match_beyond_its_steps_has_no_answer)
{
    writ_auto_buf text = writ_buf_make(WRIT_GLOB_TEXT_MAX);

    put(&text, "a", 30000);
    ck_assert_int_eq(writ_glob_match(WRIT_LIT("**aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab"),
                         writ_buf_view(&text)),
        WRIT_GLOB_LIMIT);
}
END_TEST

/* Matches by trying everything: slow, and obviously right. Literals, ?, * and ** alone. */
static bool
reference(struct writ_view p, struct writ_view t)
{
    if (p.len == 0) {
        return t.len == 0;
    }
    if (p.ptr[0] == '*') {
        bool span = p.len > 1 && p.ptr[1] == '*';
        struct writ_view rest = writ_view_sub(p, span ? 2 : 1, p.len);
        for (size_t taken = 0; taken <= t.len; taken++) {
            if (reference(rest, writ_view_sub(t, taken, t.len))) {
                return true;
            }
            if (taken < t.len && t.ptr[taken] == '/' && !span) {
                return false;
            }
        }
        return false;
    }
    return t.len > 0 && (p.ptr[0] == '?' ? t.ptr[0] != '/' : p.ptr[0] == t.ptr[0]) &&
           reference(writ_view_sub(p, 1, p.len), writ_view_sub(t, 1, t.len));
}

/* The n-th word over the letters. */
static void
word(size_t n, struct writ_view letters, size_t len, struct writ_buf *ret)
{
    writ_buf_clear(ret);
    for (size_t i = 0; i < len; i++, n /= letters.len) {
        writ_buf_byte(ret, letters.ptr[n % letters.len]);
    }
}

START_TEST(glob_match_of_short_patterns_agrees_with_brute_force)
{
    writ_auto_buf pattern = writ_buf_make(100), text = writ_buf_make(100);
    size_t patterns = 0;

    for (size_t p = 0; p < 3125; p++) { /* 5^5 */
        word(p, WRIT_LIT("a*/b?"), 5, &pattern);
        if (writ_glob_fault(writ_buf_view(&pattern)) != NULL) {
            continue;
        }
        patterns++;
        for (size_t t = 0; t < 729; t++) { /* 3^6 */
            word(t, WRIT_LIT("ab/"), 6, &text);
            for (size_t len = 3; len <= 6; len += 3) {
                struct writ_view view = writ_view_sub(writ_buf_view(&text), 0, len);
                bool want = reference(writ_buf_view(&pattern), view);
                ck_assert_msg(
                    (writ_glob_match(writ_buf_view(&pattern), view) == WRIT_GLOB_YES) == want,
                    "%.*s on %.*s", WRIT_VIEW_ARG(writ_buf_view(&pattern)), WRIT_VIEW_ARG(view));
            }
        }
    }
    ck_assert_uint_gt(patterns, 2500);
}
END_TEST

WRIT_UNIT_MAIN("glob", faulty_patterns_are_reported, some_patterns_span_slashes,
    glob_pattern_beyond_the_maximum_is_refused, glob_text_beyond_the_maximum_has_no_answer,
    glob_match_beyond_its_steps_has_no_answer, glob_match_of_short_patterns_agrees_with_brute_force)
