/* Keys of contents. The known bytes are of RFC 3394 4.6 and of Node's own crypto; anything but the
 * sealed bytes under the same key and the same authenticated bytes does not open. */
#include "support/unit.h"

#include "evidence/jose/wrap_key.h"

/* RFC 3394 4.6: the key 00 01 02 .. 1f */
#define KNOWN                                                                                      \
    "{\"alg\":\"A256KW\",\"k\":\"AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8\","                   \
    "\"kid\":\"WqjPPRvAP8oYbAqCwMErhzTg-Quaz-vLx_cef07yhOs\",\"kty\":\"oct\",\"use\":\"enc\"}"
#define KNOWN_WRAPPED                                                                              \
    "28c9f404c4b810f4cbccb35cfb87f8263f5786e2d80ed326cbc7f0e71a99f43bfb988b9b7a02dd21"
#define KNOWN_SEALED "07070707070707070707070750c87449407351c976d186fff4bb7270fc2c96c6daa0aa"
#define KNOWN_AAD    "writ content v1\narguments\nwhole\nd-1"

static struct writ_wrap_key *
key_of(const char *text)
{
    struct writ_wrap_key *key = NULL;
    struct writ_err err = {0};
    writ_result read = writ_wrap_key_read(writ_view_str(text), &key, &err);

    ck_assert_msg(writ_is_ok(read), "%s", err.text);
    return key;
}

static struct writ_view
hex(const char *text, uint8_t *to, size_t len)
{
    ck_assert_ok(writ_hex_read(writ_view_str(text), to, len));
    return writ_view(to, len);
}

START_TEST(open_of_known_bytes_gives_the_content)
{
    writ_auto_wrap_key key = key_of(KNOWN);
    writ_auto_buf plain = writ_buf_make(100);
    uint8_t wrapped[WRIT_WRAPPED_BYTES], sealed[(sizeof KNOWN_SEALED - 1) / 2];

    ck_assert_ok(
        writ_wrap_key_open(key, WRIT_LIT(KNOWN_AAD), hex(KNOWN_WRAPPED, wrapped, sizeof wrapped),
            hex(KNOWN_SEALED, sealed, sizeof sealed), &plain, NULL));
    ck_assert_view(writ_buf_view(&plain), "{\"a\":1}");
}
END_TEST

START_TEST(read_of_another_text_is_refused)
{
    static const struct {
        const char *text;
        enum writ_code code;
    } cases[] = {
        {"", WRIT_E_PARSE},
        {"[]", WRIT_E_INVALID},
        {"{\"alg\":\"A256KW\",\"k\":\"AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8\","
         "\"kid\":\"WqjPPRvAP8oYbAqCwMErhzTg-Quaz-vLx_cef07yhOt\",\"kty\":\"oct\",\"use\":\"enc\"}",
            WRIT_E_MISMATCH},
        {"{\"alg\":\"A256KW\",\"k\":\"AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHg\","
         "\"kid\":\"WqjPPRvAP8oYbAqCwMErhzTg-Quaz-vLx_cef07yhOs\",\"kty\":\"oct\",\"use\":\"enc\"}",
            WRIT_E_INVALID},
        {"{\"alg\":\"A128KW\",\"k\":\"AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8\","
         "\"kid\":\"WqjPPRvAP8oYbAqCwMErhzTg-Quaz-vLx_cef07yhOs\",\"kty\":\"oct\",\"use\":\"enc\"}",
            WRIT_E_INVALID},
        {"{\"alg\":\"A256KW\",\"k\":\"\\u0041AECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8\","
         "\"kid\":\"WqjPPRvAP8oYbAqCwMErhzTg-Quaz-vLx_cef07yhOs\",\"kty\":\"oct\",\"use\":\"enc\"}",
            WRIT_E_INVALID},
        {"{\"alg\":\"A256KW\",\"kid\":\"WqjPPRvAP8oYbAqCwMErhzTg-Quaz-vLx_cef07yhOs\","
         "\"kty\":\"oct\",\"use\":\"enc\"}",
            WRIT_E_INVALID},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct writ_wrap_key *key = NULL;

        ck_assert_code(writ_wrap_key_read(writ_view_str(cases[i].text), &key, NULL), cases[i].code);
        ck_assert_ptr_null(key);
    }
}
END_TEST

