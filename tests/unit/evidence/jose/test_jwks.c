/* Sets of public keys. A key is found by its exact kid, unusable keys are counted, and a set with
 * one untrustworthy key is refused as a whole. */
#include "support/evidence/keys.h"
#include "support/unit.h"

#define X1 "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"
#define KEY(kid, more)                                                                             \
    "{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":\"" X1 "\",\"kid\":\"" kid "\"" more "}"

START_TEST(keys_are_found_by_their_exact_kid_only)
{
    static const char text[] = "{\"keys\":[" KEY("a", "") "," KEY("a\\u0000b", "") "]}";
    struct writ_jwks *set = NULL;

    ck_assert_ok(writ_jwks_read(writ_view_str(text), &set, NULL));
    ck_assert_uint_eq(writ_jwks_count(set), 2);
    ck_assert_ptr_eq(writ_jwks_find(set, WRIT_LIT("a")), writ_jwks_key(set, 0));
    ck_assert_ptr_eq(writ_jwks_find(set, writ_view("a\0b", 3)), writ_jwks_key(set, 1));
    ck_assert_ptr_null(writ_jwks_find(set, writ_view("a\0", 2)));
    ck_assert_ptr_null(writ_jwks_find(set, WRIT_LIT("A")));
    ck_assert_ptr_null(writ_jwks_find(set, WRIT_LIT("")));
    ck_assert_ptr_null(writ_jwks_find(set, WRIT_LIT("a ")));
    ck_assert_ptr_null(writ_jwks_find(NULL, WRIT_LIT("a")));
    writ_jwks_free(set);
}
END_TEST

START_TEST(jwks_read_counts_and_drops_unusable_keys)
{
    static const char text[] = "{\"issuer\":\"x\",\"keys\":[" KEY(
        "a", ",\"use\":\"enc\"") ","
                                 "{\"kty\":\"EC\",\"crv\":\"P-521\"},17," KEY("b", "") "]}";
    struct writ_jwks *set = NULL;
    const char *why = NULL;

    ck_assert_ok(writ_jwks_read(writ_view_str(text), &set, NULL));
    ck_assert_uint_eq(writ_jwks_count(set), 1);
    ck_assert_view(writ_jwk_kid(writ_jwks_key(set, 0)), "b");
    ck_assert_uint_eq(writ_jwks_left_out(set, &why), 3);
    ck_assert_str_eq(why, "a key is not for signatures (use)");
    writ_jwks_free(set);
}
END_TEST

START_TEST(jwks_without_keys_verifies_nothing)
{
    struct writ_jwks *set = NULL;
    const char *why = NULL;

    ck_assert_ok(writ_jwks_read(WRIT_LIT("{\"keys\":[]}"), &set, NULL));
    ck_assert_uint_eq(writ_jwks_count(set), 0);
    ck_assert_uint_eq(writ_jwks_left_out(set, &why), 0);
    ck_assert_str_eq(why, "");
    writ_jwks_free(set);
}
END_TEST

struct refusal {
    const char *text;
    enum writ_code code;
};

static const struct refusal refusals[] = {
    {"", WRIT_E_PARSE},
    {"{\"keys\":[]} x", WRIT_E_PARSE},
    {"{\"keys\":[],\"keys\":[]}", WRIT_E_PARSE},
    {"[]", WRIT_E_INVALID},
    {"{}", WRIT_E_INVALID},
    {"{\"keys\":{}}", WRIT_E_INVALID},
    {"{\"keys\":[" KEY("a", "") "," KEY("a", "") "]}", WRIT_E_INVALID},
    {"{\"keys\":[" KEY("a", "") "," KEY("\\u0061", "") "]}", WRIT_E_INVALID},
    /* a publisher of a secret is not trusted with the rest either */
    {"{\"keys\":[" KEY("a", "") "," KEY("b", ",\"d\":\"AAAA\"") "]}", WRIT_E_MISMATCH},
    {"{\"keys\":[" KEY("a", "") ",{\"kty\":\"oct\",\"k\":\"AAAA\"}]}", WRIT_E_MISMATCH},
};

START_TEST(jwks_read_with_an_untrustworthy_key_is_refused)
{
    for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
        struct writ_jwks *set = NULL;

        ck_assert_msg(
            writ_jwks_read(writ_view_str(refusals[i].text), &set, NULL).code == refusals[i].code,
            "%s", refusals[i].text);
        ck_assert_ptr_null(set);
    }
}
END_TEST

START_TEST(jwks_read_limits_the_keys)
{
    for (int extra = 0; extra <= 1; extra++) {
        writ_auto_buf text = writ_buf_make(WRIT_JWKS_BYTES_MAX);
        struct writ_jwks *set = NULL;

        writ_buf_str(&text, "{\"keys\":[");
        for (int i = 0; i < WRIT_JWKS_KEYS_MAX + extra; i++) {
            writ_buf_fmt(&text,
                "%s{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":\"" X1 "\",\"kid\":\"%d\"}",
                i > 0 ? "," : "", i);
        }
        writ_buf_str(&text, "]}");
        ck_assert_int_eq(writ_jwks_read(writ_buf_view(&text), &set, NULL).code,
            extra == 0 ? WRIT_OK : WRIT_E_LIMIT);
        writ_jwks_free(set);
    }
}
END_TEST

START_TEST(jwks_read_limits_the_text)
{
    for (size_t extra = 0; extra <= 1; extra++) {
        writ_auto_buf text = writ_buf_make(WRIT_JWKS_BYTES_MAX + 1);
        struct writ_jwks *set = NULL;

        writ_buf_str(&text, "{\"keys\":[]}");
        while (text.len < WRIT_JWKS_BYTES_MAX + extra) {
            writ_buf_byte(&text, ' ');
        }
        ck_assert_int_eq(writ_jwks_read(writ_buf_view(&text), &set, NULL).code,
            extra == 0 ? WRIT_OK : WRIT_E_LIMIT);
        writ_jwks_free(set);
    }
}
END_TEST

START_TEST(jwks_put_reads_back)
{
    const struct writ_signer *signers[] = {writ_keys_signer(WRIT_JWK_ALG_ES256),
        writ_keys_signer(WRIT_JWK_ALG_EDDSA), writ_keys_signer(WRIT_JWK_ALG_RS256)};
    struct writ_jwks *set = writ_keys_set(signers, 3);

    ck_assert_uint_eq(writ_jwks_count(set), 3);
    for (size_t i = 0; i < 3; i++) {
        const struct writ_jwk *key = writ_signer_jwk(signers[i]);
        ck_assert_ptr_eq(writ_jwks_find(set, writ_jwk_kid(key)), writ_jwks_key(set, i));
        ck_assert_int_eq(writ_jwk_alg(writ_jwks_key(set, i)), writ_jwk_alg(key));
        writ_signer_free((struct writ_signer *)(uintptr_t)signers[i]);
    }
    writ_jwks_free(set);
}
END_TEST

WRIT_UNIT_MAIN("jwks", keys_are_found_by_their_exact_kid_only,
    jwks_read_counts_and_drops_unusable_keys, jwks_without_keys_verifies_nothing,
    jwks_read_with_an_untrustworthy_key_is_refused, jwks_read_limits_the_keys,
    jwks_read_limits_the_text, jwks_put_reads_back)
