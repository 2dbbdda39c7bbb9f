/* Compact signed tokens. The expected header is compared and never obeyed: unsigned tokens, MACs
 * keyed with a public key and every changed byte are refused. */
#include "support/evidence/keys.h"
#include "support/unit.h"

#include "evidence/jose/jws.h"

#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <string.h>

#define ARENA_MAX ((size_t)1 << 16)

static struct writ_signer *signer;
static struct writ_jwks *set;
static struct writ_arena *arena;

static void
setup(void)
{
    const struct writ_signer *all[1];

    signer = writ_keys_signer(WRIT_JWK_ALG_ES256);
    all[0] = signer;
    set = writ_keys_set(all, 1);
    arena = writ_arena_new(ARENA_MAX);
}

static void
teardown(void)
{
    writ_signer_free(signer);
    writ_jwks_free(set);
    writ_arena_free(arena);
}

/* A token of these three texts, with the signer's signature unless one is given. A '%' in the
 * header is replaced by the kid of the key. */
static void
put_token(const char *header, const char *payload, const char *signature, struct writ_buf *ret)
{
    writ_auto_buf raw = writ_buf_make(1024);
    writ_auto_buf text = writ_buf_make(16384);

    for (; *header != '\0'; header++) {
        if (*header == '%') {
            writ_buf_put(&text, writ_jwk_kid(writ_signer_jwk(signer)));
        } else {
            writ_buf_byte(&text, *header);
        }
    }
    writ_base64url_put(ret, writ_buf_view(&text));
    writ_buf_byte(ret, '.');
    writ_base64url_put(ret, writ_view_str(payload));
    if (signature == NULL) {
        ck_assert_ok(writ_signer_sign(signer, writ_buf_view(ret), &raw, NULL));
    } else {
        writ_buf_str(&raw, signature);
    }
    writ_buf_byte(ret, '.');
    writ_base64url_put(ret, writ_buf_view(&raw));
    ck_assert_ok(writ_buf_check(ret, NULL));
}

static writ_result
verify(struct writ_view token)
{
    struct writ_jws jws;
    writ_result result = writ_jws_read(token, arena, &jws, NULL);

    return writ_is_ok(result) ? writ_jws_verify(&jws, set, NULL) : result;
}

struct header_row {
    const char *what, *header;
    enum writ_code code;
};

