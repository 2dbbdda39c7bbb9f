/* Series with labels of the configuration: their number has a maximum, whatever is counted, and the
 * text stays valid. Budgets show the fullest of their keys in the present window. */
#include "support/unit.h"

#include "gateway/listener/labels.h"
#include "policy/model/rule.h"
#include "support/gateway/exposition.h"

#define TEXT_MAX  (16U << 20)
#define REF_BYTES 64
#define DAY_US    (INT64_C(86400) * 1000000)

static struct writ_labels *
labels_new(void)
{
    struct writ_labels *labels = NULL;

    ck_assert_ok(writ_labels_new(&labels, NULL));
    return labels;
}

static struct writ_labels_call
call_of(const struct writ_tool_rule *rule, enum writ_reason refused)
{
    return (struct writ_labels_call){.upstream = WRIT_LIT("up"),
        .rule = rule,
        .verdict = refused == WRIT_REASON_NONE ? WRIT_DECISION_ALLOW : WRIT_DECISION_DENY,
        .refused = refused};
}

static void
put(struct writ_labels *labels, int64_t now_us, struct writ_buf *ret)
{
    const struct writ_labels_upstream up = {WRIT_LIT("up"), true};
    size_t line = 0;

    writ_buf_clear(ret);
    writ_labels_put(labels, &up, 1, now_us, ret);
    ck_assert_ok(writ_buf_check(ret, NULL));
    ck_assert_msg(exposition_is_valid(writ_buf_view(ret), &line), "line %zu", line);
}

static size_t
count_lines(const struct writ_buf *text, const char *start)
{
    struct writ_view rest = writ_buf_view(text);
    size_t n = 0;

    while (rest.len > 0) {
        size_t end = writ_view_find(rest, '\n') + 1;
        n += writ_view_has_prefix(rest, writ_view_str(start)) ? 1 : 0;
        rest = writ_view_sub(rest, end, rest.len);
    }
    return n;
}

START_TEST(labels_count_calls_and_refusals_by_rule)
{
    struct writ_labels *labels = labels_new();
    writ_auto_buf text = writ_buf_make(TEXT_MAX);
    const struct writ_tool_rule rule = {.ref = WRIT_LIT("tools/up~1re\"a~0d*#0")};
    struct writ_labels_call allowed = call_of(&rule, WRIT_REASON_NONE);
    struct writ_labels_call denied = call_of(NULL, WRIT_REASON_TOOL_NOT_LISTED);

    writ_labels_count(labels, &allowed);
    writ_labels_count(labels, &allowed);
    writ_labels_count(labels, &denied);
    put(labels, 0, &text);
    struct writ_view v = writ_buf_view(&text);
    ck_assert(exposition_value(v,
                  "writ_calls_total{upstream=\"up\",tool=\"re\\\"a~d*\",verdict=\"allow\"}") == 2);
    ck_assert(exposition_value(v, "writ_calls_refused_total{upstream=\"up\",tool=\"unlisted\","
                                  "reason=\"tool_not_listed\"}") == 1);
    ck_assert_uint_eq(count_lines(&text, "writ_calls_refused_total{"), 1);
    writ_labels_free(labels);
    writ_labels_free(NULL);
}
END_TEST

START_TEST(labels_above_the_maximum_are_counted_as_other)
{
    struct writ_labels *labels = labels_new();
    writ_auto_buf text = writ_buf_make(TEXT_MAX);
    const size_t more = WRIT_LABEL_SET_MAX + 100;

    for (size_t i = 0; i < more; i++) {
        char memory[REF_BYTES];
        struct writ_buf ref = writ_buf_over(memory, sizeof memory);
        writ_buf_fmt(&ref, "tools/up~1tool_%zu#0", i);
        const struct writ_tool_rule rule = {.ref = writ_buf_view(&ref)};
        struct writ_labels_call call = call_of(&rule, WRIT_REASON_CONSTRAINT_FAILED);
        writ_labels_count(labels, &call);
    }
    put(labels, 0, &text);
    ck_assert_uint_eq(count_lines(&text, "writ_calls_total{"), WRIT_LABEL_SET_MAX + 1);
    ck_assert_uint_eq(count_lines(&text, "writ_calls_refused_total{"), WRIT_LABEL_SET_MAX + 1);
    struct writ_view v = writ_buf_view(&text);
    ck_assert(exposition_value(v,
                  "writ_calls_total{upstream=\"other\",tool=\"other\",verdict=\"deny\"}") == 100);
    ck_assert(exposition_value(v, "writ_calls_refused_total{upstream=\"other\",tool=\"other\","
                                  "reason=\"other\"}") == 100);
    writ_labels_free(labels);
}
END_TEST

