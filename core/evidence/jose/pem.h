/* pem.h - reads a public key from a PEM file (RFC 7468, section 13). */
#ifndef WRIT_EVIDENCE_PEM_H
#define WRIT_EVIDENCE_PEM_H

#include "evidence/jose/jwk.h"

#define WRIT_PEM_BYTES_MAX ((size_t)16384) /* longest file */

/**
 * Reads one public key ("BEGIN PUBLIC KEY"); its kid is its thumbprint.
 *
 * @param text  borrowed for the call
 * @param ret   new, free with writ_jwk_free; written only on success
 *
 * @return WRIT_OK
 *         WRIT_E_LIMIT    longer than WRIT_PEM_BYTES_MAX
 *         WRIT_E_PARSE    not such a key
 *         WRIT_E_INVALID, WRIT_E_NOMEM, WRIT_E_CRYPTO  as writ_jwk_of
 */
WRIT_RESULT writ_pem_read_key(struct writ_view text, struct writ_jwk **ret, struct writ_err *err);

/** A passphrase callback for OpenSSL that never gives one: a daemon has no terminal. `asked`: NULL,
 * or a bool that the call sets. */
int writ_pem_refuse_passphrase(char *buf, int size, int writing, void *asked);

#endif
