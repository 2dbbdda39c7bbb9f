/* pem.h - PEM files (RFC 7468), as other tools keep theirs: a public key out of one (13). */
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
 *         WRIT_E_PARSE    no such key
 *         WRIT_E_INVALID, WRIT_E_NOMEM, WRIT_E_CRYPTO  as writ_jwk_of
 */
WRIT_RESULT writ_pem_read_key(struct writ_view text, struct writ_jwk **ret, struct writ_err *err);

/** For OpenSSL, in place of a terminal: there is no passphrase, since a daemon has nobody to ask.
 * `asked`: NULL, or a bool that is set. */
int writ_pem_refuse_passphrase(char *buf, int size, int writing, void *asked);

#endif
