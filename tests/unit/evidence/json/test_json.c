/* The strict JSON reader. Each limit holds on both sides, anything but strict JSON is refused with
 * its offset, and an error never quotes the input. */
#include "support/unit.h"
#include "support/evidence/value.h"

#include "base/text.h"
#include "evidence/json/jcs.h"
#include "evidence/json/json.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const struct writ_json *
json(const char *text)
{
    return writ_values_json(text);
}

/* The text is refused with this code, offset and word in the message; `ret` stays as it was. */
static void
assert_refused(struct writ_view text, const struct writ_json_limits *limits, enum writ_code code,
    size_t offset, const char *word)
{
    static const struct writ_json before;
    const struct writ_json *value = &before;
    struct writ_err err = {.offset = 999999};
    writ_result result = writ_json_read(text, limits, writ_values_arena(), &value, &err);

    ck_assert_msg(result.code == code, WRIT_VIEW_FMT ": %s (%s)", WRIT_VIEW_ARG(text),
        writ_code_name(result.code), err.text);
    ck_assert_ptr_eq(value, &before);
    ck_assert_msg(err.offset == offset, WRIT_VIEW_FMT ": offset %zu (%s)", WRIT_VIEW_ARG(text),
        err.offset, err.text);
    ck_assert_msg(strstr(err.text, word) != NULL, WRIT_VIEW_FMT ": \"%s\" has no \"%s\"",
        WRIT_VIEW_ARG(text), err.text, word);
    ck_assert_int_eq(writ_json_read(text, limits, writ_values_arena(), &value, NULL).code, code);
}

/* ---- accepted texts */

START_TEST(json_read_gives_each_type)
{
    ck_assert_int_eq(writ_json_type(json("null")), WRIT_JSON_NULL);
    ck_assert_int_eq(writ_json_type(json("true")), WRIT_JSON_TRUE);
    ck_assert_int_eq(writ_json_type(json("false")), WRIT_JSON_FALSE);
    ck_assert_int_eq(writ_json_type(json("1")), WRIT_JSON_NUMBER);
    ck_assert_int_eq(writ_json_type(json("\"\"")), WRIT_JSON_STRING);
    ck_assert_int_eq(writ_json_type(json("[]")), WRIT_JSON_ARRAY);
    ck_assert_int_eq(writ_json_type(json(" \t\r\n{ } \t\r\n")), WRIT_JSON_OBJECT);
    ck_assert_int_eq(writ_json_type(NULL), WRIT_JSON_NONE);
}
END_TEST

