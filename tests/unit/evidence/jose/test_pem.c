/* Public keys from PEM files. Anything that is not one public key within the size limit is
 * refused. */
#include "support/unit.h"

#include "evidence/jose/pem.h"

#define KEY                                                                                        \
    "-----BEGIN PUBLIC KEY-----\n"                                                                 \
    "MCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=\n"                               \
    "-----END PUBLIC KEY-----\n" /* RFC 8037 A.2 */

START_TEST(pem_read_of_a_public_key_sets_its_thumbprint_as_kid)
{
    struct writ_jwk *key = NULL;

    ck_assert_ok(writ_pem_read_key(WRIT_LIT(KEY), &key, NULL));
    ck_assert_int_eq(writ_jwk_alg(key), WRIT_JWK_ALG_EDDSA);
    ck_assert_view(writ_jwk_kid(key), "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k"); /* A.3 */
    writ_jwk_free(key);
}
END_TEST

START_TEST(pem_read_of_no_public_key_is_refused)
{
    static const char *const texts[] = {"", "x", "-----BEGIN PUBLIC KEY-----\n",
        "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n",
        "-----BEGIN PRIVATE "
        "KEY-----\nMC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g"
        "\n-----END PRIVATE KEY-----\n"};
    struct writ_jwk *key = NULL;

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        ck_assert_int_eq(writ_pem_read_key(writ_view_str(texts[i]), &key, NULL).code, WRIT_E_PARSE);
        ck_assert_ptr_null(key);
    }
}
END_TEST

START_TEST(pem_read_of_a_file_is_limited)
{
    writ_auto_buf text = writ_buf_make(2 * WRIT_PEM_BYTES_MAX);
    struct writ_jwk *key = NULL;

    writ_buf_str(&text, KEY);
    while (text.len < WRIT_PEM_BYTES_MAX) {
        writ_buf_byte(&text, '\n');
    }
    ck_assert_ok(writ_pem_read_key(writ_buf_view(&text), &key, NULL));
    writ_jwk_free(key);
    key = NULL;
    writ_buf_byte(&text, '\n');
    ck_assert_int_eq(writ_pem_read_key(writ_buf_view(&text), &key, NULL).code, WRIT_E_LIMIT);
    ck_assert_ptr_null(key);
}
END_TEST

WRIT_UNIT_MAIN("pem", pem_read_of_a_public_key_sets_its_thumbprint_as_kid,
    pem_read_of_no_public_key_is_refused, pem_read_of_a_file_is_limited)
