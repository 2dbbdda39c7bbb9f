/* Values in the configuration. A value is what JSON says; where readers of YAML disagree, it is
 * refused, and amounts are exact. */
#include "evidence/json/jcs.h"
#include "policy/decide/value.h"
#include "policy/read/findings.h"
#include "policy/read/setting.h"
#include "policy/read/value_read.h"
#include "policy/read/yaml.h"
#include "support/unit.h"
#include "support/evidence/value.h"

/* The member v of a YAML text, and where its faults go. */
struct reading {
    struct writ_arena *arena;
    struct writ_findings findings;
    struct writ_options o;
    const struct writ_yaml *node;
};

static void
reading_wipe(struct reading *r)
{
    writ_findings_wipe(&r->findings);
    writ_arena_free(r->arena);
}

#define auto_reading WRIT_AUTO(struct reading, reading_wipe)

static void
begin(struct reading *r, const char *yaml)
{
    const struct writ_yaml *root = NULL;

    *r = (struct reading){.arena = writ_value_arena()};
    r->o = (struct writ_options){.arena = r->arena, .findings = &r->findings};
    ck_assert_ok(writ_yaml_read(writ_view_str(yaml), r->arena, &r->findings, &root));
    r->node = writ_yaml_get(root, WRIT_LIT("v"));
    ck_assert_ptr_nonnull(r->node);
}

START_TEST(value_read_gives_the_json_value)
{
    static const struct {
        const char *yaml, *json;
    } cases[] = {{"v: 1", "1"}, {"v: -1.50e2", "-150"}, {"v: true", "true"}, {"v: null", "null"},
        {"v: abc", "\"abc\""}, {"v: \"1\"", "\"1\""}, {"v: 'true'", "\"true\""},
        {"v: \"\"", "\"\""}, {"v: [1, 'x', [], {}]", "[1,\"x\",[],{}]"},
        {"v: {b: 1, a: {c: no way}}", "{\"a\":{\"c\":\"no way\"},\"b\":1}"},
        {"v: |\n  1\n", "\"1\\n\""}, {"v: a:b", "\"a:b\""}, {"v: 10 EUR", "\"10 EUR\""},
        {"v: /srv/x", "\"/srv/x\""}, {"v: node", "\"node\""}, {"v: \"a\\0b\"", "\"a\\u0000b\""},
        {"v: e5", "\"e5\""}};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        auto_reading r;
        writ_auto_buf text = writ_buf_make(1000);
        const struct writ_json *value;

        begin(&r, cases[i].yaml);
        value = writ_value_read(&r.o, r.node);
        ck_assert_msg(value != NULL, "%s", cases[i].yaml);
        ck_assert_ok(writ_jcs_put(&text, value, NULL));
        ck_assert_view(writ_buf_view(&text), cases[i].json);
        ck_assert_uint_eq(r.findings.errors, 0);
    }
}
END_TEST

START_TEST(value_read_of_ambiguous_yaml_is_refused)
{
    static const char *const texts[] = {"yes", "no", "on", "off", "Yes", "NO", "y", "N", "True",
        "FALSE", "Null", "~", "", "0x1F", "017", "0o17", "+5", ".5", "5.", "1_000", "12:30",
        "190:20:30", ".inf", "-.INF", ".nan", "2026-11-21", "1.2.3", "00", "-01"};

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        auto_reading r;
        writ_auto_buf yaml = writ_buf_make(100);

        writ_buf_fmt(&yaml, "v: %s\n", texts[i]);
        writ_buf_byte(&yaml, '\0');
        begin(&r, yaml.ptr);
        ck_assert_msg(writ_value_read(&r.o, r.node) == NULL, "%s", texts[i]);
        ck_assert_uint_eq(r.findings.errors, 1);
    }
}
END_TEST

START_TEST(value_read_keeps_the_digits_of_numbers)
{
    auto_reading r;
    const struct writ_json *value;

    begin(&r, "v: [500.00, 12345678901234567890.123456789]");
    value = writ_value_read(&r.o, r.node);
    ck_assert_view(writ_json_text(writ_json_element(value, 0)), "500.00");
    ck_assert_view(writ_json_text(writ_json_element(value, 1)), "12345678901234567890.123456789");
}
END_TEST

