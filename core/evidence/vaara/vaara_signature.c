/* Verifies a hexadecimal signature under every key of its algorithm. The record chooses the
 * algorithm, the verifier alone the keys, and a shared secret never serves a public-key
 * algorithm. */
#include "evidence/vaara/vaara_signature.h"

#include "evidence/json/jcs.h"
#include "evidence/json/write.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#define INPUT_MAX     ((size_t)1 << 20) /* canonical bytes that are signed */
#define SIGNATURE_MAX ((size_t)1024)    /* bytes: RSA with 8192 bits */
#define HMAC_BYTES    32

bool
writ_vaara_signature_knows(struct writ_view alg)
{
    return writ_view_is(alg, "ES256") || writ_view_is(alg, "RS256") || writ_view_is(alg, "HS256");
}

bool
writ_vaara_signature_judges(const struct writ_vaara_keys *keys, struct writ_view alg)
{
    if (writ_view_is(alg, "HS256")) {
        return keys->secret.len > 0;
    }
    for (size_t i = 0; i < keys->count; i++) {
        if (writ_vaara_signature_knows(alg) &&
            writ_jwk_alg(keys->keys[i]) == writ_jwk_alg_named(alg)) {
            return true;
        }
    }
    return false;
}

WRIT_RESULT
writ_vaara_signature_input(const struct writ_json *object, const char *const *names, size_t count,
    struct writ_buf *ret, struct writ_err *err)
{
    struct writ_write w;

    if (count == 0) {
        return writ_jcs_put(ret, object, err);
    }
    w = writ_write_to(ret);
    w.sorted = true;
    writ_write_object_begin(&w);
    for (size_t i = 0; i < count; i++) {
        const struct writ_json *value = writ_json_get(object, writ_view_str(names[i]));
        if (value != NULL) {
            writ_write_name(&w, writ_view_str(names[i]));
            writ_write_value(&w, value);
        }
    }
    writ_write_object_end(&w);
    return writ_write_end(&w, err);
}

static WRIT_RESULT
check_hmac(struct writ_view secret, struct writ_view input, struct writ_view signature,
    struct writ_err *err)
{
    uint8_t mac[EVP_MAX_MD_SIZE];
    unsigned len = 0;

    if (secret.len == 0 || secret.len > INT_MAX) {
        WRIT_FAIL(err, WRIT_E_MISMATCH, "HS256 needs a secret");
    }
    if (HMAC(EVP_sha256(), secret.ptr, (int)secret.len, (const uint8_t *)input.ptr, input.len, mac,
            &len) == NULL ||
        len != HMAC_BYTES) {
        WRIT_FAIL(err, WRIT_E_CRYPTO, "HMAC-SHA256 failed in the library");
    }
    if (!writ_view_equal_secret(writ_view(mac, len), signature)) {
        WRIT_FAIL(err, WRIT_E_MISMATCH, "the signature does not hold");
    }
    return WRIT_DONE;
}

static WRIT_RESULT
check_keys(const struct writ_vaara_keys *keys, enum writ_jwk_alg alg, struct writ_view input,
    struct writ_view signature, struct writ_err *err)
{
    for (size_t i = 0; i < keys->count; i++) {
        writ_result result;

        if (alg == WRIT_JWK_ALG_NONE || writ_jwk_alg(keys->keys[i]) != alg) {
            continue;
        }
        result = writ_jwk_verify(keys->keys[i], input, signature, err);
        if (result.code != WRIT_E_MISMATCH) {
            return result;
        }
    }
    WRIT_FAIL(err, WRIT_E_MISMATCH, "the signature does not verify under any key");
}

WRIT_RESULT
writ_vaara_signature_check(const struct writ_vaara_keys *keys, struct writ_view alg,
    const struct writ_json *object, const char *const *names, size_t count,
    struct writ_view signature, struct writ_err *err)
{
    writ_auto_buf input = writ_buf_make(INPUT_MAX);
    uint8_t bytes[SIGNATURE_MAX];
    size_t len = signature.len / 2;

    if (len > sizeof bytes || !writ_is_ok(writ_hex_read(signature, bytes, len))) {
        WRIT_FAIL(err, WRIT_E_MISMATCH, "the signature is not hexadecimal");
    }
    WRIT_TRY(writ_vaara_signature_input(object, names, count, &input, err));
    if (writ_view_is(alg, "HS256")) {
        return check_hmac(keys->secret, writ_buf_view(&input), writ_view(bytes, len), err);
    }
    return check_keys(
        keys, writ_jwk_alg_named(alg), writ_buf_view(&input), writ_view(bytes, len), err);
}