START_TEST(put_and_read_give_the_same_key)
{
    writ_auto_wrap_key key = NULL;
    writ_auto_wrap_key again = NULL;
    writ_auto_buf text = writ_buf_make(WRIT_WRAP_TEXT_MAX),
                  shown = writ_buf_make(WRIT_WRAP_TEXT_MAX);
    writ_auto_buf sealed = writ_buf_make(200), plain = writ_buf_make(200);
    uint8_t wrapped[WRIT_WRAPPED_BYTES];

    ck_assert_ok(writ_wrap_key_new(&key, NULL));
    ck_assert_ok(writ_wrap_key_put(key, &text, NULL));
    ck_assert_ok(writ_wrap_key_read(writ_buf_view(&text), &again, NULL));
    ck_assert(writ_view_equal(writ_wrap_key_kid(key), writ_wrap_key_kid(again)));
    ck_assert_ok(
        writ_wrap_key_seal(key, WRIT_LIT("aad"), WRIT_LIT("plain"), wrapped, &sealed, NULL));
    ck_assert_uint_eq(sealed.len, 5 + WRIT_WRAP_OVERHEAD);
    ck_assert_uint_eq(writ_view_search(writ_buf_view(&sealed), WRIT_LIT("plain")), sealed.len);
    ck_assert_ok(writ_wrap_key_open(again, WRIT_LIT("aad"), writ_view(wrapped, sizeof wrapped),
        writ_buf_view(&sealed), &plain, NULL));
    ck_assert_view(writ_buf_view(&plain), "plain");
    writ_wrap_key_put_public(key, &shown);
    ck_assert_uint_eq(writ_view_search(writ_buf_view(&shown), WRIT_LIT("\"k\"")), shown.len);
}
END_TEST

START_TEST(seal_twice_gives_other_keys_and_other_bytes)
{
    writ_auto_wrap_key key = key_of(KNOWN);
    writ_auto_buf one = writ_buf_make(200), two = writ_buf_make(200);
    uint8_t wrapped[2][WRIT_WRAPPED_BYTES];

    ck_assert_ok(writ_wrap_key_seal(key, WRIT_LIT("a"), WRIT_LIT("x"), wrapped[0], &one, NULL));
    ck_assert_ok(writ_wrap_key_seal(key, WRIT_LIT("a"), WRIT_LIT("x"), wrapped[1], &two, NULL));
    ck_assert(!writ_view_equal(
        writ_view(wrapped[0], WRIT_WRAPPED_BYTES), writ_view(wrapped[1], WRIT_WRAPPED_BYTES)));
    ck_assert(!writ_view_equal(writ_buf_view(&one), writ_buf_view(&two)));
}
END_TEST

/* Opens with one bit of `what` changed; the buffer must stay as it was. */
static void
refuses(const struct writ_wrap_key *key, struct writ_view aad, struct writ_view wrapped,
    struct writ_view sealed)
{
    writ_auto_buf plain = writ_buf_make(200);

    ck_assert_code(writ_wrap_key_open(key, aad, wrapped, sealed, &plain, NULL), WRIT_E_MISMATCH);
    ck_assert_uint_eq(plain.len, 0);
}

