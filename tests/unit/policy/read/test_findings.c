/* The list of findings. They are printed in the order of lines, one line each, and those beyond
 * the maximum are counted. */
#include "policy/read/findings.h"
#include "support/unit.h"

static void
add(struct writ_findings *findings, enum writ_severity severity, size_t line, const char *pointer,
    const char *message)
{
    writ_findings_add(findings, severity, line, writ_view_str(pointer), "%s", message);
}

static void
assert_printed(const struct writ_findings *findings, const char *want)
{
    writ_auto_buf text = writ_buf_make(1 << 20);

    writ_findings_put(findings, WRIT_LIT("f"), &text);
    ck_assert_view(writ_buf_view(&text), want);
}

START_TEST(findings_are_printed_in_the_order_of_lines)
{
    WRIT_AUTO(struct writ_findings, writ_findings_wipe) findings = {0};

    add(&findings, WRIT_SEVERITY_ERROR, 3, "/b", "second");
    add(&findings, WRIT_SEVERITY_WARNING, 1, "/a", "first");
    add(&findings, WRIT_SEVERITY_ERROR, 3, "/c", "third");
    add(&findings, WRIT_SEVERITY_ERROR, 0, "", "the whole file");
    writ_findings_sort(&findings);
    ck_assert_uint_eq(findings.errors, 3);
    ck_assert_uint_eq(findings.warnings, 1);
    assert_printed(&findings, "f: the whole file\nf:1: /a: warning: first\nf:3: /b: second\n"
                              "f:3: /c: third\n");
}
END_TEST

START_TEST(finding_with_any_quoted_text_is_one_line)
{
    WRIT_AUTO(struct writ_findings, writ_findings_wipe) findings = {0};

    add(&findings, WRIT_SEVERITY_ERROR, 1, "/x\ny", "a\nb\r\x1b[2J\x7f");
    assert_printed(&findings, "f:1: /x\\u000ay: a?b??[2J?\n");
    ck_assert_view(findings.items[0].pointer, "/x\ny"); /* whole, for a writer of JSON */
}
END_TEST

START_TEST(findings_beyond_the_maximum_are_counted)
{
    WRIT_AUTO(struct writ_findings, writ_findings_wipe) findings = {0};

    for (size_t i = 0; i < WRIT_FINDINGS_MAX; i++) {
        add(&findings, WRIT_SEVERITY_ERROR, i + 1, "", "x");
    }
    ck_assert_uint_eq(findings.n, WRIT_FINDINGS_MAX);
    add(&findings, WRIT_SEVERITY_ERROR, 1, "", "not kept");
    ck_assert_uint_eq(findings.n, WRIT_FINDINGS_MAX);
    ck_assert_uint_eq(findings.errors, WRIT_FINDINGS_MAX + 1);
}
END_TEST

START_TEST(dropped_findings_are_counted)
{
    WRIT_AUTO(struct writ_findings, writ_findings_wipe) findings = {0};
    writ_auto_buf text = writ_buf_make(1 << 20);

    for (size_t i = 0; i < WRIT_FINDINGS_MAX + 5; i++) {
        add(&findings, WRIT_SEVERITY_WARNING, 1, "", "x");
    }
    writ_findings_put(&findings, WRIT_LIT("f"), &text);
    ck_assert(writ_view_has_suffix(writ_buf_view(&text), WRIT_LIT("f: and 5 more\n")));
}
END_TEST

START_TEST(findings_add_without_memory_is_counted)
{
    WRIT_AUTO(struct writ_findings, writ_findings_wipe) findings = {0};

    writ_fault_arm(1);
    add(&findings, WRIT_SEVERITY_ERROR, 1, "", "x");
    ck_assert(writ_fault_disarm());
    ck_assert_uint_eq(findings.n, 0);
    ck_assert_uint_eq(findings.errors, 1);
}
END_TEST

START_TEST(findings_wipe_of_a_zeroed_value_does_nothing)
{
    struct writ_findings findings = {0};

    writ_findings_wipe(&findings);
    writ_findings_wipe(&findings);
    ck_assert_uint_eq(findings.n, 0);
}
END_TEST

WRIT_UNIT_MAIN("findings", findings_are_printed_in_the_order_of_lines,
    finding_with_any_quoted_text_is_one_line, findings_beyond_the_maximum_are_counted,
    dropped_findings_are_counted, findings_add_without_memory_is_counted,
    findings_wipe_of_a_zeroed_value_does_nothing)
