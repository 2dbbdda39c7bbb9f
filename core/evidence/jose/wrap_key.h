/* wrap_key.h - a symmetric key that encrypts other keys (AES Key Wrap, RFC 3394; A256KW of RFC
 * 7518), and contents that are encrypted under a key of their own.
 *
 * Each content gets a new AES-256-GCM key, and only that key is encrypted under this one. A content
 * ends when its 40 wrapped bytes are destroyed: nothing else decrypts it.
 *
 * The kid of a key is the RFC 7638 thumbprint of its 32 random bytes. The bytes are never in
 * keys.json or in a JWKS; they are wiped when the key is freed. A key is immutable: threads may
 * share it until it is freed. Nothing here blocks. */
#ifndef WRIT_EVIDENCE_WRAP_KEY_H
#define WRIT_EVIDENCE_WRAP_KEY_H

#include "base/bytes.h"

#define WRIT_WRAP_ALG        "A256KW"
#define WRIT_WRAP_KEY_BYTES  32
#define WRIT_WRAPPED_BYTES   (WRIT_WRAP_KEY_BYTES + 8) /* RFC 3394 2.2.1 */
#define WRIT_WRAP_KID_TEXT   44                        /* base64url of SHA-256, and NUL */
#define WRIT_WRAP_TEXT_MAX   256                       /* longest text of a key */
#define WRIT_WRAP_NONCE      12
#define WRIT_WRAP_TAG        16
#define WRIT_WRAP_OVERHEAD   (WRIT_WRAP_NONCE + WRIT_WRAP_TAG)
#define WRIT_WRAP_SEALED_MAX ((size_t)8 << 20) /* longest content */

struct writ_wrap_key;

/** Makes a key of random bytes. Free with writ_wrap_key_free. WRIT_E_NOMEM, WRIT_E_CRYPTO. */
WRIT_RESULT writ_wrap_key_new(struct writ_wrap_key **ret, struct writ_err *err);

/** A key of these WRIT_WRAP_KEY_BYTES bytes, which must be as good as random. WRIT_E_INVALID:
 * another length; WRIT_E_NOMEM, WRIT_E_CRYPTO. */
WRIT_RESULT writ_wrap_key_of(
    struct writ_view bytes, struct writ_wrap_key **ret, struct writ_err *err);

/** A key of which only the kid is known: it encrypts and decrypts nothing. WRIT_E_INVALID when
 * `kid` has not the form of a thumbprint; WRIT_E_NOMEM. */
WRIT_RESULT writ_wrap_key_named(
    struct writ_view kid, struct writ_wrap_key **ret, struct writ_err *err);

/**
 * Reads what writ_wrap_key_put wrote.
 *
 * @return WRIT_OK
 *         WRIT_E_PARSE     not strict JSON
 *         WRIT_E_INVALID   not a symmetric key for A256KW of 32 bytes, or members beside
 *         WRIT_E_MISMATCH  the kid is not that of the bytes
 *         WRIT_E_LIMIT, WRIT_E_NOMEM, WRIT_E_CRYPTO
 */
WRIT_RESULT writ_wrap_key_read(
    struct writ_view text, struct writ_wrap_key **ret, struct writ_err *err);

/** Appends the key with its secret, as a JWK. Use a buffer that is wiped and has room for
 * WRIT_WRAP_TEXT_MAX bytes, so that it does not move. WRIT_E_INVALID without a secret,
 * WRIT_E_LIMIT, WRIT_E_NOMEM. */
WRIT_RESULT writ_wrap_key_put(
    const struct writ_wrap_key *key, struct writ_buf *buf, struct writ_err *err);

/** Appends the key without its secret: {"alg","kid","kty","use"}. */
void writ_wrap_key_put_public(const struct writ_wrap_key *key, struct writ_buf *buf);

/** Wipes and frees. NULL is permitted. */
void writ_wrap_key_free(struct writ_wrap_key *key);

/** Frees at the end of the scope: writ_auto_wrap_key x = NULL; */
#define writ_auto_wrap_key WRIT_AUTO(struct writ_wrap_key *, writ_wrap_key_release)

static inline void
writ_wrap_key_release(struct writ_wrap_key **key)
{
    writ_wrap_key_free(*key);
}

/** Borrowed until the key is freed. */
struct writ_view writ_wrap_key_kid(const struct writ_wrap_key *key);

/** True when its secret bytes are known. */
bool writ_wrap_key_is_secret(const struct writ_wrap_key *key);

/**
 * Encrypts under a new key, and that key under this one.
 *
 * @param aad          bytes that opening must name again
 * @param ret_wrapped  WRIT_WRAPPED_BYTES bytes: the new key, encrypted
 * @param ret          gets nonce, ciphertext and tag appended: WRIT_WRAP_OVERHEAD more than `plain`
 *
 * @return WRIT_OK
 *         WRIT_E_INVALID  the secret of `key` is not known
 *         WRIT_E_LIMIT    longer than WRIT_WRAP_SEALED_MAX, or than `ret` may become
 *         WRIT_E_NOMEM, WRIT_E_CRYPTO
 */
WRIT_RESULT writ_wrap_key_seal(const struct writ_wrap_key *key, struct writ_view aad,
    struct writ_view plain, uint8_t ret_wrapped[WRIT_WRAPPED_BYTES], struct writ_buf *ret,
    struct writ_err *err);

/**
 * The reverse.
 *
 * @param wrapped  WRIT_WRAPPED_BYTES bytes
 * @param sealed   what writ_wrap_key_seal appended
 * @param ret      gets the plain bytes appended; unchanged unless it succeeds
 *
 * @return WRIT_OK
 *         WRIT_E_INVALID   the secret of `key` is not known
 *         WRIT_E_MISMATCH  another key, other bytes, or another `aad`
 *         WRIT_E_LIMIT, WRIT_E_NOMEM, WRIT_E_CRYPTO
 */
WRIT_RESULT writ_wrap_key_open(const struct writ_wrap_key *key, struct writ_view aad,
    struct writ_view wrapped, struct writ_view sealed, struct writ_buf *ret, struct writ_err *err);

#endif