/* headers that choose an algorithm, or name a key or a place to fetch one */
static const struct header_row headers[] = {
    {"as it must be", "{\"alg\":\"ES256\",\"kid\":\"%\",\"typ\":\"JWT\"}", WRIT_OK},
    {"any order and spacing", " {\"typ\":\"x\",\n\"kid\":\"%\", \"alg\":\"ES256\"}\t", WRIT_OK},
    {"without typ", "{\"alg\":\"ES256\",\"kid\":\"%\"}", WRIT_OK},
    {"without kid", "{\"alg\":\"ES256\"}", WRIT_E_ABSENT},
    {"kid empty", "{\"alg\":\"ES256\",\"kid\":\"\"}", WRIT_E_ABSENT},
    {"kid of nobody", "{\"alg\":\"ES256\",\"kid\":\"x\"}", WRIT_E_ABSENT},
    {"kid with a NUL behind", "{\"alg\":\"ES256\",\"kid\":\"%\\u0000\"}", WRIT_E_ABSENT},
    {"kid as a path", "{\"alg\":\"ES256\",\"kid\":\"../../../../dev/null\"}", WRIT_E_ABSENT},
    {"kid as SQL", "{\"alg\":\"ES256\",\"kid\":\"' OR 1=1 --\"}", WRIT_E_ABSENT},
    {"kid as URL", "{\"alg\":\"ES256\",\"kid\":\"http://localhost/key\"}", WRIT_E_ABSENT},
    {"kid as array", "{\"alg\":\"ES256\",\"kid\":[\"%\"]}", WRIT_E_PARSE},
    {"kid as null", "{\"alg\":\"ES256\",\"kid\":null}", WRIT_E_PARSE},
    {"alg none", "{\"alg\":\"none\",\"kid\":\"%\"}", WRIT_E_MISMATCH},
    {"alg None", "{\"alg\":\"None\",\"kid\":\"%\"}", WRIT_E_MISMATCH},
    {"alg NONE", "{\"alg\":\"NONE\",\"kid\":\"%\"}", WRIT_E_MISMATCH},
    {"alg nOnE", "{\"alg\":\"nOnE\",\"kid\":\"%\"}", WRIT_E_MISMATCH},
    {"alg none and a space", "{\"alg\":\"none \",\"kid\":\"%\"}", WRIT_E_MISMATCH},
    {"alg none and a NUL", "{\"alg\":\"none\\u0000\",\"kid\":\"%\"}", WRIT_E_MISMATCH},
    {"alg with a NUL behind", "{\"alg\":\"ES256\\u0000\",\"kid\":\"%\"}", WRIT_E_MISMATCH},
    {"alg empty", "{\"alg\":\"\",\"kid\":\"%\"}", WRIT_E_MISMATCH},
    {"alg in lower case", "{\"alg\":\"es256\",\"kid\":\"%\"}", WRIT_E_MISMATCH},
    {"alg HS256", "{\"alg\":\"HS256\",\"kid\":\"%\"}", WRIT_E_MISMATCH},
    {"alg RS256", "{\"alg\":\"RS256\",\"kid\":\"%\"}", WRIT_E_MISMATCH},
    {"alg ES384", "{\"alg\":\"ES384\",\"kid\":\"%\"}", WRIT_E_MISMATCH},
    {"alg EdDSA", "{\"alg\":\"EdDSA\",\"kid\":\"%\"}", WRIT_E_MISMATCH},
    {"alg null", "{\"alg\":null,\"kid\":\"%\"}", WRIT_E_PARSE},
    {"alg number", "{\"alg\":0,\"kid\":\"%\"}", WRIT_E_PARSE},
    {"alg array", "{\"alg\":[\"ES256\"],\"kid\":\"%\"}", WRIT_E_PARSE},
    {"alg false", "{\"alg\":false,\"kid\":\"%\"}", WRIT_E_PARSE},
    {"no alg", "{\"kid\":\"%\"}", WRIT_E_PARSE},
    {"ALG", "{\"ALG\":\"ES256\",\"kid\":\"%\"}", WRIT_E_PARSE},
    {"alg twice", "{\"alg\":\"none\",\"alg\":\"ES256\",\"kid\":\"%\"}", WRIT_E_PARSE},
    {"alg twice, spelled", "{\"alg\":\"ES256\",\"\\u0061lg\":\"none\",\"kid\":\"%\"}",
        WRIT_E_PARSE},
    {"kid twice", "{\"alg\":\"ES256\",\"kid\":\"%\",\"kid\":\"%\"}", WRIT_E_PARSE},
    {"jwk", "{\"alg\":\"ES256\",\"kid\":\"%\",\"jwk\":{\"kty\":\"oct\",\"k\":\"AAAA\"}}",
        WRIT_E_PARSE},
    {"jku", "{\"alg\":\"ES256\",\"kid\":\"%\",\"jku\":\"http://localhost/\"}", WRIT_E_PARSE},
    {"x5u", "{\"alg\":\"ES256\",\"kid\":\"%\",\"x5u\":\"http://localhost/\"}", WRIT_E_PARSE},
    {"x5c", "{\"alg\":\"ES256\",\"kid\":\"%\",\"x5c\":[\"AAAA\"]}", WRIT_E_PARSE},
    {"x5t", "{\"alg\":\"ES256\",\"kid\":\"%\",\"x5t\":\"AAAA\"}", WRIT_E_PARSE},
    {"cty", "{\"alg\":\"ES256\",\"kid\":\"%\",\"cty\":\"JWT\"}", WRIT_E_PARSE},
    {"crit", "{\"alg\":\"ES256\",\"kid\":\"%\",\"crit\":[\"exp\"],\"exp\":1}", WRIT_E_PARSE},
    {"crit empty", "{\"alg\":\"ES256\",\"kid\":\"%\",\"crit\":[]}", WRIT_E_PARSE},
    {"crit as a string", "{\"alg\":\"ES256\",\"kid\":\"%\",\"crit\":\"b64\"}", WRIT_E_PARSE},
    {"b64", "{\"alg\":\"ES256\",\"kid\":\"%\",\"b64\":false,\"crit\":[\"b64\"]}", WRIT_E_PARSE},
    {"enc", "{\"alg\":\"ES256\",\"kid\":\"%\",\"enc\":\"A128GCM\"}", WRIT_E_PARSE},
    {"zip", "{\"alg\":\"ES256\",\"kid\":\"%\",\"zip\":\"DEF\"}", WRIT_E_PARSE},
    {"__proto__", "{\"alg\":\"ES256\",\"kid\":\"%\",\"__proto__\":\"x\"}", WRIT_E_PARSE},
    {"array", "[\"ES256\"]", WRIT_E_PARSE},
    {"string", "\"ES256\"", WRIT_E_PARSE},
    {"nothing", "", WRIT_E_PARSE},
    {"two", "{\"alg\":\"ES256\",\"kid\":\"%\"}{}", WRIT_E_PARSE},
    {"bytes behind", "{\"alg\":\"ES256\",\"kid\":\"%\"}x", WRIT_E_PARSE},
    {"not UTF-8", "{\"alg\":\"ES256\",\"kid\":\"%\",\"typ\":\"\xff\"}", WRIT_E_PARSE},
};