START_TEST(strings_are_unescaped_and_kept_whole)
{
    static const struct {
        const char *text;
        struct writ_view want;
    } cases[] = {
        {"\"\"", {"", 0}},
        {"\"plain, longer than eight bytes\"", {"plain, longer than eight bytes", 30}},
        {"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", {"\"\\/\b\f\n\r\t", 8}},
        {"\"a\\u0041b\"", {"aAb", 3}},
        {"\"\\u00e9\\u20AC\\uD83D\\uDE00\"", {"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", 9}},
        {"\"\\ud800\\udc00\\udbff\\udfff\"", {"\xf0\x90\x80\x80\xf4\x8f\xbf\xbf", 8}},
        {"\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"", {"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", 9}},
        {"\"long and plain \xc3\xa9 then\\n\xe2\x82\xac\"",
            {"long and plain \xc3\xa9 then\n\xe2\x82\xac", 26}},
        {"\"\\u0000x\"", {"\0x", 2}},
        {"\"\\uffff\xef\xbf\xbe\"", {"\xef\xbf\xbf\xef\xbf\xbe", 6}},
        {"\"\x7f\"", {"\x7f", 1}},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct writ_view got = writ_json_string(json(cases[i].text));
        ck_assert_msg(writ_view_equal(got, cases[i].want), "%s", cases[i].text);
        ck_assert_ptr_nonnull(got.ptr);
    }
}
END_TEST

START_TEST(json_read_finds_a_special_byte_at_every_offset)
{
    char text[64];

    for (int before = 0; before < 20; before++) {
        for (int after = 0; after < 10; after++) {
            int len = snprintf(text, sizeof text, "\"%.*s\\n%.*s\"", before, "aaaaaaaaaaaaaaaaaaaa",
                after, "bbbbbbbbbb");
            struct writ_view got =
                writ_json_string(writ_values_json_of(writ_view(text, (size_t)len)));
            ck_assert_uint_eq(got.len, (size_t)(before + 1 + after));
            ck_assert_int_eq(got.ptr[before], '\n');
        }
    }
}
END_TEST

START_TEST(numbers_keep_their_text_and_have_the_nearest_double)
{
    static const struct {
        const char *text;
        double want;
    } cases[] = {
        {"0", 0},
        {"-0", -0.0},
        {"0.0", 0},
        {"-1", -1},
        {"12", 12},
        {"0.1", 0.1},
        {"1e2", 100},
        {"1E+2", 100},
        {"1e-2", 0.01},
        {"9007199254740993", 9007199254740992.0},
        {"1.7976931348623157e308", 1.7976931348623157e308},
        {"5e-324", 5e-324},
        {"1e-400", 0},
        {"0e99999999999999999999", 0},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct writ_json *value = json(cases[i].text);
        ck_assert_msg(value->number == cases[i].want, "%s is %a", cases[i].text, value->number);
        ck_assert_int_eq(signbit(value->number), signbit(cases[i].want));
        ck_assert_view(writ_json_text(value), cases[i].text);
    }
}
END_TEST

START_TEST(children_are_walked_in_the_order_of_the_text)
{
    const struct writ_json *value = json("{\"b\":[1,[2,{}],3],\"a\":{\"x\":null},\"c\":\"s\"}");
    const char *names = "bac", *numbers = "1?3";

    ck_assert_uint_eq(value->count, 3);
    ck_assert_uint_eq(value->span, 14);
    WRIT_JSON_EACH(name, value)
    {
        ck_assert_int_eq(writ_json_string(name).ptr[0], *names++);
    }
    ck_assert_int_eq(*names, '\0');
    WRIT_JSON_EACH(element, writ_json_get(value, WRIT_LIT("b")))
    {
        char first = writ_json_type(element) == WRIT_JSON_NUMBER ? element->ptr[0] : '?';
        ck_assert_int_eq(first, *numbers++);
    }
    ck_assert_int_eq(*numbers, '\0');
    WRIT_JSON_EACH(nothing, writ_json_get(value, WRIT_LIT("c")))
    {
        ck_abort_msg("a string has no children");
    }
    ck_assert_ptr_null(writ_json_first(NULL));
    ck_assert_ptr_null(writ_json_first(json("[]")));
    ck_assert_ptr_null(writ_json_first(json("{}")));
}
END_TEST

/* The sorted names of an object, joined. */
static void
assert_sorted(const char *text, const char *want)
{
    writ_auto_buf joined = writ_buf_make(65536);
    const struct writ_json *value = json(text);

    for (const struct writ_json *name = writ_json_sorted_first(value); name != NULL;
         name = writ_json_sorted_next(name)) {
        writ_buf_put(&joined, writ_json_string(name));
        writ_buf_byte(&joined, ' ');
    }
    ck_assert_view(writ_buf_view(&joined), want);
}

START_TEST(names_are_linked_in_canonical_order)
{
    assert_sorted("{}", "");
    assert_sorted("[]", "");
    assert_sorted("{\"a\":1}", "a ");
    assert_sorted("{\"a\":1,\"b\":2,\"c\":3}", "a b c ");
    assert_sorted("{\"c\":{\"z\":0,\"y\":0},\"b\":[1,2],\"a\":1,\"\":2}", " a b c ");
    assert_sorted("{\"ab\":1,\"a\":1,\"abc\":1,\"B\":1}", "B a ab abc ");
    /* U+1F600 is D83D DE00 in UTF-16, before U+FB33 and U+E000, after U+D7FF */
    assert_sorted(
        "{\"\xef\xac\xb3\":1,\"\xee\x80\x80\":1,\"\xf0\x9f\x98\x80\":1,\"\xed\x9f\xbf\":1}",
        "\xed\x9f\xbf \xf0\x9f\x98\x80 \xee\x80\x80 \xef\xac\xb3 ");
}
END_TEST

START_TEST(json_read_of_many_members_sorts_them)
{
    static char text[1 << 20];
    size_t len = 0;
    uint64_t seed = 42;
    int count = 0;
    struct writ_view last = {NULL, 0};

    text[len++] = '{';
    for (int i = 0; i < 5000; i++) {
        seed = seed * 6364136223846793005U + 1442695040888963407U;
        len += (size_t)snprintf(text + len, sizeof text - len, "%s\"k%016llx\":%d",
            i > 0 ? "," : "", (unsigned long long)seed, i);
    }
    text[len++] = '}';
    const struct writ_json *value = writ_values_json_of(writ_view(text, len));
    for (const struct writ_json *name = writ_json_sorted_first(value); name != NULL;
         name = writ_json_sorted_next(name), count++) {
        ck_assert(last.ptr == NULL || writ_view_compare(last, writ_json_string(name)) < 0);
        last = writ_json_string(name);
    }
    ck_assert_int_eq(count, 5000);
}
END_TEST

/* ---- refused texts */

static const struct {
    const char *text;
    size_t offset;
    const char *word;
} refused[] = {
    {"", 0, "no value"},
    {" \n", 2, "no value"},
    {"\xef\xbb\xbf{}", 0, "byte order mark"},
    {"{} {}", 3, "follows"},
    {"1 x", 2, "follows"},
    {"[1,]", 3, "not a JSON value"},
    {"[1 2]", 3, "','"},
    {"[1", 2, "breaks off"},
    {"[1}", 2, "']'"},
    {"[", 1, "breaks off"},
    {"{", 1, "breaks off"},
    {"{\"a\"", 4, "breaks off"},
    {"{\"a\":", 5, "breaks off"},
    {"{\"a\":1", 6, "breaks off"},
    {"{\"a\":1,", 7, "breaks off"},
    {"{\"a\":1,}", 7, "member name"},
    {"{a:1}", 1, "member name"},
    {"{1:1}", 1, "member name"},
    {"{\"a\" 1}", 5, "':'"},
    {"{\"a\":1]", 6, "'}'"},
    {"'a'", 0, "not a JSON value"},
    {"NaN", 0, "not a JSON value"},
    {"-Infinity", 0, "number"},
    {"tru", 0, "not a JSON value"},
    {"True", 0, "not a JSON value"},
    {"nul", 0, "not a JSON value"},
    {"truex", 4, "follows"},
    {"+1", 0, "not a JSON value"},
    {"01", 1, "follows"},
    {"-01", 2, "follows"},
    {".5", 0, "not a JSON value"},
    {"1.", 0, "malformed number"},
    {"[1.]", 1, "malformed number"},
    {"-", 0, "malformed number"},
    {"1e", 0, "malformed number"},
    {"1e+", 0, "malformed number"},
    {"0x10", 1, "follows"},
    {"1e309", 0, "beyond the range"},
    {"[-1e400]", 1, "beyond the range"},
    {"1e99999999999999999999", 0, "beyond the range"},
    {"// c\n1", 0, "not a JSON value"},
    {"\"abc", 4, "unterminated"},
    {"\"abc\\", 5, "unterminated"},
    {"\"abc\\\"", 6, "unterminated"},
    {"\"\xc3\xa9 abcdefgh", 12, "unterminated"},
    {"\"a\tb\"", 2, "control character"},
    {"\"a\\n\x01\"", 4, "control character"},
    {"\"\\x41\"", 1, "unknown escape"},
    {"\"a\\'\"", 2, "unknown escape"},
    {"\"\\u12g4\"", 1, "\\u escape"},
    {"\"\\u123\"", 1, "\\u escape"},
    {"\"\\u12", 1, "\\u escape"},
    {"\"\\ud800\"", 1, "lone surrogate"},
    {"\"\\ud800x\"", 1, "lone surrogate"},
    {"\"\\ud800\\ud800\"", 1, "lone surrogate"},
    {"\"\\ud800\\u0041\"", 1, "lone surrogate"},
    {"\"x\\udc00\"", 2, "lone surrogate"},
    {"{\"\\udc00\":1}", 2, "lone surrogate"},
    {"\"\xff\"", 1, "UTF-8"},
    {"\"a\xc0\x80\"", 2, "UTF-8"},
    {"\"\xed\xa0\x80\"", 1, "UTF-8"},
    {"\"\xf4\x90\x80\x80\"", 1, "UTF-8"},
    {"\"\xe2\x82\"", 1, "UTF-8"},
    {"\"\\n\xe2\x82", 3, "UTF-8"},
    {"\xff", 0, "not a JSON value"},
    {"[\"a\",\n\"b\"\n,x]", 11, "not a JSON value"},
};

START_TEST(json_read_of_no_strict_json_reports_the_offset)
{
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        assert_refused(writ_view_str(refused[i].text), &writ_json_limits_default, WRIT_E_PARSE,
            refused[i].offset, refused[i].word);
    }
    assert_refused(WRIT_LIT("1\0"), &writ_json_limits_default, WRIT_E_PARSE, 1, "follows");
    assert_refused(WRIT_LIT("\"\0\""), &writ_json_limits_default, WRIT_E_PARSE, 1, "control");
    assert_refused(writ_view(NULL, 0), &writ_json_limits_default, WRIT_E_PARSE, 0, "no value");
}
END_TEST