START_TEST(value_read_beyond_the_maximum_is_refused)
{
    for (size_t over = 0; over <= 1; over++) {
        auto_reading r;
        writ_auto_buf yaml = writ_buf_make(WRIT_VALUE_BYTES_MAX + 100);

        writ_buf_str(&yaml, "v: \"");
        for (size_t i = 0; i < WRIT_VALUE_BYTES_MAX - 2 + over; i++) {
            writ_buf_byte(&yaml, 'x');
        }
        writ_buf_str(&yaml, "\"\n");
        writ_buf_byte(&yaml, '\0');
        begin(&r, yaml.ptr);
        ck_assert_int_eq(writ_value_read(&r.o, r.node) != NULL, over == 0);
        ck_assert_uint_eq(r.findings.errors, over);
    }
}
END_TEST

START_TEST(value_bound_is_a_number_quoted_or_not)
{
    static const struct {
        const char *yaml;
        bool good;
    } cases[] = {{"v: 5", true}, {"v: \"500.00\"", true}, {"v: '-1e3'", true}, {"v: 0", true},
        {"v: 1234567890123456789012345678901234", true},
        {"v: 12345678901234567890123456789012345", false}, {"v: 1e401", false}, {"v: abc", false},
        {"v: 0x10", false}, {"v: \"5 \"", false}, {"v: +5", false}, {"v: .5", false},
        {"v: 1_000", false}, {"v: [5]", false}, {"v: {a: 5}", false}, {"v:", false},
        {"v: 5%", false}, {"v: NaN", false}};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        auto_reading r;
        struct writ_decimal number;

        begin(&r, cases[i].yaml);
        ck_assert_msg(
            writ_value_read_number(&r.o, r.node, &number) == cases[i].good, "%s", cases[i].yaml);
        ck_assert_uint_eq(r.findings.errors, cases[i].good ? 0 : 1);
    }
}
END_TEST

START_TEST(value_length_is_a_whole_number_in_range)
{
    static const struct {
        const char *yaml;
        bool good;
    } cases[] = {{"v: 0", true}, {"v: 10", true}, {"v: \"7\"", true}, {"v: 11", false},
        {"v: -1", false}, {"v: 1.0", false}, {"v: 1e1", false}, {"v: [1]", false},
        {"v: 07", false}};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        auto_reading r;
        uint64_t length;

        begin(&r, cases[i].yaml);
        ck_assert_msg(writ_value_read_length(&r.o, r.node, 10, &length) == cases[i].good, "%s",
            cases[i].yaml);
    }
}
END_TEST

START_TEST(value_amount_is_exact_or_refused)
{
    static const struct {
        const char *json, *amount; /* NULL: refused */
    } cases[] = {{"500.00", "500"}, {"0.1", "0.1"}, {"1e300", "1e+300"}, {"1e-320", "1e-320"},
        {"123456789012345", "123456789012345"}, {"9007199254740994", "9007199254740994"},
        {"0.10000000000000000001", NULL}, {"499.99999999999999999999", NULL},
        {"9007199254740993", NULL}, {"1.00000000000000000000000000000000001", NULL},
        {"1e-400", NULL}};
    writ_auto_arena arena = writ_value_arena();

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct writ_decimal amount = writ_decimal_of(7);
        writ_auto_buf text = writ_buf_make(100);
        writ_result result =
            writ_value_amount(writ_value_of(arena, writ_view_str(cases[i].json)), &amount);

        ck_assert_msg((result.code == WRIT_OK) == (cases[i].amount != NULL), "%s", cases[i].json);
        writ_decimal_put(&text, &amount);
        ck_assert_view(writ_buf_view(&text), cases[i].amount != NULL ? cases[i].amount : "7");
        ck_assert(cases[i].amount != NULL || result.code == WRIT_E_LIMIT);
    }
}
END_TEST

START_TEST(undecided_equality_is_reported)
{
    writ_auto_arena arena = writ_value_arena();
    const struct writ_json *one = writ_value_of(arena, WRIT_LIT("[1]"));
    const struct writ_json *long_one =
        writ_value_of(arena, WRIT_LIT("[1.00000000000000000000000000000000001]"));

    ck_assert_int_eq(writ_value_same(one, long_one), WRIT_SAME_UNKNOWN);
    ck_assert_int_eq(writ_value_same(one, one), WRIT_SAME_YES);
    ck_assert_int_eq(writ_value_same(one, NULL), WRIT_SAME_NO);
    ck_assert_int_eq(writ_value_same(NULL, NULL), WRIT_SAME_NO);
}
END_TEST

WRIT_UNIT_MAIN("value", value_read_gives_the_json_value, value_read_of_ambiguous_yaml_is_refused,
    value_read_keeps_the_digits_of_numbers, value_read_beyond_the_maximum_is_refused,
    value_bound_is_a_number_quoted_or_not, value_length_is_a_whole_number_in_range,
    value_amount_is_exact_or_refused, undecided_equality_is_reported)
