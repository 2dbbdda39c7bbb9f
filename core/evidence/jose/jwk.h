/* jwk.h - one public key for verifying signatures, as a JWK (RFC 7517).
 *
 * The key record fixes the algorithm (RFC 8725 3.1): a key verifies with one algorithm only, and
 * the alg of a token is compared with it, never obeyed. Keys are parsed once; each thread keeps its
 * own OpenSSL contexts for the keys it used last.
 *
 * Refused: private or symmetric key material, an `alg`, `use` or `key_ops` that is not for
 * verifying with the algorithm of the key, coordinates outside of the curve, RSA keys under 2048 or
 * over 8192 bits, even or small exponents, and moduli of the ROCA family (CVE-2017-15361).
 *
 * A struct writ_jwk is immutable: any number of threads may use it until it is freed. Nothing here
 * blocks. */
#ifndef WRIT_EVIDENCE_JWK_H
#define WRIT_EVIDENCE_JWK_H

#include "evidence/json/json.h"

#define WRIT_JWK_THUMBPRINT_TEXT 44   /* base64url of a SHA-256 and NUL */
#define WRIT_JWK_KID_MAX         256  /* longest kid */
#define WRIT_JWK_RSA_BITS_LEAST  2048 /* RFC 7518 3.3 */
#define WRIT_JWK_RSA_BITS_MOST   8192 /* larger ones would allow attacks by the cost of verifying */

/** A signature algorithm (alg.tbl.h). NONE verifies nothing. */
enum writ_jwk_alg {
    WRIT_JWK_ALG_NONE = 0,
#define WRIT_ALG_ROW(name, jose, kty, bytes) WRIT_JWK_ALG_##name,
#include "evidence/jose/alg.tbl.h"
#undef WRIT_ALG_ROW
};

/** "ES256", "RS256", "EdDSA"; "" for NONE. Static storage. */
const char *writ_jwk_alg_name(enum writ_jwk_alg alg);
/** The algorithm of exactly that name, or NONE. */
enum writ_jwk_alg writ_jwk_alg_named(struct writ_view name);

#define WRIT_JWK_ED25519_BYTES 32 /* RFC 8032 5.1.5 */

struct writ_jwk;
struct evp_pkey_st; /* OpenSSL's EVP_PKEY */

/**
 * Reads one public key.
 *
 * @param value  a JSON object; borrowed for the call
 * @param ret    new, free with writ_jwk_free; written only on success. The default kid is the RFC
 *               7638 thumbprint
 *
 * @return WRIT_OK
 *         WRIT_E_MISMATCH  private or symmetric key material: its publisher has leaked a secret, so
 *                          the whole input is refused
 *         WRIT_E_INVALID   malformed, too weak, contradicts itself, or not a key for verifying
 *                          with one of our algorithms
 *         WRIT_E_NOMEM, WRIT_E_CRYPTO
 */
WRIT_RESULT writ_jwk_read(
    const struct writ_json *value, struct writ_jwk **ret, struct writ_err *err);

/** The public half of an OpenSSL key, its thumbprint as kid. `key` is borrowed for the call (its
 * reference count goes up). The same refusals as writ_jwk_read. */
WRIT_RESULT writ_jwk_of(struct evp_pkey_st *key, struct writ_jwk **ret, struct writ_err *err);

/** The Ed25519 key with these WRIT_JWK_ED25519_BYTES bytes, its thumbprint as kid. `ret` is new,
 * free with writ_jwk_free; written only on success. WRIT_E_INVALID for bytes that do not form a
 * key, WRIT_E_NOMEM, WRIT_E_CRYPTO. */
WRIT_RESULT writ_jwk_of_ed25519(
    struct writ_view bytes, struct writ_jwk **ret, struct writ_err *err);

/** Appends the bytes of an Ed25519 key. WRIT_E_INVALID for a key of another algorithm, and the
 * failures of the buffer. */
WRIT_RESULT writ_jwk_put_ed25519(
    const struct writ_jwk *key, struct writ_buf *buf, struct writ_err *err);

/** Adds an owner; returns the key. Any thread. */
struct writ_jwk *writ_jwk_hold(const struct writ_jwk *key);

/** Removes an owner; the last one frees. Any thread. NULL is permitted. */
void writ_jwk_free(struct writ_jwk *key);

/** Frees at the end of the scope: writ_auto_jwk x = NULL; */
#define writ_auto_jwk WRIT_AUTO(struct writ_jwk *, writ_jwk_release)

static inline void
writ_jwk_release(struct writ_jwk **jwk)
{
    writ_jwk_free(*jwk);
}

enum writ_jwk_alg writ_jwk_alg(const struct writ_jwk *key);

/** Borrowed until the key is freed. */
struct writ_view writ_jwk_kid(const struct writ_jwk *key);

/** The RFC 7638 thumbprint with SHA-256, base64url. Borrowed until the key is freed. */
struct writ_view writ_jwk_thumbprint(const struct writ_jwk *key);

/** The key as a JWK in canonical form: alg, kid, kty, use and the public members. Borrowed until
 * the key is freed. */
struct writ_view writ_jwk_text(const struct writ_jwk *key);

/** Appends it. */
void writ_jwk_put(struct writ_buf *buf, const struct writ_jwk *key);

/**
 * Verifies a JWS signature value over `input`.
 *
 * @return WRIT_OK          the signature holds
 *         WRIT_E_MISMATCH  it does not, or its length is not the one of RFC 7518
 *         WRIT_E_CRYPTO    the library failed: nothing is known, so refuse
 *         WRIT_E_NOMEM
 */
WRIT_RESULT writ_jwk_verify(const struct writ_jwk *key, struct writ_view input,
    struct writ_view signature, struct writ_err *err);

#endif