START_TEST(jws_read_compares_the_header_with_the_expected_one)
{
    setup();
    for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++) {
        writ_auto_buf token = writ_buf_make(16384);
        writ_result result;

        put_token(headers[i].header, "{}", NULL, &token);
        result = verify(writ_buf_view(&token));
        ck_assert_msg(
            result.code == headers[i].code, "%s: %s", headers[i].what, writ_code_name(result.code));
        writ_arena_reset(arena);
    }
    teardown();
}
END_TEST

START_TEST(jws_check_of_an_unsigned_token_fails)
{
    static const char *const heads[] = {"{\"alg\":\"none\",\"kid\":\"%\"}",
        "{\"alg\":\"ES256\",\"kid\":\"%\"}", "{\"alg\":\"\",\"kid\":\"%\"}"};

    setup();
    for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
        writ_auto_buf token = writ_buf_make(16384);

        put_token(heads[i], "{}", "", &token);
        ck_assert_code(verify(writ_buf_view(&token)), WRIT_E_MISMATCH);
    }
    teardown();
}
END_TEST

/* Signs with HMAC-SHA256 and appends the signature to a token that lacks one. */
static void
put_mac(struct writ_view key, struct writ_buf *token)
{
    unsigned char mac[EVP_MAX_MD_SIZE];
    unsigned len = 0;

    ck_assert_ptr_nonnull(HMAC(EVP_sha256(), key.ptr, (int)key.len,
        (const unsigned char *)token->ptr, token->len - 1, mac, &len));
    writ_base64url_put(token, writ_view(mac, len));
}

/* a MAC keyed with a public form of the key: PEM, DER, the JWK, its coordinates */
START_TEST(jws_check_of_a_mac_with_the_public_key_fails)
{
    writ_auto_buf jwk = writ_buf_make(4096);
    writ_auto_buf pem = writ_buf_make(4096);
    BIO *bio = BIO_new(BIO_s_mem());
    BIO *public_bio = BIO_new(BIO_s_mem());
    unsigned char *der = NULL;
    char *public_pem;
    struct writ_view known[6];
    EVP_PKEY *key;

    setup();
    writ_jwk_put(&jwk, writ_signer_jwk(signer));
    ck_assert_ok(writ_signer_put_pem(signer, &pem, NULL));
    ck_assert_int_eq(BIO_write(bio, pem.ptr, (int)pem.len), (int)pem.len);
    key = PEM_read_bio_PrivateKey(bio, NULL, NULL, NULL);
    ck_assert_int_eq(PEM_write_bio_PUBKEY(public_bio, key), 1);
    known[0] = writ_view(NULL, 0);
    known[0].len = (size_t)BIO_get_mem_data(public_bio, &public_pem);
    known[0].ptr = public_pem;
    known[1] = writ_view_trim(writ_view_sub(known[0], 0, known[0].len - 1));
    known[2].len = (size_t)i2d_PUBKEY(key, &der);
    known[2].ptr = (const char *)der;
    known[3] = writ_view_sub(known[2], known[2].len - 65, 65); /* 04 || x || y */
    known[4] = writ_buf_view(&jwk);
    known[5] = writ_jwk_kid(writ_signer_jwk(signer));
    for (size_t i = 0; i < 6; i++) {
        writ_auto_buf token = writ_buf_make(16384);

        put_token("{\"alg\":\"HS256\",\"kid\":\"%\"}", "{}", "", &token);
        put_mac(known[i], &token);
        ck_assert_code(verify(writ_buf_view(&token)), WRIT_E_MISMATCH);
    }
    OPENSSL_free(der);
    EVP_PKEY_free(key);
    BIO_free(bio);
    BIO_free(public_bio);
    teardown();
}
END_TEST

