/* Private keys and signing. A signature verifies with its own key only and has the length of its
 * algorithm; encrypted, weak and foreign keys are refused by name. */
#include "support/evidence/keys.h"
#include "support/unit.h"

#include "evidence/jose/pkctx.h"

#include <pthread.h>

static const enum writ_jwk_alg algs[] = {
    WRIT_JWK_ALG_ES256, WRIT_JWK_ALG_RS256, WRIT_JWK_ALG_EDDSA};

#define ALGS (sizeof(algs) / sizeof(algs[0]))

START_TEST(signer_signature_verifies_for_its_own_bytes_and_key_only)
{
    for (size_t i = 0; i < ALGS; i++) {
        struct writ_signer *signer = writ_keys_signer(algs[i]);
        struct writ_signer *other =
            writ_keys_signer(algs[i] == WRIT_JWK_ALG_RS256 ? WRIT_JWK_ALG_ES256 : algs[i]);
        const struct writ_jwk *key = writ_signer_jwk(signer);
        writ_auto_buf signature = writ_buf_make(WRIT_SIGNER_BYTES_MAX);
        struct writ_view view;

        ck_assert_ok(writ_signer_sign(signer, WRIT_LIT("input"), &signature, NULL));
        view = writ_buf_view(&signature);
        ck_assert_ok(writ_jwk_verify(key, WRIT_LIT("input"), view, NULL));
        ck_assert_code(writ_jwk_verify(key, WRIT_LIT("Input"), view, NULL), WRIT_E_MISMATCH);
        ck_assert_code(writ_jwk_verify(key, WRIT_LIT(""), view, NULL), WRIT_E_MISMATCH);
        ck_assert_code(writ_jwk_verify(writ_signer_jwk(other), WRIT_LIT("input"), view, NULL),
            WRIT_E_MISMATCH);
        for (size_t at = 0; at < signature.len; at += 7) {
            signature.ptr[at] ^= 0x10;
            ck_assert_code(writ_jwk_verify(key, WRIT_LIT("input"), view, NULL), WRIT_E_MISMATCH);
            signature.ptr[at] ^= 0x10;
        }
        ck_assert_ok(writ_jwk_verify(key, WRIT_LIT("input"), view, NULL));
        writ_signer_free(signer);
        writ_signer_free(other);
    }
}
END_TEST

START_TEST(signer_sign_gives_the_length_of_its_algorithm)
{
    for (size_t i = 0; i < ALGS; i++) {
        struct writ_signer *signer = writ_keys_signer(algs[i]);
        const struct writ_jwk *key = writ_signer_jwk(signer);
        writ_auto_buf signature = writ_buf_make(WRIT_SIGNER_BYTES_MAX);
        struct writ_view view;

        ck_assert_ok(writ_signer_sign(signer, WRIT_LIT("input"), &signature, NULL));
        writ_buf_byte(&signature, '\0');
        view = writ_buf_view(&signature);
        ck_assert_ok(
            writ_jwk_verify(key, WRIT_LIT("input"), writ_view_sub(view, 0, view.len - 1), NULL));
        ck_assert_code(writ_jwk_verify(key, WRIT_LIT("input"), view, NULL), WRIT_E_MISMATCH);
        ck_assert_code(
            writ_jwk_verify(key, WRIT_LIT("input"), writ_view_sub(view, 0, view.len - 2), NULL),
            WRIT_E_MISMATCH);
        ck_assert_code(
            writ_jwk_verify(key, WRIT_LIT("input"), writ_view(NULL, 0), NULL), WRIT_E_MISMATCH);
        writ_signer_free(signer);
    }
}
END_TEST

START_TEST(signer_pem_round_trips)
{
    for (size_t i = 0; i < ALGS; i++) {
        struct writ_signer *signer = writ_keys_signer(algs[i]);
        struct writ_signer *again = NULL;
        writ_auto_buf pem = writ_buf_make(WRIT_SIGNER_PEM_MAX);
        writ_auto_buf signature = writ_buf_make(WRIT_SIGNER_BYTES_MAX);

        ck_assert_ok(writ_signer_put_pem(signer, &pem, NULL));
        ck_assert(
            writ_view_has_prefix(writ_buf_view(&pem), WRIT_LIT("-----BEGIN PRIVATE KEY-----\n")));
        ck_assert_ok(writ_signer_read(writ_buf_view(&pem), &again, NULL));
        ck_assert(writ_view_equal(
            writ_jwk_kid(writ_signer_jwk(again)), writ_jwk_thumbprint(writ_signer_jwk(signer))));
        ck_assert_ok(writ_signer_sign(again, WRIT_LIT("x"), &signature, NULL));
        ck_assert_ok(writ_jwk_verify(
            writ_signer_jwk(signer), WRIT_LIT("x"), writ_buf_view(&signature), NULL));
        writ_signer_free(signer);
        writ_signer_free(again);
    }
}
END_TEST

struct refusal {
    const char *kind, *passphrase;
    enum writ_code code;
    const char *word;
};

static const struct refusal refusals[] = {
    {"P-256", "secret", WRIT_E_PARSE, "encrypted"},
    {"RSA-2048", "secret", WRIT_E_PARSE, "encrypted"},
    {"RSA-1024", NULL, WRIT_E_INVALID, "1024 bits"},
    {"P-384", NULL, WRIT_E_INVALID, "not a key for"},
    {"secp256k1", NULL, WRIT_E_INVALID, "not a key for"},
    {"ED448", NULL, WRIT_E_INVALID, "not a key for"},
};

