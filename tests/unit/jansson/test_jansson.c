/* Values of jansson in and out of Writ. Both readers agree on every document, integers stay exact,
 * and a value without a canonical form is refused. */
#include "support/evidence/oracle.h"
#include "support/unit.h"
#include "support/evidence/value.h"
#include "support/vectors.h"

#include "writ/jansson.h"

#include <stdlib.h>
#include <string.h>

#define TEXT_MAX 65536

/* ---- text to json_t */

static json_t *
read_text(const char *text)
{
    json_t *value = NULL;

    ck_assert_ok(writ_jansson_read(writ_view_str(text), &value, NULL));
    return value;
}

START_TEST(read_makes_each_type)
{
    json_auto_t *value = read_text("{\"a\":[null,true,false,\"x\\u0000y\",-7,1.5,1e2,{}],\"\":[]}");
    json_t *list = json_object_get(value, "a");

    ck_assert_uint_eq(json_object_size(value), 2);
    ck_assert_uint_eq(json_array_size(json_object_get(value, "")), 0);
    ck_assert(json_is_null(json_array_get(list, 0)));
    ck_assert(json_is_true(json_array_get(list, 1)));
    ck_assert(json_is_false(json_array_get(list, 2)));
    ck_assert_uint_eq(json_string_length(json_array_get(list, 3)), 3);
    ck_assert_int_eq(json_integer_value(json_array_get(list, 4)), -7);
    ck_assert(json_real_value(json_array_get(list, 5)) == 1.5);
    ck_assert(json_is_real(json_array_get(list, 6)));
    ck_assert(json_is_object(json_array_get(list, 7)));
}
END_TEST

START_TEST(read_keeps_integers_exact)
{
    json_auto_t *least = read_text("-9007199254740991"), *most = read_text("9007199254740992"),
                *round = read_text("1152921504606847000"),
                *beyond = read_text("18446744073709552000");

    ck_assert(json_integer_value(least) == -9007199254740991);
    ck_assert(json_integer_value(most) == 9007199254740992);
    ck_assert(json_integer_value(round) == 1152921504606847000);
    ck_assert(json_real_value(beyond) == 0x1p64);
}
END_TEST

static const struct {
    const char *text;
    size_t offset;
    enum writ_code code;
} refused[] = {
    {"[1,9007199254740993]", 3, WRIT_E_PARSE},
    {"[1,9223372036854775807]", 3, WRIT_E_PARSE},
    {"[1,9223372036854775808]", 3, WRIT_E_PARSE},
    {"1e-400", 0, WRIT_E_PARSE},
    {"1e400", 0, WRIT_E_PARSE},
    {"{\"a\":1,\"\\u0061\":2}", 7, WRIT_E_PARSE},
    {"\"\xff\"", 1, WRIT_E_PARSE},
    {"[1] 2", 4, WRIT_E_PARSE},
    {"", 0, WRIT_E_PARSE},
};

START_TEST(read_without_canonical_form_is_refused)
{
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        json_t *const before = json_true(), *value = before;
        struct writ_err err = {0};
        writ_result result = writ_jansson_read(writ_view_str(refused[i].text), &value, &err);

        ck_assert_msg(result.code == refused[i].code, "%s", refused[i].text);
        ck_assert_msg(err.offset == refused[i].offset, "%s: %zu", refused[i].text, err.offset);
        ck_assert_ptr_eq(value, before);
    }
}
END_TEST

static void
nest(struct writ_buf *buf, size_t depth)
{
    for (size_t i = 0; i < depth; i++) {
        writ_buf_byte(buf, '[');
    }
    for (size_t i = 0; i < depth; i++) {
        writ_buf_byte(buf, ']');
    }
}

START_TEST(read_has_a_deepest_nesting)
{
    for (size_t more = 0; more < 2; more++) {
        writ_auto_buf buf = writ_buf_make(TEXT_MAX);
        json_auto_t *value = NULL;

        nest(&buf, WRIT_JANSSON_DEPTH_MAX + more);
        ck_assert_code(writ_jansson_read(writ_buf_view(&buf), &value, NULL),
            more == 0 ? WRIT_OK : WRIT_E_LIMIT);
    }
}
END_TEST

