/* Digests of bytes and of JSON values. Equal values have equal digests, a saved stream continues
 * where it stopped, and a failure leaves the digest unchanged. */
#include "support/unit.h"
#include "support/evidence/value.h"

#include "evidence/json/digest.h"
#include "evidence/json/jcs.h"

#include <pthread.h>
#include <string.h>

#define CANONICAL_MAX 65536

/* FIPS 180-4 examples and the empty message */
#define DIGEST_EMPTY "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
#define DIGEST_ABC   "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
/* of "{}" */
#define DIGEST_NO_MEMBERS "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"

static void
assert_digest(const struct writ_digest *digest, const char *want)
{
    char text[WRIT_DIGEST_TEXT];
    struct writ_buf buf = writ_buf_make(100);

    writ_digest_text(digest, text);
    ck_assert_str_eq(text, want);
    writ_digest_put(&buf, digest);
    ck_assert_view(writ_buf_view(&buf), want);
    writ_buf_wipe(&buf);
}

START_TEST(digest_bytes_gives_the_examples_of_fips_180)
{
    struct writ_view pieces[] = {WRIT_LIT("a"), WRIT_LIT(""), {NULL, 0}, WRIT_LIT("bc")};
    struct writ_digest digest;

    ck_assert_ok(writ_digest_bytes(writ_view(NULL, 0), &digest, NULL));
    assert_digest(&digest, DIGEST_EMPTY);
    ck_assert_ok(writ_digest_bytes(WRIT_LIT("abc"), &digest, NULL));
    assert_digest(&digest, DIGEST_ABC);
    ck_assert_ok(writ_digest_pieces(pieces, 4, &digest, NULL));
    assert_digest(&digest, DIGEST_ABC);
    ck_assert_ok(writ_digest_pieces(pieces, 0, &digest, NULL));
    assert_digest(&digest, DIGEST_EMPTY);
}
END_TEST

START_TEST(digest_stream_covers_all_added_bytes)
{
    struct writ_digest_stream stream;
    struct writ_digest digest, before;

    ck_assert_ok(writ_digest_stream_init(&stream, NULL));
    ck_assert_ok(writ_digest_stream_add(&stream, WRIT_LIT("ab"), NULL));
    ck_assert_ok(writ_digest_bytes(WRIT_LIT("other"), &digest, NULL)); /* does not disturb it */
    ck_assert_ok(writ_digest_stream_add(&stream, WRIT_LIT("c"), NULL));
    ck_assert_ok(writ_digest_stream_end(&stream, &digest, NULL));
    assert_digest(&digest, DIGEST_ABC);

    before = digest;
    ck_assert_code(writ_digest_stream_add(&stream, WRIT_LIT("c"), NULL), WRIT_E_CRYPTO);
    ck_assert_code(writ_digest_stream_end(&stream, &digest, NULL), WRIT_E_CRYPTO);
    ck_assert(writ_digest_equal(&before, &digest));
    writ_digest_stream_wipe(&stream);
    writ_digest_stream_wipe(&(struct writ_digest_stream){0});
}
END_TEST

START_TEST(digest_stream_resumes_from_its_saved_state)
{
    static const char text[300] = "what stands here does not matter";

    for (size_t at = 0; at <= sizeof text; at += 13) {
        struct writ_digest_stream stream, again;
        struct writ_digest want, got;
        uint8_t saved[WRIT_DIGEST_STREAM_BYTES], twice[WRIT_DIGEST_STREAM_BYTES];

        ck_assert_ok(writ_digest_stream_init(&stream, NULL));
        ck_assert_ok(writ_digest_stream_add(&stream, writ_view(text, at), NULL));
        writ_digest_stream_save(&stream, saved);
        writ_digest_stream_restore(&again, saved);
        writ_digest_stream_save(&again, twice);
        ck_assert(writ_view_equal(writ_view(saved, sizeof saved), writ_view(twice, sizeof twice)));
        ck_assert_ok(writ_digest_stream_add(&again, writ_view(text + at, sizeof text - at), NULL));
        ck_assert_ok(writ_digest_stream_end(&again, &got, NULL));
        ck_assert_ok(writ_digest_bytes(writ_view(text, sizeof text), &want, NULL));
        ck_assert(writ_digest_equal(&want, &got));
    }
}
END_TEST

START_TEST(equal_values_have_equal_digests)
{
    static const char *const same[] = {"{\"b\":[1e2,\"\\u00e9\"],\"a\":-0}",
        "{ \"a\": 0, \"b\": [100, \"\xc3\xa9\"] }", "{\"\\u0061\":0.0,\"b\":[100.0,\"\\u00E9\"]}"};
    struct writ_digest first, digest, canonical;

    ck_assert_ok(writ_digest_json(writ_values_json(same[0]), CANONICAL_MAX, &first, NULL));
    ck_assert_ok(
        writ_digest_bytes(WRIT_LIT("{\"a\":0,\"b\":[100,\"\xc3\xa9\"]}"), &canonical, NULL));
    ck_assert(writ_digest_equal(&first, &canonical));
    for (size_t i = 1; i < sizeof same / sizeof same[0]; i++) {
        ck_assert_ok(writ_digest_json(writ_values_json(same[i]), CANONICAL_MAX, &digest, NULL));
        ck_assert(writ_digest_equal(&first, &digest));
    }
    ck_assert_ok(writ_digest_json(writ_values_json("{\"a\":1}"), CANONICAL_MAX, &digest, NULL));
    ck_assert(!writ_digest_equal(&first, &digest));
    ck_assert_ok(writ_digest_json(writ_values_json("{}"), CANONICAL_MAX, &digest, NULL));
    assert_digest(&digest, DIGEST_NO_MEMBERS);
}
END_TEST

