/* timestamp.h - time stamps of an authority over bytes (RFC 3161): makes a query, verifies a
 * response.
 *
 * A stamp proves that the bytes existed at that time, even if a signing key is stolen later. Pure
 * functions; safe from several threads. */
#ifndef WRIT_EVIDENCE_TIMESTAMP_H
#define WRIT_EVIDENCE_TIMESTAMP_H

#include "base/bytes.h"
#include "evidence/record/reason.h"

#define WRIT_TIMESTAMP_BYTES_MAX ((size_t)65536)   /* longest response */
#define WRIT_TIMESTAMP_CA_MAX    ((size_t)1 << 20) /* longest file of certificates */

/** The content of a time stamp. */
struct writ_timestamp {
    int64_t time_us; /* since 1970, whole seconds: the bytes existed then */
};

/**
 * Appends a query in DER (RFC 3161 2.4.1): SHA-256 of `data`, and a request for the certificate.
 * The same bytes give the same query: it has no nonce, because an older stamp over them proves even
 * more.
 *
 * @return WRIT_OK WRIT_E_NOMEM, WRIT_E_CRYPTO, and the failures of the buffer
 */
WRIT_RESULT writ_timestamp_query(struct writ_view data, struct writ_buf *ret, struct writ_err *err);

/**
 * Verifies a response (RFC 3161 2.4.2) over `data`. Only the given certificates are trusted; those
 * of the response only connect the signature to them. All must be valid at the time of the stamp,
 * not now: a stamp outlives them. Their revocation is not checked.
 *
 * @param response     DER, to its last byte
 * @param authorities  PEM, one certificate or more
 * @param ret_why      written only on success: WRIT_REASON_EVIDENCE_OK, or the first reason against
 *                     it in the order of the table, and then `err` explains it
 * @param ret          written only for WRIT_REASON_EVIDENCE_OK
 *
 * @return WRIT_OK
 *         WRIT_E_PARSE   `authorities` has no certificate, or other content
 *         WRIT_E_LIMIT   `authorities` is longer than WRIT_TIMESTAMP_CA_MAX
 *         WRIT_E_NOMEM, WRIT_E_CRYPTO
 */
WRIT_RESULT writ_timestamp_verify(struct writ_view data, struct writ_view response,
    struct writ_view authorities, struct writ_timestamp *ret, enum writ_reason *ret_why,
    struct writ_err *err);

#endif
