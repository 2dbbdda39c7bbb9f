/* One public key as a JWK. Only a key that can verify is read, without private members, and its
 * kid is the given one or its thumbprint. */
#include "support/evidence/keys.h"
#include "support/unit.h"

#include <stdio.h>
#include <string.h>

#define ARENA_MAX ((size_t)1 << 22)

/* RFC 7515 A.3.1, the public half */
#define EC_X "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU"
#define EC_Y "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"
/* RFC 8037 A.2 */
#define ED_X "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"
/* RFC 8037 A.3 */
#define ED_THUMBPRINT "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k"

static writ_result
read_key(const char *text, struct writ_jwk **ret, struct writ_err *err)
{
    struct writ_arena *arena = writ_arena_new(ARENA_MAX);
    writ_result result = writ_jwk_read(writ_keys_json(text, arena), ret, err);

    writ_arena_free(arena);
    return result;
}

START_TEST(jwk_read_without_a_kid_uses_the_thumbprint)
{
    struct writ_jwk *key = NULL;
    writ_auto_buf text = writ_buf_make(4096);

    ck_assert_ok(read_key("{\"x\":\"" ED_X "\",\"crv\":\"Ed25519\",\"kty\":\"OKP\"}", &key, NULL));
    ck_assert_view(writ_jwk_kid(key), ED_THUMBPRINT);
    ck_assert_view(writ_jwk_thumbprint(key), ED_THUMBPRINT);
    ck_assert_int_eq(writ_jwk_alg(key), WRIT_JWK_ALG_EDDSA);
    writ_jwk_put(&text, key);
    ck_assert_view(writ_buf_view(&text),
        "{\"alg\":\"EdDSA\",\"crv\":\"Ed25519\",\"kid\":\"" ED_THUMBPRINT
        "\",\"kty\":\"OKP\",\"use\":\"sig\",\"x\":\"" ED_X "\"}");
    writ_jwk_free(key);
}
END_TEST

START_TEST(jwk_read_keeps_the_kid_and_drops_other_members)
{
    struct writ_jwk *key = NULL;
    writ_auto_buf text = writ_buf_make(4096);

    ck_assert_ok(read_key("{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"" EC_X "\",\"y\":\"" EC_Y
                          "\",\"kid\":\"\\u0000a/../b\",\"x5u\":\"http://nowhere.example/\","
                          "\"key_ops\":[\"verify\"],\"use\":\"sig\",\"alg\":\"ES256\"}",
        &key, NULL));
    ck_assert(writ_view_equal(writ_jwk_kid(key), writ_view("\0a/../b", 7)));
    writ_jwk_put(&text, key);
    ck_assert_view(writ_buf_view(&text),
        "{\"alg\":\"ES256\",\"crv\":\"P-256\",\"kid\":\"\\u0000a/../b\",\"kty\":\"EC\","
        "\"use\":\"sig\",\"x\":\"" EC_X "\",\"y\":\"" EC_Y "\"}");
    writ_jwk_free(key);
}
END_TEST

#define EC(more)  "{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"" EC_X "\",\"y\":\"" EC_Y "\"" more "}"
#define OKP(more) "{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":\"" ED_X "\"" more "}"

struct refusal {
    const char *what, *text;
    enum writ_code code;
};

static const struct refusal refusals[] = {
    {"no object", "[]", WRIT_E_INVALID},
    {"empty", "{}", WRIT_E_INVALID},
    {"unknown type", "{\"kty\":\"AKP\"}", WRIT_E_INVALID},
    {"type in other case", "{\"kty\":\"ec\",\"crv\":\"P-256\"}", WRIT_E_INVALID},
    {"type is not a string", "{\"kty\":1}", WRIT_E_INVALID},
    {"symmetric", "{\"kty\":\"oct\",\"k\":\"AAAA\"}", WRIT_E_MISMATCH},
    {"symmetric without its key", "{\"kty\":\"oct\"}", WRIT_E_MISMATCH},
    {"symmetric member in an EC key", EC(",\"k\":\"AAAA\""), WRIT_E_MISMATCH},
    {"private EC key", EC(",\"d\":\"AAAA\""), WRIT_E_MISMATCH},
    {"private member that is null", EC(",\"d\":null"), WRIT_E_MISMATCH},
    {"private OKP key", OKP(",\"d\":\"AAAA\""), WRIT_E_MISMATCH},
    {"private RSA factor", "{\"kty\":\"RSA\",\"p\":\"AAAA\"}", WRIT_E_MISMATCH},
    {"encryption key", EC(",\"use\":\"enc\""), WRIT_E_INVALID},
    {"use is not a string", EC(",\"use\":[\"sig\"]"), WRIT_E_INVALID},
    {"signs only", EC(",\"key_ops\":[\"sign\"]"), WRIT_E_INVALID},
    {"no operations", EC(",\"key_ops\":[]"), WRIT_E_INVALID},
    {"operations are no array", EC(",\"key_ops\":\"verify\""), WRIT_E_INVALID},
    {"alg of another type", EC(",\"alg\":\"RS256\""), WRIT_E_INVALID},
    {"alg of another curve", EC(",\"alg\":\"ES384\""), WRIT_E_INVALID},
    {"alg none", EC(",\"alg\":\"none\""), WRIT_E_INVALID},
    {"alg empty", EC(",\"alg\":\"\""), WRIT_E_INVALID},
    {"alg in other case", EC(",\"alg\":\"es256\""), WRIT_E_INVALID},
    {"alg is null", EC(",\"alg\":null"), WRIT_E_INVALID},
    {"alg of a MAC", EC(",\"alg\":\"HS256\""), WRIT_E_INVALID},
    {"kid empty", EC(",\"kid\":\"\""), WRIT_E_INVALID},
    {"kid is a number", EC(",\"kid\":1"), WRIT_E_INVALID},
    {"other curve", "{\"kty\":\"EC\",\"crv\":\"P-384\",\"x\":\"" EC_X "\",\"y\":\"" EC_Y "\"}",
        WRIT_E_INVALID},
    {"no curve", "{\"kty\":\"EC\",\"x\":\"" EC_X "\",\"y\":\"" EC_Y "\"}", WRIT_E_INVALID},
    {"no y", "{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"" EC_X "\"}", WRIT_E_INVALID},
    {"not on the curve", "{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"" EC_X "\",\"y\":\"" EC_X "\"}",
        WRIT_E_INVALID},
    {"31 bytes",
        "{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVA\","
        "\"y\":\"" EC_Y "\"}",
        WRIT_E_INVALID},
    {"padded", "{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":\"" ED_X "=\"}", WRIT_E_INVALID},
    {"loose last bits",
        "{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":\"11qYAYKxCrfVS_"
        "7TyWQHOg7hcvPapiMlrwIaaPcHURp\"}",
        WRIT_E_INVALID},
    {"other OKP curve", "{\"kty\":\"OKP\",\"crv\":\"X25519\",\"x\":\"" ED_X "\"}", WRIT_E_INVALID},
    {"RSA without numbers", "{\"kty\":\"RSA\"}", WRIT_E_INVALID},
    {"RSA of a few bits", "{\"kty\":\"RSA\",\"n\":\"f83OJ3D2xF1B\",\"e\":\"AQAB\"}",
        WRIT_E_INVALID},
};