START_TEST(json_read_of_a_duplicate_name_in_any_spelling_is_refused)
{
    static const struct {
        const char *text;
        size_t offset;
    } cases[] = {
        {"{\"a\":1,\"a\":1}", 7},
        {"{\"a\":1,\"\\u0061\":2}", 7},
        {"{\"\\u0061\":1,\"b\":3,\"a\":2}", 18},
        {"{\"z\":1,\"y\":2,\"x\":3,\"y\":4}", 19},
        {"{\"\":1,\"\":2}", 6},
        {"{\"\\u0000\":1,\"\\u0000\":2}", 12},
        {"[{\"a\":{\"b\":1,\"b\":2}}]", 13},
        {"{\"\\ud83d\\ude00\":1,\"\xf0\x9f\x98\x80\":2}", 18},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_refused(writ_view_str(cases[i].text), &writ_json_limits_default, WRIT_E_PARSE,
            cases[i].offset, "duplicate member name");
    }
    (void)json("{\"a\":{\"a\":1},\"A\":[{\"a\":1},{\"a\":1}]}");
}
END_TEST

START_TEST(json_read_of_a_duplicate_at_any_place_is_refused)
{
    char text[4096];

    for (int count = 2; count < 40; count++) {
        for (int twice = 0; twice < count - 1; twice++) {
            size_t len = 0, offset = 0;
            for (int i = 0; i < count; i++) {
                offset = len + 1;
                len += (size_t)snprintf(text + len, sizeof text - len, "%c\"%d\":0",
                    i == 0 ? '{' : ',', (i == count - 1 ? twice : i) * 7919 % 1000);
            }
            text[len++] = '}';
            assert_refused(
                writ_view(text, len), &writ_json_limits_default, WRIT_E_PARSE, offset, "duplicate");
        }
    }
}
END_TEST