/* r and s in {0, 1, n}, DER in place of raw, cut, padded */
START_TEST(signatures_of_other_forms_never_verify)
{
    static const char *const hex[] = {
        "00000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
        "000000000000000000000000000000000000000",
        "00000000000000000000000000000000000000000000000000000000000000010000000000000000000000000"
        "000000000000000000000000000000000000001",
        "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551ffffffff00000000fffffffff"
        "fffffffbce6faada7179e84f3b9cac2fc632551",
        "3006020101020101", "3006020100020100", "00", ""};

    setup();
    for (size_t i = 0; i < sizeof(hex) / sizeof(hex[0]); i++) {
        writ_auto_buf token = writ_buf_make(16384);
        uint8_t raw[64];
        size_t len = strlen(hex[i]) / 2;

        ck_assert_ok(writ_hex_read(writ_view_str(hex[i]), raw, len));
        put_token("{\"alg\":\"ES256\",\"kid\":\"%\"}", "{}", "", &token);
        writ_base64url_put(&token, writ_view(raw, len));
        ck_assert_code(verify(writ_buf_view(&token)), WRIT_E_MISMATCH);
    }
    teardown();
}
END_TEST

START_TEST(jws_check_of_every_changed_byte_fails)
{
    writ_auto_buf token = writ_buf_make(16384);

    setup();
    put_token("{\"alg\":\"ES256\",\"kid\":\"%\"}", "{\"a\":1}", NULL, &token);
    ck_assert_ok(verify(writ_buf_view(&token)));
    for (size_t at = 0; at < token.len; at++) {
        for (int bit = 0; bit < 8; bit++) {
            token.ptr[at] ^= (char)(1 << bit);
            ck_assert(!writ_is_ok(verify(writ_buf_view(&token))));
            token.ptr[at] ^= (char)(1 << bit);
            writ_arena_reset(arena);
        }
    }
    ck_assert_ok(verify(writ_buf_view(&token)));
    teardown();
}
END_TEST

/* the twin is a good signature of the same text, which is why single use goes by jti */
START_TEST(jws_check_of_the_twin_signature_verifies)
{
    static const uint8_t order[32] = {0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff,
        0xff, 0xff, 0xff, 0xff, 0xbc, 0xe6, 0xfa, 0xad, 0xa7, 0x17, 0x9e, 0x84, 0xf3, 0xb9, 0xca,
        0xc2, 0xfc, 0x63, 0x25, 0x51};
    writ_auto_buf token = writ_buf_make(16384);
    writ_auto_buf twin = writ_buf_make(16384);
    struct writ_jws jws;
    uint8_t raw[64];
    int borrow = 0;

    setup();
    put_token("{\"alg\":\"ES256\",\"kid\":\"%\"}", "{}", NULL, &token);
    ck_assert_ok(writ_jws_read(writ_buf_view(&token), arena, &jws, NULL));
    for (int i = 0; i < 64; i++) {
        raw[i] = (uint8_t)jws.signature.ptr[i];
    }
    for (int i = 31; i >= 0; i--) { /* s = n - s */
        int digit = order[i] - raw[32 + i] - borrow;
        borrow = digit < 0;
        raw[32 + i] = (uint8_t)(digit + (borrow ? 256 : 0));
    }
    writ_buf_put(&twin, jws.input);
    writ_buf_byte(&twin, '.');
    writ_base64url_put(&twin, writ_view(raw, sizeof(raw)));
    ck_assert(!writ_view_equal(writ_buf_view(&twin), writ_buf_view(&token)));
    ck_assert_ok(verify(writ_buf_view(&twin)));
    teardown();
}
END_TEST

