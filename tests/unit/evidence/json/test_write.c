/* The JSON writer. It puts commas, colons and brackets in their places; one failure fails the
 * whole text, and misuse stops the process. */
#include "support/unit.h"
#include "support/evidence/value.h"

#include "evidence/json/write.h"

#define TEXT_MAX 4096

START_TEST(write_puts_commas_colons_and_brackets)
{
    writ_auto_buf buf = writ_buf_make(TEXT_MAX);
    struct writ_write w = writ_write_to(&buf);

    writ_write_object_begin(&w);
    writ_write_name(&w, WRIT_LIT("a"));
    writ_write_array_begin(&w);
    writ_write_u64(&w, UINT64_MAX);
    writ_write_i64(&w, INT64_MIN);
    writ_write_object_begin(&w);
    writ_write_object_end(&w);
    writ_write_array_begin(&w);
    writ_write_array_end(&w);
    writ_write_array_end(&w);
    writ_write_name(&w, WRIT_LIT("b\n"));
    writ_write_string(&w, WRIT_LIT("\x01\"\xc3\xa9"));
    writ_write_name(&w, WRIT_LIT("c"));
    writ_write_bool(&w, true);
    writ_write_name(&w, WRIT_LIT("d"));
    writ_write_bool(&w, false);
    writ_write_name(&w, WRIT_LIT("e"));
    writ_write_null(&w);
    writ_write_name(&w, WRIT_LIT("f"));
    writ_write_string(&w, writ_view(NULL, 0));
    writ_write_name(&w, WRIT_LIT("g"));
    writ_write_string_or_null(&w, writ_view(NULL, 0));
    writ_write_name(&w, WRIT_LIT("h"));
    writ_write_string_or_null(&w, WRIT_LIT(""));
    writ_write_name(&w, WRIT_LIT("i"));
    writ_write_raw(&w, WRIT_LIT("[1, 2]"));
    writ_write_name(&w, WRIT_LIT("j"));
    writ_write_value(&w, writ_values_json("{\"b\": 1.0, \"a\": []}"));
    writ_write_object_end(&w);
    ck_assert_ok(writ_write_end(&w, NULL));
    ck_assert_view(writ_buf_view(&buf),
        "{\"a\":[18446744073709551615,-9223372036854775808,{},[]],"
        "\"b\\n\":\"\\u0001\\\"\xc3\xa9\",\"c\":true,\"d\":false,\"e\":null,\"f\":\"\",\"g\":null,"
        "\"h\":\"\",\"i\":[1, 2],\"j\":{\"a\":[],\"b\":1}}");
}
END_TEST

START_TEST(write_member_puts_name_and_value)
{
    writ_auto_buf buf = writ_buf_make(TEXT_MAX);
    struct writ_write w = writ_write_to(&buf);

    writ_write_object_begin(&w);
    writ_write_text(&w, "a", WRIT_LIT("\n"));
    writ_write_text(&w, "b", writ_view(NULL, 0));
    writ_write_text_if(&w, "c", WRIT_LIT("x"));
    writ_write_text_if(&w, "d", WRIT_LIT(""));
    writ_write_text_if(&w, "e", writ_view(NULL, 0));
    writ_write_text_or_null(&w, "f", WRIT_LIT(""));
    writ_write_text_or_null(&w, "g", writ_view(NULL, 0));
    writ_write_count(&w, "h", UINT64_MAX);
    writ_write_integer(&w, "i", INT64_MIN);
    writ_write_flag(&w, "j", true);
    writ_write_number(&w, "k", 0.5);
    writ_write_object_end(&w);
    ck_assert_ok(writ_write_end(&w, NULL));
    ck_assert_view(writ_buf_view(&buf),
        "{\"a\":\"\\n\",\"b\":\"\",\"c\":\"x\",\"f\":\"\",\"g\":null,"
        "\"h\":18446744073709551615,\"i\":-9223372036854775808,\"j\":true,\"k\":0.5}");
}
END_TEST

START_TEST(write_of_a_scalar_is_a_text)
{
    writ_auto_buf buf = writ_buf_make(TEXT_MAX);
    struct writ_write w = writ_write_to(&buf);

    writ_write_u64(&w, 7);
    ck_assert_ok(writ_write_end(&w, NULL));
    ck_assert_view(writ_buf_view(&buf), "7");
}
END_TEST