/* ---- limits: each on both sides */

START_TEST(json_read_limits_hold_on_both_sides)
{
#define LIMIT(member) offsetof(struct writ_json_limits, member)
    static const struct {
        const char *text;
        size_t limit, needed;
        const char *word;
    } cases[] = {
        {"[1, 2]", LIMIT(bytes), 6, "text is too long"},
        {"[]", LIMIT(depth), 1, "nested too deeply"},
        {"[[{\"a\":[]}]]", LIMIT(depth), 4, "nested too deeply"},
        {"1", LIMIT(values), 1, "too many values"},
        {"[1,{\"a\":2}]", LIMIT(values), 5, "too many values"},
        {"{\"abc\":1}", LIMIT(name_bytes), 3, "member name is too long"},
        {"{\"\\u20ac\":1}", LIMIT(name_bytes), 3, "member name is too long"},
        {"{\"abc\":\"12345\"}", LIMIT(string_bytes), 5, "string is too long"},
        {"[\"\\u0061\\u0061\"]", LIMIT(string_bytes), 2, "string is too long"},
        {"[12.50]", LIMIT(number_bytes), 5, "number is too long"},
        {"-12e+5", LIMIT(number_bytes), 6, "number is too long"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct writ_json_limits limits = writ_json_limits_default;
        size_t *limit = (size_t *)(void *)((char *)&limits + cases[i].limit);
        struct writ_view text = writ_view_str(cases[i].text);
        const struct writ_json *value = NULL;
        struct writ_err err = {0};

        *limit = cases[i].needed;
        ck_assert_ok(writ_json_read(text, &limits, writ_values_arena(), &value, NULL));
        *limit = cases[i].needed - 1;
        value = NULL;
        ck_assert_code(
            writ_json_read(text, &limits, writ_values_arena(), &value, &err), WRIT_E_LIMIT);
        ck_assert_ptr_null(value);
        ck_assert_msg(strstr(err.text, cases[i].word) != NULL, "%s: %s", text.ptr, err.text);
    }
}
END_TEST

START_TEST(json_read_with_zeroed_limits_refuses_all)
{
    struct writ_json_limits none = {0}, scalars = writ_json_limits_default;
    const struct writ_json *value;

    ck_assert_code(
        writ_json_read(WRIT_LIT("1"), &none, writ_values_arena(), &value, NULL), WRIT_E_LIMIT);
    scalars.depth = 0;
    ck_assert_ok(writ_json_read(WRIT_LIT("\"a\""), &scalars, writ_values_arena(), &value, NULL));
    ck_assert_code(
        writ_json_read(WRIT_LIT("[]"), &scalars, writ_values_arena(), &value, NULL), WRIT_E_LIMIT);
}
END_TEST

START_TEST(json_read_beyond_the_fixed_depth_is_refused)
{
    struct writ_json_limits limits = writ_json_limits_default;
    char text[2 * (WRIT_JSON_DEPTH_MAX + 1)];
    const struct writ_json *value;
    size_t depth = WRIT_JSON_DEPTH_MAX;

    limits.depth = SIZE_MAX;
    for (size_t i = 0; i < depth; i++) {
        text[i] = '[';
        text[2 * depth - 1 - i] = ']';
    }
    ck_assert_ok(
        writ_json_read(writ_view(text, 2 * depth), &limits, writ_values_arena(), &value, NULL));
    ck_assert_ptr_nonnull(writ_json_copy(value, writ_values_arena()));
    for (size_t i = 0; i <= depth; i++) {
        text[i] = '[';
        text[2 * depth + 1 - i] = ']';
    }
    ck_assert_code(
        writ_json_read(writ_view(text, 2 * depth + 2), &limits, writ_values_arena(), &value, NULL),
        WRIT_E_LIMIT);
}
END_TEST

START_TEST(json_read_into_a_full_arena_is_no_memory)
{
    struct writ_arena *small = writ_arena_new(600);
    const struct writ_json *value = NULL;
    struct writ_err err = {0};

    ck_assert_ok(writ_json_read(WRIT_LIT("[1]"), &writ_json_limits_default, small, &value, NULL));
    writ_arena_reset(small);
    value = NULL;
    ck_assert_code(writ_json_read(WRIT_LIT("[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17]"),
                       &writ_json_limits_default, small, &value, &err),
        WRIT_E_NOMEM);
    ck_assert_ptr_null(value);
    ck_assert_ptr_nonnull(strstr(err.text, "memory"));
    writ_arena_free(small);
}
END_TEST

START_TEST(json_read_error_never_quotes_the_input)
{
    struct writ_err err = {0};
    const struct writ_json *value;

    ck_assert_code(writ_json_read(WRIT_LIT("{\"secret\":1,\"secret\":2}"),
                       &writ_json_limits_default, writ_values_arena(), &value, &err),
        WRIT_E_PARSE);
    ck_assert_ptr_null(strstr(err.text, "secret"));
}
END_TEST

/* ---- access */

START_TEST(members_are_found_by_exact_bytes)
{
    const struct writ_json *value = json("{\"a\":1,\"\\u0000\":2,\"ab\":3,\"\":[4]}");

    ck_assert_view(writ_json_text(writ_json_get(value, WRIT_LIT("a"))), "1");
    ck_assert_view(writ_json_text(writ_json_get(value, WRIT_LIT("\0"))), "2");
    ck_assert_view(writ_json_text(writ_json_get(value, WRIT_LIT("ab"))), "3");
    ck_assert_ptr_nonnull(writ_json_get(value, WRIT_LIT("")));
    ck_assert_ptr_null(writ_json_get(value, WRIT_LIT("A")));
    ck_assert_ptr_null(writ_json_get(value, WRIT_LIT("abc")));
    ck_assert_ptr_null(writ_json_get(json("[\"a\"]"), WRIT_LIT("a")));
    ck_assert_ptr_null(writ_json_get(NULL, WRIT_LIT("a")));
    ck_assert_ptr_nonnull(writ_json_get_typed(value, WRIT_LIT("a"), WRIT_JSON_NUMBER));
    ck_assert_ptr_null(writ_json_get_typed(value, WRIT_LIT("a"), WRIT_JSON_STRING));
    ck_assert_ptr_null(writ_json_get_typed(value, WRIT_LIT("x"), WRIT_JSON_STRING));
}
END_TEST

START_TEST(json_is_true_for_true_alone)
{
    const struct writ_json *value = json("{\"yes\":true,\"no\":false,\"text\":\"true\"}");

    ck_assert(writ_json_is_true(value, WRIT_LIT("yes")));
    ck_assert(!writ_json_is_true(value, WRIT_LIT("no")));
    ck_assert(!writ_json_is_true(value, WRIT_LIT("text")));
    ck_assert(!writ_json_is_true(value, WRIT_LIT("absent")));
    ck_assert(!writ_json_is_true(NULL, WRIT_LIT("yes")));
}
END_TEST

START_TEST(json_has_only_compares_names_exactly)
{
    static const char *const known[] = {"a", "ab", NULL};

    ck_assert(writ_json_has_only(json("{}"), known));
    ck_assert(writ_json_has_only(json("{\"ab\":1,\"a\":2}"), known));
    ck_assert(!writ_json_has_only(json("{\"a\":1,\"abc\":2}"), known));
    ck_assert(!writ_json_has_only(json("{\"A\":1}"), known));
    ck_assert(!writ_json_has_only(json("{\"\":1}"), known));
}
END_TEST

START_TEST(json_text_of_no_string_is_empty)
{
    ck_assert_ptr_null(writ_json_string(json("1")).ptr);
    ck_assert_ptr_null(writ_json_string(json("null")).ptr);
    ck_assert_ptr_null(writ_json_string(NULL).ptr);
    ck_assert_ptr_null(writ_json_text(json("true")).ptr);
    ck_assert(writ_json_is(json("\"x\""), WRIT_LIT("x")));
    ck_assert(!writ_json_is(json("1"), WRIT_LIT("1")));
    ck_assert(!writ_json_is(json("\"x\\u0000\""), WRIT_LIT("x")));
    ck_assert(!writ_json_is(NULL, WRIT_LIT("")));
}
END_TEST

START_TEST(elements_are_counted_from_zero)
{
    const struct writ_json *value = json("[[0,0],1,{\"a\":0},3]");

    ck_assert_view(writ_json_text(writ_json_element(value, 1)), "1");
    ck_assert_view(writ_json_text(writ_json_element(value, 3)), "3");
    ck_assert_ptr_null(writ_json_element(value, 4));
    ck_assert_ptr_null(writ_json_element(value, SIZE_MAX));
    ck_assert_ptr_null(writ_json_element(json("{\"a\":1}"), 0));
    ck_assert_ptr_null(writ_json_element(NULL, 0));
}
END_TEST

START_TEST(json_pointer_finds_the_examples_of_rfc_6901)
{
    /* the document and pointers of RFC 6901 5 */
    const struct writ_json *value =
        json("{\"foo\":[\"bar\",\"baz\"],\"\":0,\"a/b\":1,\"c%d\":2,\"e^f\":3,\"g|h\":4,"
             "\"i\\\\j\":5,\"k\\\"l\":6,\" \":7,\"m~n\":8}");
    static const struct {
        const char *pointer, *want;
    } cases[] = {
        {"/foo/0", "bar"},
        {"/foo/1", "baz"},
        {"/", "0"},
        {"/a~1b", "1"},
        {"/c%d", "2"},
        {"/e^f", "3"},
        {"/g|h", "4"},
        {"/i\\j", "5"},
        {"/k\"l", "6"},
        {"/ ", "7"},
        {"/m~0n", "8"},
    };
    static const char *const nothing[] = {"/x", "/foo/2", "/foo/-", "/foo/00", "/foo/01", "/foo/",
        "/foo/0/0", "/foo/+1", "/foo/99999999999", "/foo/1e0", "/m~n", "/a~1b/", "foo", "~", "/~",
        "/~2", "/m~0", "/m~0nn"};

    ck_assert_ptr_eq(writ_json_pointer(value, WRIT_LIT("")), value);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ck_assert_view(writ_json_text(writ_json_pointer(value, writ_view_str(cases[i].pointer))),
            cases[i].want);
    }
    for (size_t i = 0; i < sizeof nothing / sizeof nothing[0]; i++) {
        ck_assert_msg(
            writ_json_pointer(value, writ_view_str(nothing[i])) == NULL, "%s", nothing[i]);
    }
    ck_assert_ptr_null(writ_json_pointer(NULL, WRIT_LIT("")));
    ck_assert(writ_json_is_pointer(WRIT_LIT("/a~0~1/b")));
    ck_assert(!writ_json_is_pointer(WRIT_LIT("/a~")));
    ck_assert(!writ_json_is_pointer(WRIT_LIT("a")));
}
END_TEST