START_TEST(budgets_above_the_maximum_are_not_shown)
{
    struct writ_labels *labels = labels_new();
    writ_auto_buf text = writ_buf_make(TEXT_MAX);
    const struct writ_tool_rule rule = {.ref = WRIT_LIT("tools/up~1pay#0")};
    struct writ_labels_call call = call_of(&rule, WRIT_REASON_NONE);
    const struct writ_decimal one = writ_decimal_of(1);

    for (size_t i = 0; i < WRIT_LABEL_SET_MAX + 100; i++) {
        char memory[REF_BYTES];
        struct writ_buf name = writ_buf_over(memory, sizeof memory);
        writ_buf_fmt(&name, "budget_%zu", i);
        const struct writ_reservation drawn = {
            .name = writ_buf_view(&name), .window_us = DAY_US, .limit = writ_decimal_of(5)};
        writ_labels_budget(labels, &call, &drawn, &one, DAY_US);
    }
    put(labels, DAY_US, &text);
    ck_assert_uint_eq(count_lines(&text, "writ_budget_limit{"), WRIT_LABEL_SET_MAX);
    ck_assert_uint_eq(count_lines(&text, "writ_budget_used{"), WRIT_LABEL_SET_MAX);
    writ_labels_free(labels);
}
END_TEST

START_TEST(label_longer_than_its_maximum_is_counted_as_other)
{
    struct writ_labels *labels = labels_new();
    writ_auto_buf text = writ_buf_make(TEXT_MAX);
    writ_auto_buf ref = writ_buf_make(TEXT_MAX);

    writ_buf_str(&ref, "tools/up~1");
    for (int i = 0; i < 2000; i++) {
        writ_buf_byte(&ref, 'a');
    }
    const struct writ_tool_rule rule = {.ref = writ_buf_view(&ref)};
    struct writ_labels_call call = call_of(&rule, WRIT_REASON_NONE);
    writ_labels_count(labels, &call);
    put(labels, 0, &text);
    ck_assert(exposition_value(writ_buf_view(&text),
                  "writ_calls_total{upstream=\"other\",tool=\"other\",verdict=\"allow\"}") == 1);
    writ_labels_free(labels);
}
END_TEST

START_TEST(budget_shows_its_fullest_key_until_its_window_ends)
{
    static const char used[] = "writ_budget_used{upstream=\"up\",tool=\"pay\",budget=\"day\"}";
    struct writ_labels *labels = labels_new();
    writ_auto_buf text = writ_buf_make(TEXT_MAX);
    const struct writ_tool_rule rule = {.ref = WRIT_LIT("tools/up~1pay#0")};
    struct writ_labels_call call = call_of(&rule, WRIT_REASON_NONE);
    const struct writ_reservation drawn = {
        .name = WRIT_LIT("day"), .window_us = DAY_US, .limit = writ_decimal_of(5)};
    const struct writ_decimal most = writ_decimal_of(4), less = writ_decimal_of(1);

    writ_labels_budget(labels, &call, &drawn, &most, DAY_US);
    writ_labels_budget(labels, &call, &drawn, &less, DAY_US + 1);
    put(labels, 2 * DAY_US - 1, &text);
    ck_assert(exposition_value(writ_buf_view(&text),
                  "writ_budget_limit{upstream=\"up\",tool=\"pay\",budget=\"day\"}") == 5);
    ck_assert(exposition_value(writ_buf_view(&text), used) == 4);
    put(labels, 2 * DAY_US, &text);
    ck_assert(exposition_value(writ_buf_view(&text), used) == 0);
    writ_labels_budget(labels, &call, &drawn, &less, 2 * DAY_US);
    put(labels, 2 * DAY_US, &text);
    ck_assert(exposition_value(writ_buf_view(&text), used) == 1);
    writ_labels_free(labels);
}
END_TEST

WRIT_UNIT_MAIN("labels", labels_count_calls_and_refusals_by_rule,
    labels_above_the_maximum_are_counted_as_other, budgets_above_the_maximum_are_not_shown,
    label_longer_than_its_maximum_is_counted_as_other,
    budget_shows_its_fullest_key_until_its_window_ends)