START_TEST(write_appends_to_the_buffer)
{
    writ_auto_buf buf = writ_buf_make(TEXT_MAX);

    writ_buf_str(&buf, "x=");
    struct writ_write w = writ_write_to(&buf);
    writ_write_null(&w);
    ck_assert_ok(writ_write_end(&w, NULL));
    ck_assert_view(writ_buf_view(&buf), "x=null");
}
END_TEST

START_TEST(write_after_a_failure_fails_at_the_end)
{
    for (size_t max = 0; max < sizeof "[\"abc\",1]" - 1; max++) {
        writ_auto_buf buf = writ_buf_make(max);
        struct writ_write w = writ_write_to(&buf);
        writ_write_array_begin(&w);
        writ_write_string(&w, WRIT_LIT("abc"));
        writ_write_u64(&w, 1);
        writ_write_array_end(&w);
        ck_assert_code(writ_write_end(&w, NULL), WRIT_E_LIMIT);
    }
}
END_TEST

START_TEST(write_of_an_inexact_value_fails_the_text)
{
    writ_auto_buf buf = writ_buf_make(TEXT_MAX);
    struct writ_write w = writ_write_to(&buf);

    writ_write_array_begin(&w);
    writ_write_value(&w, writ_values_json("9007199254740993"));
    writ_write_null(&w);
    writ_write_array_end(&w);
    ck_assert_code(writ_write_end(&w, NULL), WRIT_E_PARSE);
}
END_TEST