START_TEST(integers_are_read_within_their_range)
{
    static const struct {
        const char *text;
        int64_t least, most;
        enum writ_code code;
        int64_t want;
    } cases[] = {
        {"0", 0, 0, WRIT_OK, 0},
        {"-0", 0, 0, WRIT_OK, 0},
        {"5", 0, 5, WRIT_OK, 5},
        {"6", 0, 5, WRIT_E_LIMIT, 0},
        {"-1", 0, 5, WRIT_E_LIMIT, 0},
        {"-1", -1, 5, WRIT_OK, -1},
        {"9223372036854775807", INT64_MIN, INT64_MAX, WRIT_OK, INT64_MAX},
        {"9223372036854775808", INT64_MIN, INT64_MAX, WRIT_E_LIMIT, 0},
        {"-9223372036854775808", INT64_MIN, INT64_MAX, WRIT_OK, INT64_MIN},
        {"-9223372036854775809", INT64_MIN, INT64_MAX, WRIT_E_LIMIT, 0},
        {"100000000000000000000000", INT64_MIN, INT64_MAX, WRIT_E_LIMIT, 0},
        {"1.0", 0, 5, WRIT_E_INVALID, 0},
        {"1e0", 0, 5, WRIT_E_INVALID, 0},
        {"\"1\"", 0, 5, WRIT_E_INVALID, 0},
        {"true", 0, 5, WRIT_E_INVALID, 0},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int64_t got = 77;
        writ_result result =
            writ_json_integer(json(cases[i].text), cases[i].least, cases[i].most, &got);
        ck_assert_msg(result.code == cases[i].code, "%s", cases[i].text);
        ck_assert_int_eq(got, result.code == WRIT_OK ? cases[i].want : 77);
    }
    ck_assert_code(writ_json_integer(NULL, 0, 1, &(int64_t){0}), WRIT_E_INVALID);
}
END_TEST