START_TEST(read_of_an_absent_value_is_absent)
{
    json_t *value = json_true();
    char *text = (char *)"before";
    size_t len = 1;

    ck_assert_ok(writ_jansson_read(writ_view(NULL, 0), &value, NULL));
    ck_assert_ptr_null(value);
    ck_assert_ok(writ_jansson_write(NULL, &text, &len, NULL));
    ck_assert_ptr_null(text);
    ck_assert_uint_eq(len, 0);
}
END_TEST

START_TEST(claim_is_a_string_or_null)
{
    json_auto_t *text = writ_jansson_claim(writ_view("a\0b", 3)),
                *none = writ_jansson_claim(writ_view("", 0)),
                *absent = writ_jansson_claim(writ_view(NULL, 0));

    ck_assert_uint_eq(json_string_length(text), 3);
    ck_assert_str_eq(json_string_value(none), "");
    ck_assert(json_is_null(absent));
    ck_assert_ptr_null(writ_jansson_claim(writ_view("\xff", 1)));
}
END_TEST

/* ---- json_t to text */

/* Takes the value. */
static void
assert_written(json_t *value, const char *want)
{
    char *text = NULL;
    size_t len = 0;

    ck_assert_ok(writ_jansson_write(value, &text, &len, NULL));
    ck_assert_str_eq(text, want);
    ck_assert_uint_eq(len, strlen(want));
    free(text);
    json_decref(value);
}

START_TEST(write_gives_the_canonical_form)
{
    assert_written(json_pack("{s:[n,b,b],s:s,s:f}", "b", 1, 0, "a", "x\n\"", "c", 0.1),
        "{\"a\":\"x\\n\\\"\",\"b\":[null,true,false],\"c\":0.1}");
    assert_written(json_real(100), "100");
    assert_written(json_real(-0.0), "0");
    assert_written(json_real(0x1p64), "18446744073709552000");
    assert_written(json_integer(-5), "-5");
    assert_written(json_integer(1152921504606847000), "1152921504606847000");
    assert_written(json_stringn("a\0b", 3), "\"a\\u0000b\"");
    assert_written(json_array(), "[]");
    assert_written(json_object(), "{}");
}
END_TEST

/* Takes the value. */
static void
assert_not_written(json_t *value, enum writ_code code)
{
    char *const before = (char *)"before", *text = before;
    size_t len = 1;

    ck_assert_code(writ_jansson_write(value, &text, &len, NULL), code);
    ck_assert_ptr_eq(text, before);
    ck_assert_uint_eq(len, 1);
    json_decref(value);
}

START_TEST(write_without_canonical_form_is_refused)
{
    assert_not_written(json_integer(9007199254740993), WRIT_E_PARSE);
    assert_not_written(json_integer(1152921504606846976), WRIT_E_PARSE); /* 2^60 */
    assert_not_written(json_integer(INT64_MAX), WRIT_E_PARSE);
    assert_not_written(json_string_nocheck("\xff"), WRIT_E_PARSE);
    assert_not_written(json_string_nocheck("\xed\xa0\x80"), WRIT_E_PARSE); /* a surrogate */
    assert_not_written(json_pack("[{s:I}]", "a", (json_int_t)INT64_MIN + 1), WRIT_E_PARSE);
}
END_TEST

static json_t *
nested(size_t depth)
{
    json_t *value = json_array();

    for (size_t i = 1; i < depth; i++) {
        value = i % 2 == 0 ? json_pack("[o]", value) : json_pack("{s:o}", "a", value);
    }
    return value;
}

START_TEST(write_has_a_deepest_nesting)
{
    char *text = NULL;
    size_t len = 0;
    json_auto_t *deepest = nested(WRIT_JANSSON_DEPTH_MAX);

    ck_assert_ok(writ_jansson_write(deepest, &text, &len, NULL));
    free(text);
    assert_not_written(nested(WRIT_JANSSON_DEPTH_MAX + 1), WRIT_E_LIMIT);
}
END_TEST

START_TEST(write_of_a_value_in_itself_is_too_deep)
{
    json_t *outer = json_array(), *inner = json_array();

    json_array_append(outer, inner);
    json_array_append(inner, outer);
    json_incref(outer);
    assert_not_written(outer, WRIT_E_LIMIT);
    json_array_clear(outer);
    json_decref(inner);
    json_decref(outer);
}
END_TEST

/* ---- the two readers, side by side */

