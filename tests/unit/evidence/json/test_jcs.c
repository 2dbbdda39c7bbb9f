/* Canonical JSON (RFC 8785). Equal values have one text; a number that would change its value is
 * refused, or kept as written in lossless mode. */
#include "support/unit.h"
#include "support/evidence/value.h"

#include "evidence/json/jcs.h"

#include <math.h>
#include <string.h>

#define CANONICAL_MAX 65536

static void
assert_canonical(const char *text, const char *want)
{
    writ_auto_buf buf = writ_buf_make(CANONICAL_MAX);
    struct writ_err err = {0};
    writ_result result = writ_jcs_put(&buf, writ_values_json(text), &err);

    ck_assert_msg(writ_is_ok(result), "%s: %s", text, err.text);
    ck_assert_view(writ_buf_view(&buf), want);
}

static void
assert_number(double number, const char *want)
{
    char text[WRIT_JCS_NUMBER_TEXT];
    size_t len = writ_jcs_number_text(number, text);

    ck_assert_view(writ_view(text, len), want);
}

START_TEST(white_space_order_and_spelling_do_not_matter)
{
    assert_canonical(" { \"b\" : [ 1 , true ] , \"a\" : null } ", "{\"a\":null,\"b\":[1,true]}");
    assert_canonical("[]", "[]");
    assert_canonical("{}", "{}");
    assert_canonical("[[],{},[{}]]", "[[],{},[{}]]");
    assert_canonical("false", "false");
    assert_canonical("{\"\\u0062\":1.0,\"\\u0061\":1e2}", "{\"a\":100,\"b\":1}");
    assert_canonical("\"\\u00e9\\/\"", "\"\xc3\xa9/\"");
}
END_TEST

START_TEST(strings_have_the_fewest_escapes)
{
    assert_canonical("\"\\u0000\\u0001\\u001f\\u007f\"", "\"\\u0000\\u0001\\u001f\x7f\"");
    assert_canonical("\"\\b\\t\\n\\u000b\\f\\r\"", "\"\\b\\t\\n\\u000b\\f\\r\"");
    assert_canonical("\"\\u0022\\u005c\"", "\"\\\"\\\\\"");
    assert_canonical(
        "\"\\u2028\\u2029\\ud83d\\ude00\"", "\"\xe2\x80\xa8\xe2\x80\xa9\xf0\x9f\x98\x80\"");
    assert_canonical("{\"a\\u0000\":1,\"a\":2}", "{\"a\":2,\"a\\u0000\":1}");
}
END_TEST

START_TEST(names_are_sorted_by_utf16_units)
{
    /* the names of RFC 8785 3.2.3 */
    assert_canonical("{\"\\u20ac\":5,\"\\r\":1,\"\\ufb33\":7,\"1\":2,\"\\ud83d\\ude00\":6,"
                     "\"\\u0080\":3,\"\\u00f6\":4}",
        "{\"\\r\":1,\"1\":2,\"\xc2\x80\":3,\"\xc3\xb6\":4,\"\xe2\x82\xac\":5,"
        "\"\xf0\x9f\x98\x80\":6,\"\xef\xac\xb3\":7}");
}
END_TEST