START_TEST(json_equal_compares_values_and_not_spelling)
{
    static const struct {
        const char *a, *b;
        bool equal;
    } cases[] = {
        {"{\"a\":1,\"b\":[true,null]}", "{ \"b\" : [true, null], \"\\u0061\" : 1.0 }", true},
        {"1e2", "100", true},
        {"0", "-0", true},
        {"\"\\u00e9\"", "\"\xc3\xa9\"", true},
        {"1", "\"1\"", false},
        {"1", "2", false},
        {"true", "false", false},
        {"[1,2]", "[2,1]", false},
        {"[1,2]", "[1,2,3]", false},
        {"{\"a\":1}", "{\"a\":2}", false},
        {"{\"a\":1}", "{\"b\":1}", false},
        {"{\"a\":1}", "{\"a\":1,\"b\":1}", false},
        {"[]", "{}", false},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ck_assert_msg(writ_json_equal(json(cases[i].a), json(cases[i].b)) == cases[i].equal,
            "%s %s", cases[i].a, cases[i].b);
        ck_assert(writ_json_equal(json(cases[i].b), json(cases[i].a)) == cases[i].equal);
    }
    ck_assert(writ_json_equal(NULL, NULL));
    ck_assert(!writ_json_equal(NULL, json("null")));
    ck_assert(writ_json_has(json("[\"b\",{\"x\":1.0}]"), json("{\"x\":1}")));
    ck_assert(!writ_json_has(json("[\"b\",[1]]"), json("1")));
    ck_assert(!writ_json_has(json("{\"b\":1}"), json("\"b\"")));
    ck_assert(!writ_json_has(NULL, json("1")));
}
END_TEST

