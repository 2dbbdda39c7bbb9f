/* Exact decimal numbers. Equal values have one text, order and sums are exact, and a number beyond
 * the limits is refused, never rounded. */
#include "support/unit.h"

#include "base/decimal.h"

static struct writ_decimal
decimal(const char *text)
{
    struct writ_decimal value;

    ck_assert_ok(writ_decimal_read(writ_view_str(text), &value));
    return value;
}

static void
assert_text(const struct writ_decimal *value, const char *want)
{
    char memory[WRIT_DECIMAL_PUT_MAX];
    struct writ_buf text = writ_buf_over(memory, sizeof memory);

    writ_decimal_put(&text, value);
    ck_assert_ok(writ_buf_check(&text, NULL));
    ck_assert_view(writ_buf_view(&text), want);
}

START_TEST(decimal_text_is_the_same_for_every_spelling)
{
    static const struct {
        const char *text, *want;
    } cases[] = {
        {"0", "0"},
        {"-0", "0"},
        {"0.000", "0"},
        {"0e999999999999", "0"},
        {"1", "1"},
        {"-1", "-1"},
        {"500.00", "500"},
        {"5e2", "500"},
        {"5E+2", "500"},
        {"0.5", "0.5"},
        {"50e-2", "0.5"},
        {"123.456", "123.456"},
        {"100000000000000000000", "100000000000000000000"},
        {"1e20", "100000000000000000000"},
        {"1e21", "1e+21"},
        {"0.000001", "0.000001"},
        {"0.0000001", "1e-7"},
        {"-1.5e-9", "-1.5e-9"},
        {"1e400", "1e+400"},
        {"1e-400", "1e-400"},
        {"1234567890123456789012345678901234", "1.234567890123456789012345678901234e+33"},
        {"0.1234567890123456789012345678901234", "0.1234567890123456789012345678901234"},
        {"-0.000001234567890123456789012345678901234",
            "-0.000001234567890123456789012345678901234"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct writ_decimal value = decimal(cases[i].text), again;
        assert_text(&value, cases[i].want);
        again = decimal(cases[i].want);
        ck_assert_int_eq(writ_decimal_compare(&value, &again), 0);
    }
}
END_TEST

START_TEST(decimal_read_of_no_json_number_is_refused)
{
    static const char *const texts[] = {"", "-", "+1", ".5", "5.", "01", "-01", "1e", "1e+", "1.e1",
        "0x10", "1_000", "1,5", " 1", "1 ", "NaN", "nan", "Infinity", "-Infinity", "1e1.5", "--1",
        "1e--1", "\xef\xbc\x91", "1\n", "1f"};
    struct writ_decimal value = decimal("42");

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        ck_assert_code(writ_decimal_read(writ_view_str(texts[i]), &value), WRIT_E_PARSE);
        assert_text(&value, "42");
    }
    ck_assert_code(writ_decimal_read(writ_view("1\0002", 3), &value), WRIT_E_PARSE);
    assert_text(&value, "42");
}
END_TEST

START_TEST(limits_hold_on_both_sides)
{
    static const struct {
        const char *text;
        enum writ_code want;
    } cases[] = {
        {"9999999999999999999999999999999999", WRIT_OK}, /* 34 digits */
        {"10000000000000000000000000000000001", WRIT_E_LIMIT},
        {"99999999999999999999999999999999990000", WRIT_OK}, /* zeros at the end do not count */
        {"0.00009999999999999999999999999999999999", WRIT_OK},
        {"1.0000000000000000000000000000000000000000", WRIT_OK},
        {"1.00000000000000000000000000000000001", WRIT_E_LIMIT},
        {"1e400", WRIT_OK},
        {"1e401", WRIT_E_LIMIT},
        {"10e400", WRIT_E_LIMIT},
        {"0.1e401", WRIT_OK},
        {"1e-400", WRIT_OK},
        {"1e-401", WRIT_E_LIMIT},
        {"0.1e-400", WRIT_E_LIMIT},
        {"1e99999999999999999999", WRIT_E_LIMIT},
        {"1e-99999999999999999999", WRIT_E_LIMIT},
    };
    struct writ_decimal value = decimal("42");

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        writ_result r = writ_decimal_read(writ_view_str(cases[i].text), &value);
        ck_assert_msg(r.code == cases[i].want, "%s: %s", cases[i].text, writ_code_name(r.code));
        if (!writ_is_ok(r)) {
            assert_text(&value, "42");
        }
        value = decimal("42");
    }
}
END_TEST

START_TEST(decimal_text_has_a_maximum_length)
{
    writ_auto_buf text = writ_buf_make(WRIT_DECIMAL_TEXT_MAX + 1);
    struct writ_decimal value = decimal("42");

    writ_buf_str(&text, "7.");
    while (text.len < WRIT_DECIMAL_TEXT_MAX) {
        writ_buf_byte(&text, '0');
    }
    ck_assert_ok(writ_decimal_read(writ_buf_view(&text), &value));
    assert_text(&value, "7");
    writ_buf_byte(&text, '0');
    ck_assert_code(writ_decimal_read(writ_buf_view(&text), &value), WRIT_E_LIMIT);
    assert_text(&value, "7");
}
END_TEST