START_TEST(write_verbatim_keeps_order_and_digits)
{
    static const struct {
        void (*put)(struct writ_write *w, const struct writ_json *value);
        const char *text;
    } cases[] = {
        {writ_write_ordered, "{\"b\":[1,{\"z\":\"\xc3\xa9\",\"y\":null}],\"a\":[true,100]}"},
        {writ_write_verbatim, "{\"b\":[1.0,{\"z\":\"\xc3\xa9\",\"y\":null}],\"a\":[true,1E2]}"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        writ_auto_buf buf = writ_buf_make(TEXT_MAX);
        struct writ_write w = writ_write_to(&buf);
        cases[i].put(&w, writ_values_json("{ \"b\": [1.0, {\"z\": \"\\u00e9\", \"y\": null}], "
                                          "\"a\": [true, 1E2] }"));
        ck_assert_ok(writ_write_end(&w, NULL));
        ck_assert_view(writ_buf_view(&buf), cases[i].text);
    }
}
END_TEST

START_TEST(write_of_an_inexact_number_succeeds_verbatim_only)
{
    writ_auto_buf verbatim = writ_buf_make(TEXT_MAX);
    writ_auto_buf ordered = writ_buf_make(TEXT_MAX);
    const struct writ_json *value = writ_values_json("[9007199254740993]");
    struct writ_write w = writ_write_to(&verbatim);

    writ_write_verbatim(&w, value);
    ck_assert_ok(writ_write_end(&w, NULL));
    ck_assert_view(writ_buf_view(&verbatim), "[9007199254740993]");

    w = writ_write_to(&ordered);
    writ_write_ordered(&w, value);
    ck_assert_code(writ_write_end(&w, NULL), WRIT_E_PARSE);
}
END_TEST

START_TEST(write_sorted_accepts_names_in_order)
{
    writ_auto_buf buf = writ_buf_make(TEXT_MAX);
    struct writ_write w = writ_write_to(&buf);

    w.sorted = true;
    writ_write_object_begin(&w);
    writ_write_name(&w, WRIT_LIT("a"));
    writ_write_object_begin(&w);
    writ_write_name(&w, WRIT_LIT("b"));
    writ_write_null(&w);
    writ_write_object_end(&w);
    writ_write_name(&w, WRIT_LIT("aa"));
    writ_write_object_begin(&w);
    writ_write_name(&w, WRIT_LIT("a"));
    writ_write_null(&w);
    writ_write_object_end(&w);
    writ_write_object_end(&w);
    ck_assert_ok(writ_write_end(&w, NULL));
    ck_assert_view(writ_buf_view(&buf), "{\"a\":{\"b\":null},\"aa\":{\"a\":null}}");
}
END_TEST

/* ---- misuse */

static void
value_without_name(void *arg)
{
    struct writ_write w = writ_write_to(arg);

    writ_write_object_begin(&w);
    writ_write_null(&w);
}

static void
name_without_value(void *arg)
{
    struct writ_write w = writ_write_to(arg);

    writ_write_object_begin(&w);
    writ_write_name(&w, WRIT_LIT("a"));
    writ_write_object_end(&w);
}

static void
name_in_array(void *arg)
{
    struct writ_write w = writ_write_to(arg);

    writ_write_array_begin(&w);
    writ_write_name(&w, WRIT_LIT("a"));
}

static void
wrong_end(void *arg)
{
    struct writ_write w = writ_write_to(arg);

    writ_write_array_begin(&w);
    writ_write_object_end(&w);
}

static void
end_without_begin(void *arg)
{
    struct writ_write w = writ_write_to(arg);

    writ_write_array_end(&w);
}

static void
two_values(void *arg)
{
    struct writ_write w = writ_write_to(arg);

    writ_write_null(&w);
    writ_write_null(&w);
}

static void
no_value(void *arg)
{
    struct writ_write w = writ_write_to(arg);

    (void)writ_write_end(&w, NULL).code;
}

static void
open_at_the_end(void *arg)
{
    struct writ_write w = writ_write_to(arg);

    writ_write_array_begin(&w);
    (void)writ_write_end(&w, NULL).code;
}

static void
names_out_of_order(void *arg)
{
    struct writ_write w = writ_write_to(arg);

    w.sorted = true;
    writ_write_object_begin(&w);
    writ_write_name(&w, WRIT_LIT("b"));
    writ_write_null(&w);
    writ_write_name(&w, WRIT_LIT("a"));
}

static void
name_twice(void *arg)
{
    struct writ_write w = writ_write_to(arg);

    w.sorted = true;
    writ_write_object_begin(&w);
    writ_write_name(&w, WRIT_LIT("a"));
    writ_write_null(&w);
    writ_write_name(&w, WRIT_LIT("a"));
}

static void
nested_too_deeply(void *arg)
{
    struct writ_write w = writ_write_to(arg);

    for (int i = 0; i <= WRIT_WRITE_DEPTH; i++) {
        writ_write_array_begin(&w);
    }
}

START_TEST(write_misused_stops_the_process)
{
    static void (*const misuses[])(void *) = {value_without_name, name_without_value, name_in_array,
        wrong_end, end_without_begin, two_values, no_value, open_at_the_end, names_out_of_order,
        name_twice, nested_too_deeply};

    for (size_t i = 0; i < sizeof misuses / sizeof misuses[0]; i++) {
        writ_auto_buf buf = writ_buf_make(TEXT_MAX);
        ck_assert_msg(writ_unit_aborts(misuses[i], &buf), "misuse %zu", i);
    }
}
END_TEST

START_TEST(write_of_the_deepest_nesting_succeeds)
{
    writ_auto_buf buf = writ_buf_make(TEXT_MAX);
    struct writ_write w = writ_write_to(&buf);

    for (int i = 0; i < WRIT_WRITE_DEPTH; i++) {
        writ_write_array_begin(&w);
    }
    for (int i = 0; i < WRIT_WRITE_DEPTH; i++) {
        writ_write_array_end(&w);
    }
    ck_assert_ok(writ_write_end(&w, NULL));
    ck_assert_uint_eq(buf.len, 2 * WRIT_WRITE_DEPTH);
}
END_TEST

WRIT_UNIT_MAIN("write", write_puts_commas_colons_and_brackets, write_member_puts_name_and_value,
    write_of_a_scalar_is_a_text, write_appends_to_the_buffer,
    write_after_a_failure_fails_at_the_end, write_of_an_inexact_value_fails_the_text,
    write_sorted_accepts_names_in_order, write_verbatim_keeps_order_and_digits,
    write_of_an_inexact_number_succeeds_verbatim_only, write_misused_stops_the_process,
    write_of_the_deepest_nesting_succeeds)