START_TEST(json_copy_outlives_text_and_arena)
{
    char text[] = "{\"b\":[1.50,\"\\u0041\",\"\"],\"a\":{\"x\":null}}";
    struct writ_arena *other = writ_arena_new(65536);
    const struct writ_json *value, *copy;

    ck_assert_ok(writ_json_read(
        writ_view(text, sizeof text - 1), &writ_json_limits_default, other, &value, NULL));
    copy = writ_json_copy(value, writ_values_arena());
    writ_wipe(text, sizeof text);
    writ_arena_free(other);
    ck_assert(writ_json_equal(copy, json("{\"a\":{\"x\":null},\"b\":[1.5,\"A\",\"\"]}")));
    ck_assert_view(writ_json_text(writ_json_pointer(copy, WRIT_LIT("/b/0"))), "1.50");
    ck_assert_ptr_nonnull(writ_json_string(writ_json_pointer(copy, WRIT_LIT("/b/2"))).ptr);

    other = writ_arena_new(64);
    ck_assert_ptr_null(writ_json_copy(copy, other));
    writ_arena_free(other);
}
END_TEST

START_TEST(json_copy_of_a_part_succeeds)
{
    const struct writ_json *part =
        writ_json_get(json("{\"z\":1,\"b\":{\"y\":2,\"x\":[3]},\"a\":4}"), WRIT_LIT("b"));

    ck_assert(
        writ_json_equal(writ_json_copy(part, writ_values_arena()), json("{\"x\":[3],\"y\":2}")));
}
END_TEST

/* Texts of all kinds of characters, written into as little memory as they need and read again. */
START_TEST(json_read_of_escapes_gives_the_text_that_was_written)
{
    static const char *const pieces[] = {"a", "\"", "\\", "\n", "\x1f", "\xc3\xa4",
        "\xf0\x9f\x98\x80", "0123456789abcdefghij", "\x7f"};
    unsigned random = 1;

    for (size_t n = 0; n < 300; n++) {
        writ_auto_arena arena = writ_arena_new(1 << 20);
        writ_auto_buf text = writ_buf_make(1 << 16), json = writ_buf_make(1 << 16);
        struct writ_buf exact;
        const struct writ_json *value;
        char *memory;
        for (size_t i = 0; i < n; i++) {
            random = random * 1103515245 + 12345;
            writ_buf_str(&text, pieces[(random >> 16) % (n % 3 == 0 ? 9 : 2 + n % 7)]);
        }
        writ_text_json(&json, writ_buf_view(&text));
        ck_assert_ok(writ_buf_check(&json, NULL));
        memory = writ_alloc(json.len);
        exact = writ_buf_over(memory, json.len);
        writ_text_json(&exact, writ_buf_view(&text));
        ck_assert_ok(writ_buf_check(&exact, NULL));
        ck_assert(writ_view_equal(writ_buf_view(&exact), writ_buf_view(&json)));
        ck_assert_ok(
            writ_json_read(writ_buf_view(&exact), &writ_json_limits_default, arena, &value, NULL));
        ck_assert(writ_view_equal(writ_json_string(value), writ_buf_view(&text)));
        exact = writ_buf_over(memory, json.len - 1);
        writ_text_json(&exact, writ_buf_view(&text));
        ck_assert_code(writ_buf_check(&exact, NULL), WRIT_E_LIMIT);
        writ_free(memory);
    }
}
END_TEST