START_TEST(digest_on_failure_leaves_ret_unchanged)
{
    struct writ_digest digest, before;

    memset(&digest, 0x5a, sizeof digest);
    before = digest;
    ck_assert_code(writ_digest_json(writ_values_json("[1]"), 2, &digest, NULL), WRIT_E_LIMIT);
    ck_assert_code(writ_digest_json(writ_values_json("[1]"), 0, &digest, NULL), WRIT_E_LIMIT);
    ck_assert_code(
        writ_digest_json(writ_values_json("[1e-400]"), CANONICAL_MAX, &digest, NULL), WRIT_E_PARSE);
    ck_assert_code(writ_digest_read(WRIT_LIT("sha256:00"), &digest, NULL), WRIT_E_PARSE);
    ck_assert(writ_digest_equal(&before, &digest));
    ck_assert_ok(writ_digest_json(writ_values_json("[1]"), 3, &digest, NULL));
    ck_assert(!writ_digest_equal(&before, &digest));
}
END_TEST

START_TEST(digest_read_of_another_spelling_is_refused)
{
    static const char *const wrong[] = {"",
        "sha256:", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
        "SHA256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
        "sha256:BA7816BF8F01CFEA414140DE5DAE2223B00361A396177A9CB410FF61F20015AD",
        "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015a",
        "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad0",
        "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ag",
        "sha256: ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
        "sha512:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"};
    struct writ_digest digest, abc;
    struct writ_err err = {0};

    ck_assert_ok(writ_digest_bytes(WRIT_LIT("abc"), &abc, NULL));
    ck_assert_ok(writ_digest_read(WRIT_LIT(DIGEST_ABC), &digest, NULL));
    ck_assert(writ_digest_equal(&abc, &digest));
    ck_assert(writ_digest_is(WRIT_LIT(DIGEST_ABC)));
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        ck_assert_msg(writ_digest_read(writ_view_str(wrong[i]), &digest, &err).code == WRIT_E_PARSE,
            "%s", wrong[i]);
        ck_assert(err.text[0] != '\0');
        ck_assert(!writ_digest_is(writ_view_str(wrong[i])));
    }
}
END_TEST

static void *
digest_in_thread(void *arg)
{
    struct writ_digest *ret = arg;

    for (int i = 0; i < 1000; i++) {
        if (!writ_is_ok(writ_digest_bytes(WRIT_LIT("abc"), ret, NULL))) {
            return NULL;
        }
    }
    return ret;
}

START_TEST(threads_digest_side_by_side)
{
    pthread_t threads[4];
    struct writ_digest digests[4];

    for (int i = 0; i < 4; i++) {
        ck_assert_int_eq(pthread_create(&threads[i], NULL, digest_in_thread, &digests[i]), 0);
    }
    for (int i = 0; i < 4; i++) {
        void *done = NULL;
        ck_assert_int_eq(pthread_join(threads[i], &done), 0);
        ck_assert_ptr_eq(done, &digests[i]);
        assert_digest(&digests[i], DIGEST_ABC);
    }
}
END_TEST

/* Canonical forms longer than the memory that holds them, with and without escapes. */
START_TEST(digest_json_of_any_length_is_that_of_the_canonical_form)
{
    static const char *const pieces[] = {
        "plain text ", "\\n", "\\u001f\\\"", "\xc3\xa4\\\\", "\\u00e4"};

    for (size_t n = 0; n < 5000; n = n * 2 + 1) {
        writ_auto_arena arena = writ_arena_new(1 << 22);
        writ_auto_buf text = writ_buf_make(1 << 20), canonical = writ_buf_make(1 << 20);
        struct writ_json_limits limits = writ_json_limits_default;
        const struct writ_json *value;
        struct writ_digest digest, want;
        size_t bytes = 0;
        writ_buf_str(&text, "{\"z\":[");
        for (size_t kind = 0; kind < 5; kind++) {
            writ_buf_byte(&text, '"');
            for (size_t i = 0; i < n; i++) {
                writ_buf_str(&text, pieces[kind == 0 ? i % 5 : kind - (i % 7 == 0)]);
            }
            writ_buf_str(&text, "\",1.5,");
        }
        writ_buf_str(&text, "null],\"a\":true}");
        ck_assert_ok(writ_json_read(writ_buf_view(&text), &limits, arena, &value, NULL));
        ck_assert_ok(writ_jcs_put(&canonical, value, NULL));
        ck_assert_ok(writ_digest_bytes(writ_buf_view(&canonical), &want, NULL));
        ck_assert_ok(writ_digest_json_sized(value, canonical.len, NULL, &digest, &bytes, NULL));
        ck_assert(writ_digest_equal(&digest, &want));
        ck_assert_uint_eq(bytes, canonical.len);
        ck_assert_code(
            writ_digest_json_sized(value, canonical.len - 1, NULL, &digest, &bytes, NULL),
            WRIT_E_LIMIT);
    }
}
END_TEST

WRIT_UNIT_MAIN("digest", digest_bytes_gives_the_examples_of_fips_180,
    digest_stream_covers_all_added_bytes, digest_stream_resumes_from_its_saved_state,
    equal_values_have_equal_digests, digest_on_failure_leaves_ret_unchanged,
    digest_read_of_another_spelling_is_refused, threads_digest_side_by_side,
    digest_json_of_any_length_is_that_of_the_canonical_form)