START_TEST(jcs_number_has_the_text_of_ecmascript)
{
    /* RFC 8785 appendix B */
    static const struct {
        uint64_t bits;
        const char *want;
    } cases[] = {
        {0x0000000000000000, "0"},
        {0x8000000000000000, "0"},
        {0x0000000000000001, "5e-324"},
        {0x8000000000000001, "-5e-324"},
        {0x7fefffffffffffff, "1.7976931348623157e+308"},
        {0xffefffffffffffff, "-1.7976931348623157e+308"},
        {0x4340000000000000, "9007199254740992"},
        {0xc340000000000000, "-9007199254740992"},
        {0x4430000000000000, "295147905179352830000"},
        {0x44b52d02c7e14af5, "9.999999999999997e+22"},
        {0x44b52d02c7e14af6, "1e+23"},
        {0x44b52d02c7e14af7, "1.0000000000000001e+23"},
        {0x444b1ae4d6e2ef4e, "999999999999999700000"},
        {0x444b1ae4d6e2ef4f, "999999999999999900000"},
        {0x444b1ae4d6e2ef50, "1e+21"},
        {0x3eb0c6f7a0b5ed8c, "9.999999999999997e-7"},
        {0x3eb0c6f7a0b5ed8d, "0.000001"},
        {0x41b3de4355555553, "333333333.3333332"},
        {0x41b3de4355555554, "333333333.33333325"},
        {0x41b3de4355555555, "333333333.3333333"},
        {0x41b3de4355555556, "333333333.3333334"},
        {0x41b3de4355555557, "333333333.33333343"},
        {0xbecbf647612f3696, "-0.0000033333333333333333"},
        {0x43143ff3c1cb0959, "1424953923781206.2"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double number;
        memcpy(&number, &cases[i].bits, sizeof number);
        assert_number(number, cases[i].want);
    }
    assert_number(0.1, "0.1");
    assert_number(-1.5, "-1.5");
    assert_number(100, "100");
    assert_number(1e20, "100000000000000000000");
    assert_number(123456789012345680000.0, "123456789012345680000");
    assert_number(1.5e-9, "1.5e-9");
    assert_number(1e-7, "1e-7");
    assert_number(0.00001234, "0.00001234");
}
END_TEST

START_TEST(jcs_of_an_inexact_number_is_refused)
{
    static const char *const texts[] = {
        "9007199254740993",
        "-9007199254740993",
        "9007199254740993.0",
        "9007199254740993e0",
        "900719925474099.3e1",
        "9007199254740992.5",
        "1152921504606846976", /* 2^60, which ECMAScript prints with other digits */
        "18446744073709551615",
        "123456789012345678901234567890",
        "1.7976931348623158e308",
        "100000000000000000000000000000000000000001",
        "1e-400",
        "-0.0000000000001e-400",
        "2e-324",
    };

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        writ_auto_buf buf = writ_buf_make(CANONICAL_MAX), list = writ_buf_make(CANONICAL_MAX);
        struct writ_err err = {0};
        ck_assert_msg(writ_jcs_put(&buf, writ_values_json(texts[i]), NULL).code == WRIT_E_PARSE,
            "%s", texts[i]);
        writ_buf_fmt(&list, "{\"a\":[%s]}", texts[i]);
        writ_buf_clear(&buf);
        ck_assert_code(
            writ_jcs_put(&buf, writ_values_json_of(writ_buf_view(&list)), &err), WRIT_E_PARSE);
        ck_assert_uint_eq(err.offset, 6);
        ck_assert_ptr_nonnull(strstr(err.text, "byte 6"));
        ck_assert_ptr_null(strstr(err.text, texts[i]));
    }
}
END_TEST

START_TEST(jcs_lossless_keeps_an_inexact_number)
{
    static const struct {
        const char *text, *form;
    } rows[] = {
        {"9223372036854775807", "9223372036854775807"},
        {"9223372036854775807.0", "9223372036854775807"},
        {"922337203685477580.7E1", "9223372036854775807"},
        {"0.10000000000000001", "0.10000000000000001"},
        {"1e-400", "1e-400"},
        {"0.1e-399", "1e-400"},
        {"123456789012345678901234567890123456789012345678901",
            "123456789012345678901234567890123456789012345678901"},
        {"1.0", "1"}, /* exact: as in the canonical form */
        {"1e30", "1e+30"},
        {"{\"b\":[9007199254740993],\"a\":0.10}", "{\"a\":0.1,\"b\":[9007199254740993]}"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        writ_auto_buf buf = writ_buf_make(CANONICAL_MAX);
        ck_assert_ok(writ_jcs_put_lossless(&buf, writ_values_json(rows[i].text), NULL));
        ck_assert_view(writ_buf_view(&buf), rows[i].form);
    }
}
END_TEST

START_TEST(jcs_number_is_exact_if_its_canonical_text_has_its_value)
{
    static const struct {
        const char *text;
        bool exact;
    } cases[] = {{"0", true}, {"-0", true}, {"0.0", true}, {"0e9", true}, {"7", true}, {"-7", true},
        {"1.0", true}, {"1e2", true}, {"100.00", true}, {"1E+2", true}, {"0.1", true},
        {"500.01", true}, {"-0.001", true}, {"1e-7", true}, {"1.5e300", true}, {"5e-324", true},
        {"9007199254740991", true}, {"9007199254740994", true}, {"1234567890123456800", true},
        {"0.30000000000000004", true}, {"0.3333333333333333", true}, {"0.33333333333333331", false},
        {"0.10000000000000001", false}, {"99.9999999999999999999", false},
        {"100.00000000000000001", false}, {"-99.9999999999999999999", false},
        {"9007199254740993", false}, {"1234567890123456789", false}, {"1e-400", false},
        {"4e-324", false}, {"9.999999999999999", false}, {"1.00000000000000000001", false}};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        writ_auto_buf inside = writ_buf_make(256);

        ck_assert_msg(writ_jcs_is_exact(writ_values_json(cases[i].text)) == cases[i].exact, "%s",
            cases[i].text);
        writ_buf_fmt(
            &inside, "{\"a\":[1,{\"b\":[%s]}],\"c\":\"0.10000000000000001\"}%c", cases[i].text, 0);
        ck_assert_int_eq(writ_jcs_all_exact(writ_values_json(inside.ptr)), cases[i].exact);
    }
    ck_assert(writ_jcs_all_exact(writ_values_json("[null,true,false,\"\",{},[]]")));
}
END_TEST

