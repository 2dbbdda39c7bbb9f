/* Makes and reads private keys, and signs. A key is accepted only when its halves belong together
 * and the library's checks pass; the bytes of a private key are wiped when they are freed. */
#include "evidence/jose/signer.h"

#include "evidence/jose/ecdsa.h"
#include "evidence/jose/pem.h"
#include "evidence/jose/pkctx.h"
#include "evidence/json/digest.h"

#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>

/* of new keys: their signatures live for a minute, and 3072 bits take three times as long */
#define RSA_BITS ((size_t)WRIT_JWK_RSA_BITS_LEAST)

struct writ_signer {
    EVP_PKEY *key;
    uint64_t number; /* pkctx.h */
    struct writ_jwk *public;
};

static void
signer_freep(struct writ_signer **signer)
{
    writ_signer_free(*signer);
}

static void
pkey_freep(EVP_PKEY **key)
{
    EVP_PKEY_free(*key);
}

static void
bio_freep(BIO **bio)
{
    BIO_free_all(*bio);
}

static void
ctx_freep(EVP_PKEY_CTX **ctx)
{
    EVP_PKEY_CTX_free(*ctx);
}

static void
mdctx_freep(EVP_MD_CTX **ctx)
{
    EVP_MD_CTX_free(*ctx);
}

/* Takes the reference of `key` on success. */
static WRIT_RESULT
signer_make(EVP_PKEY *key, struct writ_signer **ret, struct writ_err *err)
{
    WRIT_AUTO(struct writ_signer *, signer_freep) signer = writ_alloc(sizeof(*signer));

    if (signer == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for a signing key");
    }
    signer->number = writ_pkctx_number();
    WRIT_TRY(writ_jwk_of(key, &signer->public, err));
    signer->key = key;
    *ret = WRIT_TAKE(signer);
    return WRIT_DONE;
}

static EVP_PKEY *
generate(enum writ_jwk_alg alg)
{
    switch (alg) {
    case WRIT_JWK_ALG_ES256:
        return EVP_EC_gen("P-256");
    case WRIT_JWK_ALG_RS256:
        return EVP_RSA_gen(RSA_BITS);
    case WRIT_JWK_ALG_EDDSA:
        return EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
    case WRIT_JWK_ALG_NONE:
        break;
    }
    return NULL;
}

WRIT_RESULT
writ_signer_new(enum writ_jwk_alg alg, struct writ_signer **ret, struct writ_err *err)
{
    WRIT_AUTO(EVP_PKEY *, pkey_freep) key = NULL;

    if (writ_jwk_alg_name(alg)[0] == '\0') {
        WRIT_FAIL(err, WRIT_E_INVALID, "a signing key needs an algorithm");
    }
    key = generate(alg);
    if (key == NULL) {
        ERR_clear_error();
        WRIT_FAIL(
            err, WRIT_E_CRYPTO, "the library cannot make a key for %s", writ_jwk_alg_name(alg));
    }
    WRIT_TRY(signer_make(key, ret, err));
    (void)WRIT_TAKE(key);
    return WRIT_DONE;
}

static WRIT_RESULT
read_pem(struct writ_view pem, EVP_PKEY **ret, struct writ_err *err)
{
    WRIT_AUTO(BIO *, bio_freep) bio = BIO_new_mem_buf(pem.ptr, (int)pem.len);
    bool asked = false;

    if (bio == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory to read a signing key");
    }
    *ret = PEM_read_bio_PrivateKey(bio, NULL, writ_pem_refuse_passphrase, &asked);
    if (*ret == NULL && asked) {
        WRIT_FAIL(err, WRIT_E_PARSE, "the signing key is encrypted. Give it without a passphrase.");
    }
    if (*ret == NULL) {
        WRIT_FAIL(err, WRIT_E_PARSE, "not a PEM private key");
    }
    return WRIT_DONE;
}

/* Checks that signatures of this key verify under its published public half. */
static WRIT_RESULT
check_pair(EVP_PKEY *key, struct writ_err *err)
{
    WRIT_AUTO(EVP_PKEY_CTX *, ctx_freep) ctx = EVP_PKEY_CTX_new(key, NULL);

    if (ctx == NULL || EVP_PKEY_pairwise_check(ctx) != 1) {
        WRIT_FAIL(err, WRIT_E_INVALID, "the halves of the signing key do not belong together");
    }
    return WRIT_DONE;
}

static WRIT_RESULT
read_signer(struct writ_view pem, struct writ_signer **ret, struct writ_err *err)
{
    WRIT_AUTO(EVP_PKEY *, pkey_freep) key = NULL;
    WRIT_AUTO(struct writ_signer *, signer_freep) signer = NULL;

    WRIT_TRY(read_pem(pem, &key, err));
    WRIT_TRY(signer_make(key, &signer, err)); /* first: it refuses keys that take long to check */
    WRIT_TRY(check_pair(WRIT_TAKE(key), err));
    *ret = WRIT_TAKE(signer);
    return WRIT_DONE;
}