struct form_row {
    const char *what, *before, *after; /* of a good token */
    size_t cut;                        /* bytes at its end */
};

/* other serialisations, and other spellings of the same bytes */
static const struct form_row forms[] = {
    {"space before", " ", "", 0},
    {"space behind", "", " ", 0},
    {"newline behind", "", "\n", 0},
    {"padding", "", "==", 0},
    {"a NUL behind", "", "", 0}, /* one byte more than the text */
    {"four parts", "", ".e30", 0},
    {"five parts", "", ".e30.e30", 0},
    {"a dot behind", "", ".", 0},
    {"a dot before", ".", "", 0},
    {"cut", "", "", 1},
    {"junk in the signature", "", "!", 0},
    {"plus in the signature", "", "+", 1},
    {"slash in the signature", "", "/", 1},
    {"JSON", "{\"payload\":\"", "\"}", 0},
    {"quoted", "\"", "\"", 0},
    {"a byte order mark", "\xef\xbb\xbf", "", 0},
};

START_TEST(jws_read_of_another_form_is_refused)
{
    writ_auto_buf token = writ_buf_make(16384);

    setup();
    put_token("{\"alg\":\"ES256\",\"kid\":\"%\"}", "{}", NULL, &token);
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        writ_auto_buf other = writ_buf_make(16384);
        struct writ_jws jws = {.alg = WRIT_LIT("untouched")};

        writ_buf_str(&other, forms[i].before);
        writ_buf_put(&other, writ_view_sub(writ_buf_view(&token), 0, token.len - forms[i].cut));
        writ_buf_str(&other, forms[i].after);
        if (strstr(forms[i].what, "NUL") != NULL) {
            writ_buf_byte(&other, '\0');
        }
        ck_assert_msg(writ_jws_read(writ_buf_view(&other), arena, &jws, NULL).code == WRIT_E_PARSE,
            "%s", forms[i].what);
        ck_assert_view(jws.alg, "untouched");
    }
    teardown();
}
END_TEST

START_TEST(jws_read_splits_at_dots_only)
{
    static const char *const texts[] = {
        "", ".", "..", "...", "e30", "e30.e30", "e30..", ".e30.", "..e30", "e30.e30.e30.e30"};

    setup();
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct writ_jws jws;

        ck_assert_msg(
            writ_jws_read(writ_view_str(texts[i]), arena, &jws, NULL).code == WRIT_E_PARSE, "%s",
            texts[i]);
    }
    teardown();
}
END_TEST

START_TEST(jws_read_checks_the_length_first)
{
    setup();
    for (size_t extra = 0; extra <= 1; extra++) {
        writ_auto_buf payload = writ_buf_make(16384);
        writ_auto_buf token = writ_buf_make(16384);
        struct writ_jws jws;

        /* header 96 bytes, signature 86, two dots, and a payload of 6006 bytes: 8008 */
        writ_buf_str(&payload, "{\"a\":\"");
        while (payload.len < 6005) {
            writ_buf_byte(&payload, 'x');
        }
        writ_buf_str(&payload, "\"}");
        writ_buf_byte(&payload, '\0');
        put_token("{\"alg\":\"ES256\",\"kid\":\"%\"}", payload.ptr, "", &token);
        while (token.len < WRIT_JWS_BYTES_MAX + extra) {
            writ_buf_byte(&token, 'A');
        }
        ck_assert_int_eq(writ_jws_read(writ_buf_view(&token), arena, &jws, NULL).code,
            extra == 0 ? WRIT_OK : WRIT_E_LIMIT);
        writ_arena_reset(arena);
    }
    for (size_t len = WRIT_JWS_BYTES_MAX + 1; len < ((size_t)1 << 20); len *= 3) {
        writ_auto_buf junk = writ_buf_make((size_t)1 << 20);
        struct writ_jws jws;

        while (junk.len < len) {
            writ_buf_byte(&junk, '.');
        }
        ck_assert_code(writ_jws_read(writ_buf_view(&junk), arena, &jws, NULL), WRIT_E_LIMIT);
    }
    teardown();
}
END_TEST

