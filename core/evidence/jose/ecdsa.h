/* ecdsa.h - the two spellings of an ECDSA signature with P-256.
 *
 * JOSE concatenates r and s, 32 bytes each (RFC 7518 3.4); OpenSSL has a DER SEQUENCE of two
 * INTEGERs (RFC 3279 2.2.3). The verifier checks the range of the numbers. Pure functions. */
#ifndef WRIT_EVIDENCE_ECDSA_H
#define WRIT_EVIDENCE_ECDSA_H

#include "base/bytes.h"

#define WRIT_ECDSA_RAW     64 /* r || s */
#define WRIT_ECDSA_DER_MAX 72 /* two INTEGERs of at most 33 bytes, with their heads */

/** Writes the DER form of a raw signature; returns its length. */
size_t writ_ecdsa_to_der(const uint8_t raw[WRIT_ECDSA_RAW], uint8_t ret[WRIT_ECDSA_DER_MAX]);

/** Reads exactly what writ_ecdsa_to_der writes. WRIT_E_PARSE for anything else: other lengths or
 * types, a spelling that is not the shortest, negative numbers, trailing bytes. */
WRIT_RESULT writ_ecdsa_from_der(struct writ_view der, uint8_t ret[WRIT_ECDSA_RAW]);

#endif