WRIT_RESULT
writ_signer_read(struct writ_view pem, struct writ_signer **ret, struct writ_err *err)
{
    writ_result result;

    if (pem.len > WRIT_SIGNER_PEM_MAX) {
        WRIT_FAIL(
            err, WRIT_E_LIMIT, "the signing key is longer than %d bytes", WRIT_SIGNER_PEM_MAX);
    }
    result = read_signer(pem, ret, err);
    ERR_clear_error();
    return result;
}

void
writ_signer_free(struct writ_signer *signer)
{
    if (signer != NULL) {
        EVP_PKEY_free(signer->key);
        writ_jwk_free(signer->public);
        writ_free(signer);
    }
}

const struct writ_jwk *
writ_signer_jwk(const struct writ_signer *signer)
{
    return signer->public;
}

WRIT_RESULT
writ_signer_put_pem(const struct writ_signer *signer, struct writ_buf *buf, struct writ_err *err)
{
    WRIT_AUTO(BIO *, bio_freep) bio = BIO_new(BIO_s_secmem()); /* wiped when it is freed */
    char *text = NULL;
    long len;

    if (bio == NULL ||
        PEM_write_bio_PKCS8PrivateKey(bio, signer->key, NULL, NULL, 0, NULL, NULL) != 1) {
        ERR_clear_error();
        WRIT_FAIL(err, WRIT_E_CRYPTO, "the library cannot write a signing key");
    }
    len = BIO_get_mem_data(bio, &text);
    writ_buf_put(buf, writ_view(text, len > 0 ? (size_t)len : 0));
    return writ_buf_check(buf, err);
}

/* ---- signing */

/* SHA-256 and one EVP_PKEY_sign on this thread's context; returns the bytes of OpenSSL. */
static WRIT_RESULT
sign_digest(const struct writ_signer *signer, struct writ_view input,
    uint8_t ret[WRIT_SIGNER_BYTES_MAX], size_t *ret_len, struct writ_err *err)
{
    EVP_PKEY_CTX *ctx = writ_pkctx_get(signer->number, signer->key, WRIT_PKCTX_SIGN);
    struct writ_digest digest;
    size_t len = WRIT_SIGNER_BYTES_MAX;

    WRIT_TRY(writ_digest_bytes(input, &digest, err));
    if (ctx == NULL || EVP_PKEY_sign(ctx, ret, &len, digest.bytes, sizeof(digest.bytes)) != 1) {
        writ_pkctx_drop(signer->number, WRIT_PKCTX_SIGN);
        ERR_clear_error();
        WRIT_FAIL(err, WRIT_E_CRYPTO, "the library cannot sign");
    }
    *ret_len = len;
    return WRIT_DONE;
}

static WRIT_RESULT
sign_ecdsa(const struct writ_signer *signer, struct writ_view input, struct writ_buf *buf,
    struct writ_err *err)
{
    uint8_t der[WRIT_SIGNER_BYTES_MAX];
    uint8_t raw[WRIT_ECDSA_RAW];
    size_t len = 0;

    WRIT_TRY(sign_digest(signer, input, der, &len, err));
    if (!writ_is_ok(writ_ecdsa_from_der(writ_view(der, len), raw))) {
        WRIT_FAIL(err, WRIT_E_CRYPTO, "the library did not write an ECDSA signature");
    }
    writ_buf_put(buf, writ_view(raw, sizeof(raw)));
    return writ_buf_check(buf, err);
}

static WRIT_RESULT
sign_rsa(const struct writ_signer *signer, struct writ_view input, struct writ_buf *buf,
    struct writ_err *err)
{
    uint8_t raw[WRIT_SIGNER_BYTES_MAX];
    size_t len = 0;

    WRIT_TRY(sign_digest(signer, input, raw, &len, err));
    writ_buf_put(buf, writ_view(raw, len));
    return writ_buf_check(buf, err);
}

static WRIT_RESULT
sign_ed25519(const struct writ_signer *signer, struct writ_view input, struct writ_buf *buf,
    struct writ_err *err)
{
    WRIT_AUTO(EVP_MD_CTX *, mdctx_freep) ctx = EVP_MD_CTX_new();
    uint8_t raw[WRIT_SIGNER_BYTES_MAX];
    size_t len = sizeof(raw);

    if (ctx == NULL || EVP_DigestSignInit(ctx, NULL, NULL, NULL, signer->key) != 1 ||
        EVP_DigestSign(ctx, raw, &len, (const unsigned char *)input.ptr, input.len) != 1) {
        ERR_clear_error();
        WRIT_FAIL(err, WRIT_E_CRYPTO, "the library cannot sign");
    }
    writ_buf_put(buf, writ_view(raw, len));
    return writ_buf_check(buf, err);
}

WRIT_RESULT
writ_signer_sign(const struct writ_signer *signer, struct writ_view input, struct writ_buf *buf,
    struct writ_err *err)
{
    switch (writ_jwk_alg(signer->public)) {
    case WRIT_JWK_ALG_ES256:
        return sign_ecdsa(signer, input, buf, err);
    case WRIT_JWK_ALG_RS256:
        return sign_rsa(signer, input, buf, err);
    case WRIT_JWK_ALG_EDDSA:
        return sign_ed25519(signer, input, buf, err);
    case WRIT_JWK_ALG_NONE:
        break;
    }
    WRIT_FAIL(err, WRIT_E_CRYPTO, "a key without algorithm signs nothing");
}