START_TEST(jws_read_with_a_small_arena_fails)
{
    writ_auto_buf token = writ_buf_make(16384);
    struct writ_arena *small = writ_arena_new(100);
    struct writ_jws jws;

    setup();
    put_token("{\"alg\":\"ES256\",\"kid\":\"%\"}", "{}", NULL, &token);
    ck_assert_code(writ_jws_read(writ_buf_view(&token), small, &jws, NULL), WRIT_E_NOMEM);
    writ_arena_free(small);
    teardown();
}
END_TEST

START_TEST(claims_are_one_strict_object)
{
    static const char *const payloads[] = {"", "x", "[]", "1", "null", "{\"a\":1,\"a\":2}",
        "{\"a\":1}x", "{\"a\":1e999}",
        "{\"a\":{\"b\":{\"c\":{\"d\":{\"e\":{\"f\":{\"g\":{\"h\":{}}}}}}}}}}"};

    setup();
    for (size_t i = 0; i < sizeof(payloads) / sizeof(payloads[0]); i++) {
        writ_auto_buf token = writ_buf_make(16384);
        const struct writ_json *claims = NULL;
        struct writ_jws jws;

        put_token("{\"alg\":\"ES256\",\"kid\":\"%\"}", payloads[i], NULL, &token);
        ck_assert_ok(writ_jws_read(writ_buf_view(&token), arena, &jws, NULL));
        ck_assert_msg(!writ_is_ok(writ_jws_claims(&jws, arena, &claims, NULL)), "%s", payloads[i]);
        ck_assert_ptr_null(claims);
        writ_arena_reset(arena);
    }
    teardown();
}
END_TEST

START_TEST(jws_sign_reads_back)
{
    static const enum writ_jwk_alg algs[] = {
        WRIT_JWK_ALG_ES256, WRIT_JWK_ALG_RS256, WRIT_JWK_ALG_EDDSA};

    arena = writ_arena_new(ARENA_MAX);
    for (size_t i = 0; i < 3; i++) {
        struct writ_signer *one = writ_keys_signer(algs[i]);
        writ_auto_buf token = writ_buf_make(16384);
        struct writ_jws jws;

        writ_buf_str(&token, "kept ");
        ck_assert_ok(writ_jws_sign(one, WRIT_LIT("a/b+c"), WRIT_LIT("{}"), &token, NULL));
        ck_assert(writ_view_has_prefix(writ_buf_view(&token), WRIT_LIT("kept ")));
        ck_assert_ok(
            writ_jws_read(writ_view_sub(writ_buf_view(&token), 5, token.len), arena, &jws, NULL));
        ck_assert_view(jws.typ, "a/b+c");
        ck_assert_view(jws.alg, writ_jwk_alg_name(algs[i]));
        ck_assert_view(jws.payload, "{}");
        ck_assert_ok(writ_jws_check(&jws, writ_signer_jwk(one), NULL));
        writ_signer_free(one);
    }
    writ_arena_free(arena);
}
END_TEST

START_TEST(jws_sign_beyond_the_maximum_is_refused)
{
    writ_auto_buf payload = writ_buf_make(16384);
    writ_auto_buf token = writ_buf_make(32768);

    setup();
    while (payload.len < WRIT_JWS_BYTES_MAX) {
        writ_buf_byte(&payload, 'x');
    }
    ck_assert_code(writ_jws_sign(signer, WRIT_LIT("JWT"), writ_buf_view(&payload), &token, NULL),
        WRIT_E_LIMIT);
    teardown();
}
END_TEST

WRIT_UNIT_MAIN("jws", jws_read_compares_the_header_with_the_expected_one,
    jws_check_of_an_unsigned_token_fails, jws_check_of_a_mac_with_the_public_key_fails,
    signatures_of_other_forms_never_verify, jws_check_of_every_changed_byte_fails,
    jws_check_of_the_twin_signature_verifies, jws_read_of_another_form_is_refused,
    jws_read_splits_at_dots_only, jws_read_checks_the_length_first,
    jws_read_with_a_small_arena_fails, claims_are_one_strict_object, jws_sign_reads_back,
    jws_sign_beyond_the_maximum_is_refused)