/* Strings of all spellings, valid ones and others, with and without being unescaped later. */
START_TEST(json_read_with_late_strings_gives_the_same)
{
    static const char *const pieces[] = {"a", "\\\"", "\\\\", "\\n", "\\u001f", "\xc3\xa4",
        "\xf0\x9f\x98\x80", "0123456789abcdefghij", "\\u001F", "\\/", "\\u0041", "\\ud83d\\ude00",
        "\\u0000", "\\uffff", "\\ud83d", "\\x", "\xff", "\x01", "\\u00g0", "\"", "\xed\xa0\x80"};
    unsigned random = 1;

    for (size_t n = 0; n < 3000; n++) {
        writ_auto_arena arena = writ_arena_new(1 << 20);
        writ_auto_buf text = writ_buf_make(1 << 16), a = writ_buf_make(1 << 16),
                      b = writ_buf_make(1 << 16);
        struct writ_json_limits limits = writ_json_limits_default;
        const struct writ_json *now = NULL, *late = NULL;
        struct writ_err err = {0}, late_err = {0};
        writ_result r;
        writ_buf_str(&text, "{\"b\":[\"");
        for (size_t i = 0; i < n % 60; i++) {
            random = random * 1103515245 + 12345;
            writ_buf_str(&text, pieces[(random >> 16) % (n % 5 == 0 ? 21 : n % 5 == 1 ? 8 : 14)]);
            writ_buf_str(&text, i % 20 == 19 ? "\",\"" : "");
        }
        writ_buf_str(&text, n % 7 == 0 ? "" : "\"],\"\\n\":\"\\n\"}");
        r = writ_json_read(writ_buf_view(&text), &limits, arena, &now, &err);
        limits.late_bytes = 1 + n % 40;
        ck_assert_int_eq(
            writ_json_read(writ_buf_view(&text), &limits, arena, &late, &late_err).code, r.code);
        ck_assert_str_eq(err.text, late_err.text);
        ck_assert_uint_eq(err.offset, late_err.offset);
        if (!writ_is_ok(r)) {
            continue;
        }
        ck_assert_ok(writ_jcs_put(&a, now, NULL));
        ck_assert_ok(writ_jcs_put(&b, late, NULL));
        ck_assert(writ_view_equal(writ_buf_view(&a), writ_buf_view(&b)));
        ck_assert(writ_json_equal(writ_json_copy(late, arena), now));
        ck_assert(writ_json_equal(late, now));
        writ_buf_clear(&b);
        ck_assert_ok(writ_jcs_put(&b, late, NULL));
        ck_assert(writ_view_equal(writ_buf_view(&a), writ_buf_view(&b)));
    }
}
END_TEST

/* A name is always unescaped: members are found and sorted by it. */
START_TEST(json_read_with_late_strings_unescapes_names)
{
    struct writ_json_limits limits = writ_json_limits_default;
    const struct writ_json *value = NULL;

    limits.late_bytes = 1;
    ck_assert_ok(writ_json_read(WRIT_LIT("{\"\\u0062c\":1,\"\\u0061c\":\"\\u0064\\u0065\"}"),
        &limits, writ_values_arena(), &value, NULL));
    ck_assert(writ_json_is(writ_json_get(value, WRIT_LIT("ac")), WRIT_LIT("de")));
    ck_assert(writ_json_is(writ_json_sorted_first(value), WRIT_LIT("ac")));
    limits.string_bytes = 1;
    ck_assert_code(
        writ_json_read(WRIT_LIT("\"\\u0064\\u0065\""), &limits, writ_values_arena(), &value, NULL),
        WRIT_E_LIMIT);
}
END_TEST

WRIT_UNIT_MAIN("json", json_read_gives_each_type, strings_are_unescaped_and_kept_whole,
    json_read_finds_a_special_byte_at_every_offset,
    numbers_keep_their_text_and_have_the_nearest_double,
    children_are_walked_in_the_order_of_the_text, names_are_linked_in_canonical_order,
    json_read_of_many_members_sorts_them, json_read_of_no_strict_json_reports_the_offset,
    json_read_of_a_duplicate_name_in_any_spelling_is_refused,
    json_read_of_a_duplicate_at_any_place_is_refused, json_read_limits_hold_on_both_sides,
    json_read_with_zeroed_limits_refuses_all, json_read_beyond_the_fixed_depth_is_refused,
    json_read_into_a_full_arena_is_no_memory, json_read_error_never_quotes_the_input,
    members_are_found_by_exact_bytes, json_is_true_for_true_alone,
    json_has_only_compares_names_exactly, json_text_of_no_string_is_empty,
    elements_are_counted_from_zero, json_pointer_finds_the_examples_of_rfc_6901,
    integers_are_read_within_their_range, json_equal_compares_values_and_not_spelling,
    json_copy_outlives_text_and_arena, json_copy_of_a_part_succeeds,
    json_read_of_escapes_gives_the_text_that_was_written,
    json_read_with_late_strings_gives_the_same, json_read_with_late_strings_unescapes_names)