START_TEST(open_of_changed_bytes_is_a_mismatch)
{
    writ_auto_wrap_key key = key_of(KNOWN);
    writ_auto_wrap_key other = NULL;
    uint8_t wrapped[WRIT_WRAPPED_BYTES], sealed[(sizeof KNOWN_SEALED - 1) / 2];
    struct writ_view w = hex(KNOWN_WRAPPED, wrapped, sizeof wrapped);
    struct writ_view s = hex(KNOWN_SEALED, sealed, sizeof sealed);
    struct writ_view aad = WRIT_LIT(KNOWN_AAD);

    ck_assert_ok(writ_wrap_key_new(&other, NULL));
    refuses(other, aad, w, s);
    refuses(key, WRIT_LIT("writ content v1\nresult\nwhole\nd-1"), w, s);
    refuses(key, aad, writ_view_sub(w, 0, w.len - 1), s);
    for (size_t len = 0; len < s.len; len++) {
        refuses(key, aad, w, writ_view_sub(s, 0, len));
    }
    for (size_t i = 0; i < sizeof wrapped * 8; i++) {
        wrapped[i / 8] ^= (uint8_t)(1U << (i % 8));
        refuses(key, aad, w, s);
        wrapped[i / 8] ^= (uint8_t)(1U << (i % 8));
    }
    for (size_t i = 0; i < sizeof sealed * 8; i++) {
        sealed[i / 8] ^= (uint8_t)(1U << (i % 8));
        refuses(key, aad, w, s);
        sealed[i / 8] ^= (uint8_t)(1U << (i % 8));
    }
}
END_TEST

START_TEST(named_key_encrypts_and_decrypts_nothing)
{
    writ_auto_wrap_key key = NULL;
    writ_auto_buf buf = writ_buf_make(200);
    uint8_t wrapped[WRIT_WRAPPED_BYTES] = {0};

    ck_assert_code(writ_wrap_key_named(WRIT_LIT("x"), &key, NULL), WRIT_E_INVALID);
    ck_assert_ok(
        writ_wrap_key_named(WRIT_LIT("WqjPPRvAP8oYbAqCwMErhzTg-Quaz-vLx_cef07yhOs"), &key, NULL));
    ck_assert(!writ_wrap_key_is_secret(key));
    ck_assert_code(writ_wrap_key_put(key, &buf, NULL), WRIT_E_INVALID);
    ck_assert_code(
        writ_wrap_key_seal(key, WRIT_LIT("a"), WRIT_LIT("x"), wrapped, &buf, NULL), WRIT_E_INVALID);
    ck_assert_code(writ_wrap_key_open(key, WRIT_LIT("a"), writ_view(wrapped, sizeof wrapped),
                       WRIT_LIT("0123456789012345678901234567890"), &buf, NULL),
        WRIT_E_INVALID);
    ck_assert_uint_eq(buf.len, 0);
}
END_TEST

START_TEST(seal_beyond_its_limit_is_refused)
{
    writ_auto_wrap_key key = key_of(KNOWN);
    writ_auto_buf much = writ_buf_make(WRIT_WRAP_SEALED_MAX + 1);
    writ_auto_buf sealed = writ_buf_make(WRIT_WRAP_SEALED_MAX + WRIT_WRAP_OVERHEAD);
    writ_auto_buf small = writ_buf_make(WRIT_WRAP_OVERHEAD);
    uint8_t wrapped[WRIT_WRAPPED_BYTES];

    ck_assert_ptr_nonnull(writ_buf_reserve(&much, WRIT_WRAP_SEALED_MAX + 1));
    much.len = WRIT_WRAP_SEALED_MAX;
    ck_assert_ok(
        writ_wrap_key_seal(key, WRIT_LIT("a"), writ_buf_view(&much), wrapped, &sealed, NULL));
    much.len++;
    ck_assert_code(
        writ_wrap_key_seal(key, WRIT_LIT("a"), writ_buf_view(&much), wrapped, &sealed, NULL),
        WRIT_E_LIMIT);
    ck_assert_code(
        writ_wrap_key_seal(key, WRIT_LIT("a"), WRIT_LIT("x"), wrapped, &small, NULL), WRIT_E_LIMIT);
    writ_buf_clear(&sealed);
    ck_assert_ok(writ_wrap_key_seal(key, WRIT_LIT("a"), WRIT_LIT(""), wrapped, &sealed, NULL));
    ck_assert_uint_eq(sealed.len, WRIT_WRAP_OVERHEAD);
}
END_TEST

WRIT_UNIT_MAIN("wrap_key", open_of_known_bytes_gives_the_content, read_of_another_text_is_refused,
    put_and_read_give_the_same_key, seal_twice_gives_other_keys_and_other_bytes,
    open_of_changed_bytes_is_a_mismatch, named_key_encrypts_and_decrypts_nothing,
    seal_beyond_its_limit_is_refused)