START_TEST(order_is_exact_where_doubles_are_equal)
{
    /* ascending; every pair is compared both ways */
    static const char *const order[] = {"-1e400", "-9999999999999999999999999999999999e300", "-1e2",
        "-99.9999999999999999999999", "-1", "-1e-400", "0", "1e-400", "1.1e-400", "0.1",
        "0.1000000000000000055511151231257827", "1", "1.000000000000000000000000000000001", "2",
        "9", "10", "100", "9007199254740992", "9007199254740993",
        "9999999999999999999999999999999999", "1e34", "9.999999999999999999999999999999999e399",
        "1e400"};

    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
        for (size_t j = 0; j < sizeof order / sizeof order[0]; j++) {
            struct writ_decimal a = decimal(order[i]), b = decimal(order[j]);
            int want = (i > j) - (i < j), got = writ_decimal_compare(&a, &b);
            ck_assert_msg((got > 0) - (got < 0) == want, "%s against %s", order[i], order[j]);
        }
    }
}
END_TEST

START_TEST(decimal_add_is_exact_or_refused)
{
    static const struct {
        const char *a, *b, *want; /* NULL: WRIT_E_LIMIT */
    } cases[] = {
        {"0.1", "0.2", "0.3"},
        {"1", "-1", "0"},
        {"-1.5", "1", "-0.5"},
        {"1", "-1.5", "-0.5"},
        {"99.99", "0.01", "100"},
        {"0", "1e400", "1e+400"},
        {"1e33", "1", "1.000000000000000000000000000000001e+33"},
        {"1e34", "1", NULL},
        {"1e38", "1", NULL},
        {"1e400", "1", NULL},
        {"1e400", "1e-400", NULL},
        {"9e400", "1e400", NULL},
        {"-9e400", "-1e400", NULL},
        {"9e400", "-9e400", "0"},
        {"9999999999999999999999999999999999", "1", "1e+34"},
        {"9999999999999999999999999999999999", "2", NULL},
        {"1e34", "-1", "9.999999999999999999999999999999999e+33"},
        {"1e-400", "-1.1e-400", NULL},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct writ_decimal a = decimal(cases[i].a), b = decimal(cases[i].b);
        struct writ_decimal sum = decimal("42"), other = decimal("42");
        if (cases[i].want == NULL) {
            ck_assert_code(writ_decimal_add(&a, &b, &sum), WRIT_E_LIMIT);
            ck_assert_code(writ_decimal_add(&b, &a, &other), WRIT_E_LIMIT);
            assert_text(&sum, "42");
            continue;
        }
        ck_assert_ok(writ_decimal_add(&a, &b, &sum));
        ck_assert_ok(writ_decimal_add(&b, &a, &other));
        assert_text(&sum, cases[i].want);
        assert_text(&other, cases[i].want);
        ck_assert_ok(writ_decimal_add(&a, &b, &a)); /* the result may be an operand */
        assert_text(&a, cases[i].want);
    }
}
END_TEST

/* At the last place that counts, every sum up to the limit is exact; one further, some is not. */
START_TEST(counts_is_true_of_amounts_with_exact_sums)
{
    static const struct {
        const char *limit, *last, *behind; /* the least amount that counts; a tenth of it */
    } cases[] = {
        {"10000.00", "1e-29", "1e-30"},
        {"9999", "1e-30", "1e-31"},
        {"0.5", "1e-34", "1e-35"},
        {"1e-5", "1e-38", "1e-39"},
        {"1e33", "1", "0.1"},
        {"1e34", "10", "1"},
        {"1e400", "1e367", "1e366"},
        {"1.000000000000000000000000000000001", "1e-33", "1e-34"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct writ_decimal limit = decimal(cases[i].limit), last = decimal(cases[i].last);
        struct writ_decimal behind = decimal(cases[i].behind), rest, sum;
        ck_assert(writ_decimal_counts(&last, &limit));
        ck_assert(!writ_decimal_counts(&behind, &limit));
        last.negative = true;
        ck_assert_ok(writ_decimal_add(&limit, &last, &rest)); /* all nines */
        last.negative = false;
        ck_assert_ok(writ_decimal_add(&rest, &last, &sum));
        ck_assert_int_eq(writ_decimal_compare(&sum, &limit), 0);
        ck_assert_code(writ_decimal_add(&limit, &behind, &sum), WRIT_E_LIMIT);
    }
}
END_TEST

START_TEST(counts_of_zero_is_true_up_to_any_limit)
{
    struct writ_decimal zero = decimal("0"), one = decimal("1"), least = decimal("1e-400");

    ck_assert(writ_decimal_counts(&zero, &zero));
    ck_assert(writ_decimal_counts(&zero, &least));
    ck_assert(!writ_decimal_counts(&least, &zero));
    ck_assert(!writ_decimal_counts(&least, &one));
    ck_assert(writ_decimal_counts(&least, &least));
    ck_assert(writ_decimal_counts(&one, &least)); /* that it is above the limit is another test */
}
END_TEST

START_TEST(integers_are_decimals)
{
    struct writ_decimal least = writ_decimal_of(INT64_MIN), most = writ_decimal_of(INT64_MAX);
    struct writ_decimal zero = writ_decimal_of(0), hundred = writ_decimal_of(100);
    struct writ_decimal negated = writ_decimal_negate(&hundred), still = writ_decimal_negate(&zero);

    assert_text(&least, "-9223372036854775808");
    assert_text(&most, "9223372036854775807");
    assert_text(&zero, "0");
    assert_text(&negated, "-100");
    assert_text(&still, "0");
    ck_assert(!still.negative);
}
END_TEST

WRIT_UNIT_MAIN("decimal", decimal_text_is_the_same_for_every_spelling,
    decimal_read_of_no_json_number_is_refused, limits_hold_on_both_sides,
    decimal_text_has_a_maximum_length, order_is_exact_where_doubles_are_equal,
    decimal_add_is_exact_or_refused, counts_is_true_of_amounts_with_exact_sums,
    counts_of_zero_is_true_up_to_any_limit, integers_are_decimals)
