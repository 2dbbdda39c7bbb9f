/* signer.h - one private key that signs with one algorithm.
 *
 * Parsed once and shared by all threads; each thread keeps its own OpenSSL context for it, made at
 * its first signature (ES256 then takes 32 us; a new context each time would make it 38). The
 * private half leaves only through writ_signer_put_pem. Making an RSA key takes up to a second;
 * nothing else blocks. */
#ifndef WRIT_EVIDENCE_SIGNER_H
#define WRIT_EVIDENCE_SIGNER_H

#include "evidence/jose/jwk.h"

#define WRIT_SIGNER_PEM_MAX   16384 /* longest private key file */
#define WRIT_SIGNER_BYTES_MAX 1024  /* longest signature: RSA with 8192 bits */

struct writ_signer;

/** A new key; RS256 keys have 2048 bits. `ret` is new, free with writ_signer_free; written only on
 * success. WRIT_E_INVALID for WRIT_JWK_ALG_NONE, WRIT_E_NOMEM, WRIT_E_CRYPTO. */
WRIT_RESULT writ_signer_new(enum writ_jwk_alg alg, struct writ_signer **ret, struct writ_err *err);

/**
 * Reads an unencrypted PEM private key (PKCS#8 or the older forms).
 *
 * @param pem  borrowed for the call; wipe it afterwards
 *
 * @return WRIT_OK
 *         WRIT_E_LIMIT    longer than WRIT_SIGNER_PEM_MAX
 *         WRIT_E_PARSE    not such a key; the text names an encrypted one, because a daemon cannot
 *                         ask for a passphrase
 *         WRIT_E_INVALID  a key of another algorithm, or too weak
 *         WRIT_E_NOMEM, WRIT_E_CRYPTO
 */
WRIT_RESULT writ_signer_read(struct writ_view pem, struct writ_signer **ret, struct writ_err *err);

void writ_signer_free(struct writ_signer *signer);

/** The public half; its kid is the thumbprint. Borrowed until the signer is freed. */
const struct writ_jwk *writ_signer_jwk(const struct writ_signer *signer);

/** Appends the private key as PKCS#8 PEM, unencrypted. Wipe the buffer. WRIT_E_CRYPTO, and the
 * failures of the buffer. */
WRIT_RESULT writ_signer_put_pem(
    const struct writ_signer *signer, struct writ_buf *buf, struct writ_err *err);

/** Appends the JWS signature value over `input` (for ES256 the 64 bytes r || s, RFC 7518 3.4).
 * WRIT_E_CRYPTO, and the failures of the buffer. Thread-safe. */
WRIT_RESULT writ_signer_sign(const struct writ_signer *signer, struct writ_view input,
    struct writ_buf *buf, struct writ_err *err);

#endif