START_TEST(jcs_of_an_exact_number_accepts_every_spelling)
{
    static const struct {
        const char *text, *want;
    } cases[] = {
        {"9007199254740991", "9007199254740991"},
        {"9007199254740992", "9007199254740992"},
        {"9007199254740994", "9007199254740994"},
        {"9007199254740994.00", "9007199254740994"},
        {"900719925474099400e-2", "9007199254740994"},
        {"-9007199254740992", "-9007199254740992"},
        {"1152921504606847000", "1152921504606847000"},
        {"1e21", "1e+21"},
        {"1E30", "1e+30"},
        {"1000000000000000000000000000000", "1e+30"},
        {"0.000001e36", "1e+30"},
        {"1.5E+300", "1.5e+300"},
        {"1.7976931348623157e+308", "1.7976931348623157e+308"},
        {"0e-999", "0"},
        {"-0.000e5", "0"},
        {"0.10000000000000001", "0.1"},
        {"333333333.33333329", "333333333.3333333"},
        {"9007199254740991.3", "9007199254740991"},
        {"5e-324", "5e-324"},
        {"3e-324", "5e-324"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_canonical(cases[i].text, cases[i].want);
    }
}
END_TEST

START_TEST(jcs_into_a_small_buffer_is_a_limit)
{
    const struct writ_json *value = writ_values_json("{\"a\":[1,\"\\n\"]}");
    const size_t whole = sizeof "{\"a\":[1,\"\\n\"]}" - 1;

    for (size_t max = 0; max <= whole; max++) {
        writ_auto_buf buf = writ_buf_make(max);
        ck_assert_int_eq(
            writ_jcs_put(&buf, value, NULL).code, max == whole ? WRIT_OK : WRIT_E_LIMIT);
    }
}
END_TEST

START_TEST(names_compare_as_utf16_does)
{
    static const struct {
        struct writ_view a, b;
        int order;
    } cases[] = {
        {{"", 0}, {"", 0}, 0},
        {{"", 0}, {"a", 1}, -1},
        {{"a", 1}, {"a", 1}, 0},
        {{"a", 1}, {"b", 1}, -1},
        {{"a", 1}, {"ab", 2}, -1},
        {{"a\0", 2}, {"a", 1}, 1},
        {{"abcdefgh1", 9}, {"abcdefgh2", 9}, -1},
        {{"abcdefghij", 10}, {"abcdefghij", 10}, 0},
        {{"\xf0\x9f\x98\x80", 4}, {"\xef\xac\xb3", 3}, -1}, /* U+1F600, U+FB33 */
        {{"\xf4\x8f\xbf\xbf", 4}, {"\xee\x80\x80", 3}, -1}, /* U+10FFFF, U+E000 */
        {{"\xf0\x90\x80\x80", 4}, {"\xed\x9f\xbf", 3}, 1},  /* U+10000, U+D7FF */
        {{"\xee\x80\x80", 3}, {"\xef\xbf\xbf", 3}, -1},
        {{"\xf0\x90\x80\x80", 4}, {"\xf0\x90\x80\x81", 4}, -1},
        {{"\xc3\xa9", 2}, {"z", 1}, 1},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int order = writ_jcs_compare(cases[i].a, cases[i].b);
        ck_assert_int_eq((order > 0) - (order < 0), cases[i].order);
        order = writ_jcs_compare(cases[i].b, cases[i].a);
        ck_assert_int_eq((order > 0) - (order < 0), -cases[i].order);
    }
}
END_TEST

static void
print_infinity(void *arg)
{
    char text[WRIT_JCS_NUMBER_TEXT];

    (void)arg;
    (void)writ_jcs_number_text(INFINITY, text);
}

static void
print_nothing(void *arg)
{
    static const struct writ_json none;
    struct writ_buf buf = writ_buf_make(CANONICAL_MAX);

    (void)arg;
    ck_assert_ok(writ_jcs_put(&buf, &none, NULL));
}

START_TEST(jcs_of_no_value_stops_the_process)
{
    ck_assert(writ_unit_aborts(print_infinity, NULL));
    ck_assert(writ_unit_aborts(print_nothing, NULL));
}
END_TEST

WRIT_UNIT_MAIN("jcs", white_space_order_and_spelling_do_not_matter, strings_have_the_fewest_escapes,
    names_are_sorted_by_utf16_units, jcs_number_has_the_text_of_ecmascript,
    jcs_of_an_inexact_number_is_refused, jcs_lossless_keeps_an_inexact_number,
    jcs_number_is_exact_if_its_canonical_text_has_its_value,
    jcs_of_an_exact_number_accepts_every_spelling, jcs_into_a_small_buffer_is_a_limit,
    names_compare_as_utf16_does, jcs_of_no_value_stops_the_process)
