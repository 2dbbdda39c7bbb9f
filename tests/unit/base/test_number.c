/* Reading numbers from JSON text. A literal gives the nearest double in every locale, and anything
 * else is refused. The C library is the oracle. */
#include "support/unit.h"

#include "base/number.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

START_TEST(literals_give_the_nearest_double)
{
    static const struct {
        const char *text;
        double want;
    } cases[] = {
        {"0", 0},
        {"-0", -0.0},
        {"-0.0e+7", -0.0},
        {"1", 1},
        {"-12.5", -12.5},
        {"0.1", 0.1},
        {"1e22", 1e22},
        {"1e23", 1e23},
        {"123456789e-22", 123456789e-22},
        {"9007199254740993", 9007199254740992.0},
        {"9007199254740993.00000000000000000000001", 9007199254740994.0},
        {"0.000000000000000000000000000000000000001", 1e-39},
        {"17976931348623157e292", 1.7976931348623157e308},
        {"2.4703282292062327e-324", 0},
        {"2.4703282292062328e-324", 5e-324},
        {"1e-99999999999999999999", 0},
        {"-1e-400", -0.0},
        {"0e99999999999999999999", 0},
        {"12345678901234567890123456789e-10", 1234567890123456789.0123456789},
        {"1E5", 1e5},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double got = 77;
        ck_assert_ok(writ_number_read(writ_view_str(cases[i].text), &got));
        ck_assert_msg(got == cases[i].want && signbit(got) == signbit(cases[i].want), "%s is %a",
            cases[i].text, got);
    }
}
END_TEST

START_TEST(number_read_of_no_literal_is_refused)
{
    static const char *const texts[] = {"", "-", "+1", ".5", "1.", "1.e5", "1e", "1e+", "1e-", "01",
        "-01", "0x1", "1_0", " 1", "1 ", "1,5", "NaN", "Infinity", "1e5.5", "--1", "1ee5"};

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        double got = 77;
        ck_assert_msg(
            writ_number_read(writ_view_str(texts[i]), &got).code == WRIT_E_PARSE, "%s", texts[i]);
        ck_assert(got == 77);
    }
}
END_TEST

START_TEST(number_read_beyond_a_double_is_refused)
{
    static const char *const texts[] = {"1e309", "-1e309", "1.7976931348623159e308",
        "1e99999999999999999999", "1000000000000000000000000000000e300"};

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        double got = 77;
        ck_assert_msg(
            writ_number_read(writ_view_str(texts[i]), &got).code == WRIT_E_INVALID, "%s", texts[i]);
        ck_assert(got == 77);
    }
}
END_TEST

START_TEST(number_prefix_ends_with_the_number)
{
    static const struct {
        const char *text;
        size_t len;
        double want;
    } cases[] = {
        {"1,2", 1, 1},
        {"01", 1, 0},
        {"1.5]", 3, 1.5},
        {"-2e3}", 4, -2000},
        {"1-2", 1, 1},
        {"12345678901234567890123x", 23, 12345678901234567890123.0},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t len = 0;
        double got = 0;
        ck_assert_ok(writ_number_prefix(writ_view_str(cases[i].text), 100, &len, &got));
        ck_assert_uint_eq(len, cases[i].len);
        ck_assert(got == cases[i].want);
    }
}
END_TEST

START_TEST(number_read_stops_at_the_maximum_length)
{
    char text[WRIT_NUMBER_MAX + 2];
    size_t len = 77;
    double got = 77;

    ck_assert_ok(writ_number_prefix(WRIT_LIT("1.25 "), 4, &len, &got));
    ck_assert_uint_eq(len, 4);
    len = 77;
    got = 77;
    ck_assert_code(writ_number_prefix(WRIT_LIT("1.25 "), 3, &len, &got), WRIT_E_LIMIT);
    ck_assert_code(writ_number_prefix(WRIT_LIT("1.25 "), 1, &len, &got), WRIT_E_LIMIT);
    ck_assert_code(writ_number_prefix(WRIT_LIT("1"), 0, &len, &got), WRIT_E_LIMIT);
    ck_assert_uint_eq(len, 77);
    ck_assert(got == 77);

    memset(text, '9', sizeof text);
    text[1] = '.';
    ck_assert_ok(writ_number_read(writ_view(text, WRIT_NUMBER_MAX), &got));
    ck_assert(got == 10);
    ck_assert_code(writ_number_read(writ_view(text, WRIT_NUMBER_MAX + 1), &got), WRIT_E_LIMIT);
    ck_assert_code(
        writ_number_prefix(writ_view(text, sizeof text), SIZE_MAX, &len, &got), WRIT_E_LIMIT);
}
END_TEST

START_TEST(number_read_of_random_literals_agrees_with_the_c_library)
{
    uint64_t state = 42;
    char text[64];

    for (int i = 0; i < 50000; i++) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        uint64_t digits = state >> (state >> 58);
        int exponent = (int)(state >> 33 & 63) - 32;
        double got = 0;
        (void)snprintf(text, sizeof text, "%llu%s%de%d", (unsigned long long)digits,
            i % 2 == 0 ? "." : "", i, exponent);
        ck_assert_ok(writ_number_read(writ_view_str(text), &got));
        ck_assert_msg(got == strtod(text, NULL), "%s", text);
    }
}
END_TEST

START_TEST(number_read_ignores_the_locale)
{
    double got = 0;

    if (setlocale(LC_NUMERIC, "de_DE.UTF-8") == NULL &&
        setlocale(LC_NUMERIC, "fr_FR.UTF-8") == NULL) {
        return; /* the machine has no locale with a decimal comma */
    }
    ck_assert_ok(writ_number_read(WRIT_LIT("1.2345678901234567890123"), &got));
    (void)setlocale(LC_NUMERIC, "C");
    ck_assert(got == 1.2345678901234567890123);
}
END_TEST

WRIT_UNIT_MAIN("number", literals_give_the_nearest_double, number_read_of_no_literal_is_refused,
    number_read_beyond_a_double_is_refused, number_prefix_ends_with_the_number,
    number_read_stops_at_the_maximum_length,
    number_read_of_random_literals_agrees_with_the_c_library, number_read_ignores_the_locale)
