/* What a gateway writes for Prometheus, and its own reader of that: a label is read as it was
 * written, whatever is in it. */
#include "support/unit.h"

#include "base/alloc.h"
#include "gateway/listener/label_set.h"
#include "gateway/listener/metrics_text.h"
#include "support/gateway/exposition.h"

#define TEXT_MAX 4096
#define HEAD     "# HELP m Help.\n# TYPE m gauge\n"

static const struct {
    const char *value, *written;
} labels[] = {
    {"pay", "pay"}, {"", ""}, {"a\"b", "a\\\"b"}, {"a\\", "a\\\\"}, {"a\nb", "a\\nb"},
    {"} 7", "} 7"}, {"\",x=\"1\"} 9\n", "\\\",x=\\\"1\\\"} 9\\n"}, {"caf\xc3\xa9", "caf\xc3\xa9"},
    {"\xff\xc3 \xed\xa0\x80", "?? ?\?\?"}, /* alone, cut, a surrogate */
};

static void
put_sample(struct writ_buf *ret, const char *value)
{
    writ_auto_buf text = writ_buf_make(TEXT_MAX);

    writ_label_set_put(&text, "tool", writ_view_str(value));
    writ_label_set_put(&text, "by", WRIT_LIT("x"));
    writ_buf_str(ret, HEAD "m{");
    writ_buf_put(ret, writ_buf_view(&text));
    writ_buf_str(ret, "} 2.5\n");
    if (!writ_is_ok(writ_buf_check(&text, NULL))) {
        ret->failed = text.failed;
    }
}

START_TEST(metrics_text_label_is_read_as_it_was_written)
{
    for (size_t i = 0; i < sizeof labels / sizeof labels[0]; i++) {
        writ_auto_buf text = writ_buf_make(TEXT_MAX);
        struct writ_metrics_text_sample sample;
        struct writ_view rest;
        size_t line = 0;

        put_sample(&text, labels[i].value);
        ck_assert_ok(writ_buf_check(&text, NULL));
        rest = writ_buf_view(&text);
        ck_assert_msg(exposition_is_valid(rest, &line), "label %zu, line %zu", i, line);
        ck_assert(writ_metrics_text_next(&rest, &sample));
        ck_assert(writ_view_is(sample.name, "m"));
        ck_assert(sample.value == 2.5);
        ck_assert_msg(
            writ_view_is(writ_metrics_text_label(&sample, WRIT_LIT("tool")), labels[i].written),
            "label %zu", i);
        ck_assert(writ_view_is(writ_metrics_text_label(&sample, WRIT_LIT("by")), "x"));
        ck_assert_uint_eq(writ_metrics_text_label(&sample, WRIT_LIT("none")).len, 0);
        ck_assert(!writ_metrics_text_next(&rest, &sample));
    }
}
END_TEST

START_TEST(metrics_text_skips_lines_that_are_not_samples)
{
    static const char *const lines[] = {"", "\n", "# m 1\n", "m\n", "m x\n", "m{ 1\n",
        "m{a=\"b 1\n", "m{a=\"b\\\"} 1\n", "m{a=\"b\"}1\n", "m{a=\"b\"} \n"};

    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        struct writ_metrics_text_sample sample;
        struct writ_view rest = writ_view_str(lines[i]);

        ck_assert_msg(!writ_metrics_text_next(&rest, &sample), "%s", lines[i]);
        ck_assert_uint_eq(rest.len, 0);
    }
}
END_TEST

START_TEST(metrics_text_sum_adds_the_samples_of_a_label)
{
    const struct writ_view text =
        WRIT_LIT("m{a=\"x\"} 1\nm{a=\"y\"} 2\nm{a=\"x\",b=\"}\"} 4\nmm{a=\"x\"} 8\n");
    bool found = false;

    ck_assert(
        writ_metrics_text_sum(text, WRIT_LIT("m"), WRIT_LIT("a"), WRIT_LIT("x"), &found) == 5);
    ck_assert(found);
    ck_assert(writ_metrics_text_sum(text, WRIT_LIT("m"), WRIT_LIT(""), WRIT_LIT(""), NULL) == 7);
    ck_assert(
        writ_metrics_text_sum(text, WRIT_LIT("m"), WRIT_LIT("a"), WRIT_LIT("z"), &found) == 0);
    ck_assert(!found);
}
END_TEST

START_TEST(label_after_a_failed_allocation_is_an_error)
{
    writ_auto_buf want = writ_buf_make(TEXT_MAX);
    bool reached = true;

    put_sample(&want, labels[6].value);
    for (long nth = 1; reached; nth++) {
        writ_auto_buf got = writ_buf_make(TEXT_MAX);
        writ_result result;

        writ_fault_arm(nth);
        put_sample(&got, labels[6].value);
        reached = writ_fault_disarm();
        result = writ_buf_check(&got, NULL);
        ck_assert_int_eq(result.code, reached ? WRIT_E_NOMEM : WRIT_OK);
        ck_assert_msg(reached || writ_view_equal(writ_buf_view(&got), writ_buf_view(&want)),
            "allocation %ld", nth);
    }
}
END_TEST

WRIT_UNIT_MAIN("metrics_text", metrics_text_label_is_read_as_it_was_written,
    metrics_text_skips_lines_that_are_not_samples, metrics_text_sum_adds_the_samples_of_a_label,
    label_after_a_failed_allocation_is_an_error)
