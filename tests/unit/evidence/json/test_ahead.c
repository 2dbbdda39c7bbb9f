/* A text that arrives in pieces has the same value and the same digest as one that is read at once,
 * whatever comes before and after its long string; and the string is not read twice. */
#include "support/unit.h"

#include "evidence/json/ahead.h"

#include <string.h>

#define LEAST 64

static const char *const befores[] = {
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"",
    "{\"result\":{\"content\":[{\"text\":\"",
    "{\"result\":\"",
    "{ \"result\" : [1e2, {\"b\":\"\\u00e4\", \"a\" : \"",
    "{\"other\":\"",                 /* it is digested, but is not in the result */
    "{\"result\":{\"",               /* a name */
    "{\"result\":{\"z\":1,\"z\":\"", /* twice */
    "{\"result\":{\"s\":\"\\u0000writ\",\"t\":\"",
    "{\"result\":{\"a\":[[[[[[[[[[[[[[[[[[\"",
    "[\"",
    "\"",
    "{\"result\":]\"",
};
static const char *const afters[] = {"\"}]},\"more\":\"2.0\"}",
    "\",\"type\":\"text\",\"annotations\":{}}],\"_meta\":{}}}", "\"}", "\"}]}", "\"", "", "\":1}}",
    "\"}}", "\"x", "\"]]]]]]]]]]]]]]]]]]}}", "\"]",
    "\",\"more\":\"a text that is so long that it could be found as well, one hundred bytes\"}]}}"};
static const char *const pieces[] = {"plain text ", "\\n", "\\\"", "\\\\", "\\u001f", "\xc3\xa4",
    "\xf0\x9f\x98\x80", "\\u001F", "\\/", "\\ud83d\\ude00", "\\u00e4", "\\ud83d", "\xff", "\x01"};

static void
put_text(struct writ_buf *ret, size_t before, size_t after, size_t n)
{
    size_t kinds = n % 3 == 0 ? 7 : n % 3 == 1 ? 1 : 11 + n % 4;

    writ_buf_str(ret, befores[before]);
    for (size_t i = 0; i < n; i++) {
        writ_buf_str(ret, pieces[(i * 5 + n) % kinds]);
    }
    writ_buf_str(ret, afters[after]);
}

/* Feeds the text in pieces of `step` bytes, each time at another place. */
static void
feed(struct writ_ahead *ahead, struct writ_view text, size_t step, char *places[2])
{
    writ_ahead_begin(ahead, WRIT_LIT("result"), LEAST);
    for (size_t len = step, turn = 0; len < text.len; len += step, turn++) {
        char *to = places[turn % 2];
        writ_ahead_feed(ahead, writ_view_place(writ_view_sub(text, 0, len), to));
        memset(places[(turn + 1) % 2], 'x', text.len);
    }
}

static void
check(struct writ_view text, size_t step)
{
    writ_auto_arena arena = writ_arena_new(1 << 20);
    struct writ_json_limits limits = writ_json_limits_default;
    const struct writ_json *now = NULL, *then = NULL;
    struct writ_digest want, got;
    struct writ_err err = {0}, ahead_err = {0};
    size_t want_bytes = 0, bytes = 0;
    struct writ_ahead ahead;
    char *places[2] = {writ_arena_get(arena, text.len), writ_arena_get(arena, text.len)};
    writ_result r;

    limits.late_bytes = 1 + step % 50;
    feed(&ahead, text, step, places);
    r = writ_json_read(text, &limits, arena, &now, &err);
    ck_assert_int_eq(writ_ahead_read(text, &limits, &ahead, arena, &then, &ahead_err).code, r.code);
    ck_assert_str_eq(err.text, ahead_err.text);
    if (!writ_is_ok(r)) {
        return;
    }
    ck_assert(writ_json_equal(now, then));
    now = writ_json_get(now, WRIT_LIT("result"));
    then = writ_json_get(then, WRIT_LIT("result"));
    if (now == NULL) {
        ck_assert_ptr_null(then);
        return;
    }
    ck_assert_ok(writ_digest_json_sized(now, 1 << 16, NULL, &want, &want_bytes, NULL));
    ck_assert_ok(writ_ahead_digest(&ahead, then, 1 << 16, &got, &bytes, NULL));
    ck_assert(writ_digest_equal(&want, &got));
    ck_assert_uint_eq(bytes, want_bytes);
    ck_assert_code(writ_ahead_digest(&ahead, then, bytes - 1, &got, &bytes, NULL), WRIT_E_LIMIT);
}

