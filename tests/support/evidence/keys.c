/* Makes keys at every run. The tree holds no private key, and a failure here fails the test. */
#include "support/evidence/keys.h"

#include "support/unit.h"

#include "evidence/json/write.h"

#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <string.h>

struct writ_signer *
writ_keys_signer(enum writ_jwk_alg alg)
{
    struct writ_signer *signer = NULL;

    ck_assert_ok(writ_signer_new(alg, &signer, NULL));
    return signer;
}

struct writ_jwks *
writ_keys_set(const struct writ_signer *const *signers, size_t n)
{
    writ_auto_buf text = writ_buf_make(WRIT_JWKS_BYTES_MAX);
    const struct writ_jwk *keys[WRIT_JWKS_KEYS_MAX];
    struct writ_jwks *set = NULL;

    for (size_t i = 0; i < n; i++) {
        keys[i] = writ_signer_jwk(signers[i]);
    }
    writ_jwks_put(&text, keys, n);
    ck_assert_ok(writ_jwks_read(writ_buf_view(&text), &set, NULL));
    return set;
}

const struct writ_json *
writ_keys_json(const char *text, struct writ_arena *arena)
{
    const struct writ_json *value = NULL;
    struct writ_err err = {0};
    writ_result result =
        writ_json_read(writ_view_str(text), &writ_json_limits_default, arena, &value, &err);

    ck_assert_msg(writ_is_ok(result), "%s: %s", err.text, text);
    return value;
}

void
writ_keys_public(const struct writ_json *jwk, struct writ_buf *ret)
{
    static const char *const names[] = {"kty", "crv", "x", "y", "n", "e", "kid", "use", "alg"};
    struct writ_write w = writ_write_to(ret);

    writ_write_object_begin(&w);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const struct writ_json *value = writ_json_get(jwk, writ_view_str(names[i]));
        if (value != NULL) {
            writ_write_name(&w, writ_view_str(names[i]));
            writ_write_value(&w, value);
        }
    }
    writ_write_object_end(&w);
    ck_assert_ok(writ_write_end(&w, NULL));
}

static EVP_PKEY *
openssl_key(const char *kind)
{
    if (strncmp(kind, "RSA-", 4) == 0) {
        return EVP_RSA_gen((unsigned)atoi(kind + 4));
    }
    return strncmp(kind, "ED", 2) == 0 ? EVP_PKEY_Q_keygen(NULL, NULL, kind) : EVP_EC_gen(kind);
}

void
writ_keys_pem(const char *kind, const char *passphrase, struct writ_buf *ret)
{
    EVP_PKEY *key = openssl_key(kind);
    BIO *bio = BIO_new(BIO_s_mem());
    char *text;
    long len;

    ck_assert_ptr_nonnull(key);
    ck_assert_int_eq(
        PEM_write_bio_PKCS8PrivateKey(bio, key, passphrase != NULL ? EVP_aes_256_cbc() : NULL, NULL,
            0, NULL, (void *)(uintptr_t)passphrase),
        1);
    len = BIO_get_mem_data(bio, &text);
    writ_buf_put(ret, writ_view(text, (size_t)len));
    BIO_free(bio);
    EVP_PKEY_free(key);
}

void
writ_keys_public_pem(struct writ_view pem, struct writ_buf *ret)
{
    BIO *in = BIO_new_mem_buf(pem.ptr, (int)pem.len);
    BIO *out = BIO_new(BIO_s_mem());
    EVP_PKEY *key = PEM_read_bio_PrivateKey(in, NULL, NULL, NULL);
    char *text;
    long len;

    ck_assert_ptr_nonnull(key);
    ck_assert_int_eq(PEM_write_bio_PUBKEY(out, key), 1);
    len = BIO_get_mem_data(out, &text);
    writ_buf_put(ret, writ_view(text, (size_t)len));
    writ_buf_byte(ret, '\0');
    ret->len--;
    EVP_PKEY_free(key);
    BIO_free(in);
    BIO_free(out);
}