static void
assert_agree(struct writ_view text, const char *name)
{
    const char *verdict = writ_oracle_disagrees(text, writ_values_arena());

    ck_assert_msg(verdict == NULL, "%s: %s: " WRIT_VIEW_FMT, name, verdict,
        WRIT_VIEW_ARG(writ_view_sub(text, 0, 200)));
}

static void
check_file(const char *name, struct writ_view content, void *arg)
{
    (void)arg;
    assert_agree(content, name);
}

START_TEST(readers_agree_on_the_parser_corpus)
{
    ck_assert_uint_gt(
        writ_vectors_each("jsontestsuite/test_parsing", ".json", check_file, NULL), 300);
    ck_assert_uint_gt(writ_vectors_each("jcs/input", ".json", check_file, NULL), 0);
}
END_TEST

/* Deterministic noise. */
static uint32_t
noise(uint64_t *state, uint32_t below)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33) % below;
}

static void
put_noise(struct writ_buf *buf, uint64_t *state, int depth)
{
    static const char *const scalars[] = {"null", "true", "false", "0", "-0", "1", "-1.5", "1e3",
        "0.1", "1E-7", "123456789012345678", "9007199254740993", "1e21", "5e-324", "1e400", "01",
        "\"\"", "\"a\"", "\"\\n\\u0041\"", "\"\\ud83d\\ude00\"", "\"\xc3\xa9\"", "\"\\ud800\"",
        "\"\\u0000\"", "\"\xff\"", "NaN", "\"plain text that is longer than eight\""};
    static const char *const names[] = {"\"a\"", "\"b\"", "\"\\u0061\"", "\"\"", "\"z\"",
        "\"\xc3\xa9\"", "\"\xf0\x9f\x98\x80\"", "\"\xef\xac\xb3\"", "\"longer name\"", "\"c\"",
        "\"d\"", "\"e\""};
    uint32_t kind = noise(state, depth > 0 ? 4 : 2), count = noise(state, 5);

    if (kind < 2) {
        /* mostly from the front, where all are well-formed */
        writ_buf_str(buf, scalars[noise(state, noise(state, 30) == 0 ? 26 : 14)]);
        return;
    }
    writ_buf_byte(buf, kind == 2 ? '[' : '{');
    for (uint32_t i = 0; i < count; i++) {
        writ_buf_str(buf, i > 0 ? " , " : " ");
        if (kind == 3) {
            writ_buf_str(buf, names[(noise(state, 8) == 0 ? 0 : i * 3) % 12]);
            writ_buf_byte(buf, ':');
        }
        put_noise(buf, state, depth - 1);
    }
    writ_buf_byte(buf, kind == 2 ? ']' : '}');
}

START_TEST(readers_agree_on_random_documents)
{
    uint64_t state = 2026;
    struct writ_arena *arena = writ_arena_new((size_t)1 << 24);
    size_t accepted = 0;

    for (int i = 0; i < 20000; i++) {
        writ_auto_buf text = writ_buf_make(TEXT_MAX);
        const struct writ_json *value;
        const char *verdict;
        put_noise(&text, &state, 5);
        if (i % 4 == 0 && text.len > 0) { /* one byte off */
            text.ptr[noise(&state, (uint32_t)text.len)] =
                " \"\\{}[]:,0e.\x01\x80"[noise(&state, 14)];
        }
        verdict = writ_oracle_disagrees(writ_buf_view(&text), arena);
        ck_assert_msg(
            verdict == NULL, "%s: " WRIT_VIEW_FMT, verdict, WRIT_VIEW_ARG(writ_buf_view(&text)));
        accepted += writ_is_ok(
            writ_json_read(writ_buf_view(&text), &writ_json_limits_default, arena, &value, NULL));
        writ_arena_reset(arena);
    }
    writ_arena_free(arena);
    ck_assert_uint_gt(accepted, 5000); /* the noise is not just noise */
    ck_assert_uint_lt(accepted, 19000);
}
END_TEST

WRIT_UNIT_MAIN("jansson", read_makes_each_type, read_keeps_integers_exact,
    read_without_canonical_form_is_refused, read_has_a_deepest_nesting,
    read_of_an_absent_value_is_absent, claim_is_a_string_or_null, write_gives_the_canonical_form,
    write_without_canonical_form_is_refused, write_has_a_deepest_nesting,
    write_of_a_value_in_itself_is_too_deep, readers_agree_on_the_parser_corpus,
    readers_agree_on_random_documents)