START_TEST(encrypted_weak_and_foreign_keys_are_refused_by_name)
{
    for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
        writ_auto_buf pem = writ_buf_make(WRIT_SIGNER_PEM_MAX);
        struct writ_signer *signer = NULL;
        struct writ_err err = {0};

        writ_keys_pem(refusals[i].kind, refusals[i].passphrase, &pem);
        ck_assert_msg(writ_signer_read(writ_buf_view(&pem), &signer, &err).code == refusals[i].code,
            "%s: %s", refusals[i].kind, err.text);
        ck_assert_ptr_null(signer);
        ck_assert_msg(writ_view_search(writ_view_str(err.text), writ_view_str(refusals[i].word)) <
                          writ_view_str(err.text).len,
            "%s: %s", refusals[i].kind, err.text);
    }
}
END_TEST

START_TEST(keys_that_openssl_made_are_read)
{
    static const char *const kinds[] = {"P-256", "RSA-2048", "ED25519"};

    for (size_t i = 0; i < 3; i++) {
        writ_auto_buf pem = writ_buf_make(WRIT_SIGNER_PEM_MAX);
        struct writ_signer *signer = NULL;

        writ_keys_pem(kinds[i], NULL, &pem);
        ck_assert_ok(writ_signer_read(writ_buf_view(&pem), &signer, NULL));
        ck_assert_int_eq(writ_jwk_alg(writ_signer_jwk(signer)), algs[i]);
        writ_signer_free(signer);
    }
}
END_TEST

START_TEST(signer_open_of_no_private_key_is_refused)
{
    static const char *const texts[] = {"", "x", "-----BEGIN PRIVATE KEY-----\n",
        "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
        "-----BEGIN PUBLIC KEY-----\n"
        "MCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=\n"
        "-----END PUBLIC KEY-----\n"};

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct writ_signer *signer = NULL;

        ck_assert_msg(writ_signer_read(writ_view_str(texts[i]), &signer, NULL).code == WRIT_E_PARSE,
            "%s", texts[i]);
        ck_assert_ptr_null(signer);
    }
}
END_TEST

START_TEST(signer_open_limits_the_key_file)
{
    for (size_t extra = 0; extra <= 1; extra++) {
        writ_auto_buf pem = writ_buf_make(WRIT_SIGNER_PEM_MAX + 1);
        struct writ_signer *signer = NULL;

        writ_keys_pem("P-256", NULL, &pem);
        while (pem.len < WRIT_SIGNER_PEM_MAX + extra) {
            writ_buf_byte(&pem, '\n');
        }
        ck_assert_int_eq(writ_signer_read(writ_buf_view(&pem), &signer, NULL).code,
            extra == 0 ? WRIT_OK : WRIT_E_LIMIT);
        writ_signer_free(signer);
    }
}
END_TEST

START_TEST(signer_new_without_an_algorithm_is_refused)
{
    struct writ_signer *signer = NULL;

    ck_assert_code(writ_signer_new(WRIT_JWK_ALG_NONE, &signer, NULL), WRIT_E_INVALID);
    ck_assert_ptr_null(signer);
    writ_signer_free(NULL);
}
END_TEST

START_TEST(signer_sign_into_a_small_buffer_fails)
{
    struct writ_signer *signer = writ_keys_signer(WRIT_JWK_ALG_ES256);
    writ_auto_buf small = writ_buf_make(63);
    writ_auto_buf exact = writ_buf_make(64);

    ck_assert_code(writ_signer_sign(signer, WRIT_LIT("x"), &small, NULL), WRIT_E_LIMIT);
    ck_assert_ok(writ_signer_sign(signer, WRIT_LIT("x"), &exact, NULL));
    writ_signer_free(signer);
}
END_TEST

/* More keys than a thread keeps contexts for, used in turn by several threads. */
#define THREADS 4
#define KEYS    (WRIT_PKCTX_KEPT + 3)

struct job {
    struct writ_signer *const *signers;
    unsigned good;
};

static void *
sign_and_verify(void *arg)
{
    struct job *job = arg;

    for (size_t i = 0; i < (size_t)3 * KEYS; i++) {
        const struct writ_signer *signer = job->signers[i % KEYS];
        writ_auto_buf signature = writ_buf_make(WRIT_SIGNER_BYTES_MAX);
        if (writ_is_ok(writ_signer_sign(signer, WRIT_LIT("x"), &signature, NULL)) &&
            writ_is_ok(writ_jwk_verify(
                writ_signer_jwk(signer), WRIT_LIT("x"), writ_buf_view(&signature), NULL))) {
            job->good++;
        }
    }
    return NULL;
}

START_TEST(signer_signs_in_many_threads)
{
    struct writ_signer *signers[KEYS];
    struct job jobs[THREADS];
    pthread_t threads[THREADS];

    for (size_t i = 0; i < KEYS; i++) {
        signers[i] = writ_keys_signer(i % 2 == 0 ? WRIT_JWK_ALG_ES256 : WRIT_JWK_ALG_EDDSA);
    }
    for (size_t i = 0; i < THREADS; i++) {
        jobs[i] = (struct job){signers, 0};
        ck_assert_int_eq(pthread_create(&threads[i], NULL, sign_and_verify, &jobs[i]), 0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
        ck_assert_uint_eq(jobs[i].good, 3 * KEYS);
    }
    for (size_t i = 0; i < KEYS; i++) {
        writ_signer_free(signers[i]);
    }
}
END_TEST

WRIT_UNIT_MAIN("signer", signer_signature_verifies_for_its_own_bytes_and_key_only,
    signer_sign_gives_the_length_of_its_algorithm, signer_pem_round_trips,
    encrypted_weak_and_foreign_keys_are_refused_by_name, keys_that_openssl_made_are_read,
    signer_open_of_no_private_key_is_refused, signer_open_limits_the_key_file,
    signer_new_without_an_algorithm_is_refused, signer_sign_into_a_small_buffer_fails,
    signer_signs_in_many_threads)