START_TEST(jwk_read_of_no_verifying_key_is_refused)
{
    for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
        struct writ_jwk *key = NULL;
        struct writ_err err = {0};

        ck_assert_msg(read_key(refusals[i].text, &key, &err).code == refusals[i].code, "%s: %s",
            refusals[i].what, err.text);
        ck_assert_ptr_null(key);
        ck_assert_msg(err.text[0] != '\0', "%s", refusals[i].what);
    }
}
END_TEST

START_TEST(jwk_read_limits_the_kid)
{
    for (size_t extra = 0; extra <= 1; extra++) {
        writ_auto_buf text = writ_buf_make(4096);
        struct writ_jwk *key = NULL;

        writ_buf_str(&text, "{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":\"" ED_X "\",\"kid\":\"");
        for (size_t i = 0; i < WRIT_JWK_KID_MAX + extra; i++) {
            writ_buf_byte(&text, 'k');
        }
        writ_buf_str(&text, "\"}");
        writ_buf_byte(&text, '\0');
        ck_assert_int_eq(
            read_key(text.ptr, &key, NULL).code, extra == 0 ? WRIT_OK : WRIT_E_INVALID);
        writ_jwk_free(key);
    }
}
END_TEST

START_TEST(names_of_algorithms_are_exact)
{
    ck_assert_int_eq(writ_jwk_alg_named(WRIT_LIT("ES256")), WRIT_JWK_ALG_ES256);
    ck_assert_int_eq(writ_jwk_alg_named(WRIT_LIT("RS256")), WRIT_JWK_ALG_RS256);
    ck_assert_int_eq(writ_jwk_alg_named(WRIT_LIT("EdDSA")), WRIT_JWK_ALG_EDDSA);
    ck_assert_int_eq(writ_jwk_alg_named(WRIT_LIT("none")), WRIT_JWK_ALG_NONE);
    ck_assert_int_eq(writ_jwk_alg_named(WRIT_LIT("es256")), WRIT_JWK_ALG_NONE);
    ck_assert_int_eq(writ_jwk_alg_named(WRIT_LIT("")), WRIT_JWK_ALG_NONE);
    ck_assert_int_eq(writ_jwk_alg_named(writ_view(NULL, 0)), WRIT_JWK_ALG_NONE);
    ck_assert_str_eq(writ_jwk_alg_name(WRIT_JWK_ALG_NONE), "");
    ck_assert_str_eq(writ_jwk_alg_name((enum writ_jwk_alg)99), "");
}
END_TEST

START_TEST(jwk_hold_outlives_the_first_owner)
{
    struct writ_signer *signer = writ_keys_signer(WRIT_JWK_ALG_ES256);
    struct writ_jwk *key = writ_jwk_hold(writ_signer_jwk(signer));
    writ_auto_buf signature = writ_buf_make(WRIT_SIGNER_BYTES_MAX);

    ck_assert_ok(writ_signer_sign(signer, WRIT_LIT("x"), &signature, NULL));
    writ_signer_free(signer);
    ck_assert_ok(writ_jwk_verify(key, WRIT_LIT("x"), writ_buf_view(&signature), NULL));
    writ_jwk_free(key);
    writ_jwk_free(NULL);
}
END_TEST

WRIT_UNIT_MAIN("jwk", jwk_read_without_a_kid_uses_the_thumbprint,
    jwk_read_keeps_the_kid_and_drops_other_members, jwk_read_of_no_verifying_key_is_refused,
    jwk_read_limits_the_kid, names_of_algorithms_are_exact, jwk_hold_outlives_the_first_owner)