START_TEST(ahead_changes_no_value_and_no_digest)
{
    for (size_t before = 0; before < sizeof befores / sizeof befores[0]; before++) {
        for (size_t after = 0; after < sizeof afters / sizeof afters[0]; after++) {
            for (size_t n = 0; n < 3000; n = n * 2 + 1 + before % 2) {
                writ_auto_buf text = writ_buf_make(1 << 16);
                put_text(&text, before, after, n);
                for (size_t step = 1 + text.len / 50; step < 2 * text.len; step = step * 3 + 1) {
                    check(writ_buf_view(&text), step);
                }
            }
        }
    }
}
END_TEST

/* The test changes bytes of the string that were read: the reader does not look at them again. */
START_TEST(ahead_reads_the_string_once)
{
    for (size_t kind = 0; kind < 4; kind++) {
        writ_auto_arena arena = writ_arena_new(1 << 20);
        writ_auto_buf text = writ_buf_make(1 << 16);
        struct writ_json_limits limits = writ_json_limits_default;
        const struct writ_json *value = NULL;
        struct writ_ahead ahead;
        struct writ_digest want, got;
        size_t bytes = 0;

        limits.late_bytes = WRIT_JSON_LATE_BYTES;
        put_text(&text, kind, kind == 3 ? 2 : kind, 1500 + 3 * kind);
        writ_buf_str(&text, kind == 3 ? "]}" : "");
        ck_assert_ok(writ_json_read(writ_buf_view(&text), &limits, arena, &value, NULL));
        ck_assert_ok(
            writ_digest_json(writ_json_get(value, WRIT_LIT("result")), 1 << 16, &want, NULL));

        writ_ahead_begin(&ahead, WRIT_LIT("result"), LEAST);
        writ_ahead_feed(&ahead, writ_view_sub(writ_buf_view(&text), 0, text.len / 2));
        writ_ahead_feed(&ahead, writ_buf_view(&text));
        memset(text.ptr + ahead.start, '\x01', ahead.spelling.source);
        ck_assert_ok(writ_ahead_read(writ_buf_view(&text), &limits, &ahead, arena, &value, NULL));
        value = writ_json_get(value, WRIT_LIT("result"));
        if (kind == 1) { /* "annotations" and "_meta" come after it and sort before it */
            ck_assert_ok(writ_digest_json(value, 1 << 16, &got, NULL));
            ck_assert(!writ_digest_equal(&want, &got));
            continue;
        }
        ck_assert_ok(writ_ahead_digest(&ahead, value, 1 << 16, &got, &bytes, NULL));
        ck_assert(writ_digest_equal(&want, &got));
    }
}
END_TEST

START_TEST(ahead_of_a_short_text_does_nothing)
{
    struct writ_ahead ahead;

    writ_ahead_begin(&ahead, WRIT_LIT("result"), WRIT_AHEAD_BYTES);
    writ_ahead_feed(&ahead, WRIT_LIT("{\"result\":\"abc"));
    ck_assert(!ahead.looked);
    ck_assert_ptr_null(writ_ahead_string(&ahead, NULL));
}
END_TEST

WRIT_UNIT_MAIN("ahead", ahead_changes_no_value_and_no_digest, ahead_reads_the_string_once,
    ahead_of_a_short_text_does_nothing)
