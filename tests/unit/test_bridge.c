#include "support/oracle.h"
#include "support/unit.h"
#include "support/value.h"
#include "support/vectors.h"

#include "evidence/bridge.h"
#include "evidence/jcs.h"

#include <stdio.h>
#include <string.h>

#define TEXT_MAX 65536

static json_t *
to_jansson(const char *text)
{
    json_t *value = NULL;

    ck_assert_ok(writ_bridge_to_jansson(writ_values_json(text), &value, NULL));
    return value;
}

START_TEST(each_type_crosses_to_jansson)
{
    json_t *value = to_jansson("{\"a\":[null,true,false,\"x\\u0000y\",-7,1.5,1e2,{}],\"\":[]}");
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
    json_decref(value);
}
END_TEST

START_TEST(integers_cross_exactly_or_not_at_all)
{
    json_t *value = to_jansson("9223372036854775807"), *before = value;
    struct writ_err err = {0};

    ck_assert(json_integer_value(value) == INT64_MAX);
    ck_assert_code(
        writ_bridge_to_jansson(writ_values_json("[1,9223372036854775808]"), &value, &err),
        WRIT_E_PARSE);
    ck_assert_ptr_eq(value, before);
    ck_assert_uint_eq(err.offset, 3);
    json_decref(value);
}
END_TEST

static void
assert_crosses_back(json_t *value, const char *want)
{
    writ_auto_buf buf = writ_buf_make(TEXT_MAX);
    const struct writ_json *crossed = NULL;

    ck_assert_ok(writ_bridge_from_jansson(
        value, &writ_json_limits_default, writ_values_arena(), &crossed, NULL));
    json_decref(value);
    ck_assert_ok(writ_jcs_put(&buf, crossed, NULL));
    ck_assert_view(writ_buf_view(&buf), want);
}

START_TEST(each_type_crosses_from_jansson)
{
    assert_crosses_back(json_pack("{s:[n,b,b],s:s,s:f}", "b", 1, 0, "a", "x\n\"", "c", 0.1),
        "{\"a\":\"x\\n\\\"\",\"b\":[null,true,false],\"c\":0.1}");
    assert_crosses_back(json_real(100), "100");
    assert_crosses_back(json_integer(-5), "-5");
    assert_crosses_back(json_stringn("a\0b", 3), "\"a\\u0000b\"");
    assert_crosses_back(json_array(), "[]");
    assert_crosses_back(json_object(), "{}");
}
END_TEST

START_TEST(an_integer_from_jansson_keeps_its_digits)
{
    json_t *value = json_integer(9007199254740993);
    const struct writ_json *crossed = NULL;
    writ_auto_buf buf = writ_buf_make(TEXT_MAX);

    ck_assert_ok(writ_bridge_from_jansson(
        value, &writ_json_limits_default, writ_values_arena(), &crossed, NULL));
    json_decref(value);
    ck_assert_view(writ_json_text(crossed), "9007199254740993");
    ck_assert_code(writ_jcs_put(&buf, crossed, NULL), WRIT_E_PARSE);
}
END_TEST

START_TEST(limits_hold_for_jansson_values_too)
{
    struct writ_json_limits limits = writ_json_limits_default;
    json_t *value = json_pack("[[s]]", "abc");
    const struct writ_json *crossed = NULL;
    struct writ_err err = {0};

    limits.depth = 2;
    limits.bytes = sizeof "[[\"abc\"]]" - 1;
    ck_assert_ok(writ_bridge_from_jansson(value, &limits, writ_values_arena(), &crossed, NULL));
    crossed = NULL;
    limits.depth = 1;
    ck_assert_code(writ_bridge_from_jansson(value, &limits, writ_values_arena(), &crossed, &err),
        WRIT_E_LIMIT);
    ck_assert_ptr_nonnull(strstr(err.text, "nested"));
    limits.depth = 2;
    limits.bytes--;
    ck_assert_code(writ_bridge_from_jansson(value, &limits, writ_values_arena(), &crossed, NULL),
        WRIT_E_LIMIT);
    limits.bytes++;
    limits.string_bytes = 2;
    ck_assert_code(writ_bridge_from_jansson(value, &limits, writ_values_arena(), &crossed, NULL),
        WRIT_E_LIMIT);
    ck_assert_ptr_null(crossed);
    json_decref(value);
}
END_TEST

START_TEST(a_string_that_jansson_did_not_check_is_refused)
{
    json_t *value = json_string_nocheck("\xff");
    const struct writ_json *crossed = NULL;

    ck_assert_code(writ_bridge_from_jansson(
                       value, &writ_json_limits_default, writ_values_arena(), &crossed, NULL),
        WRIT_E_PARSE);
    ck_assert_ptr_null(crossed);
    json_decref(value);
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

START_TEST(the_readers_agree_on_the_parser_corpus)
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

START_TEST(the_readers_agree_on_random_documents)
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

WRIT_UNIT_MAIN("bridge", each_type_crosses_to_jansson, integers_cross_exactly_or_not_at_all,
    each_type_crosses_from_jansson, an_integer_from_jansson_keeps_its_digits,
    limits_hold_for_jansson_values_too, a_string_that_jansson_did_not_check_is_refused,
    the_readers_agree_on_the_parser_corpus, the_readers_agree_on_random_documents)
