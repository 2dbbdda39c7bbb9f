/* status_list.h - the revoked credentials: a Token Status List (draft-ietf-oauth-status-list).
 *
 * A credential has a claim `status` with the URI of a list and its place in it (claim.tbl.h). The
 * list is a JWT of its own (typ "statuslist+jwt"), signed with the key of the credentials:
 *
 *     {"sub":URI,"iat":N,"exp":N,"ttl":N,"status_list":{"bits":1,"lst":BASE64URL(ZLIB(BITS))}}
 *
 * A bit that is set means revoked; place 0 is the lowest bit of the first byte. Lists with more
 * bits per place are read too: every value except 0 (valid) means revoked.
 *
 * Pure. The typ keeps the two apart: a list is never accepted as a credential, nor a credential as
 * a list. */
#ifndef WRIT_EVIDENCE_STATUS_LIST_H
#define WRIT_EVIDENCE_STATUS_LIST_H

#include "evidence/jose/jws.h"

#define WRIT_STATUS_LIST_TYP       "statuslist+jwt"
#define WRIT_STATUS_LIST_BYTES     4096 /* of the bits that are issued: all fit one token */
#define WRIT_STATUS_LIST_BYTES_MAX ((size_t)65536) /* of bits that are read */

/** A list: its claims and its bits. */
struct writ_status_list {
    struct writ_view uri;
    struct writ_view bits; /* unpacked */
    int64_t issued_s, expires_s;
    int64_t ttl_s;
    int64_t width; /* bits per place: 1, 2, 4 or 8 */
};

/** Signs a list (of width 1) and appends it. WRIT_E_LIMIT, WRIT_E_CRYPTO, WRIT_E_NOMEM. */
WRIT_RESULT writ_status_list_issue(const struct writ_signer *signer,
    const struct writ_status_list *list, struct writ_buf *buf, struct writ_err *err);

/**
 * Verifies and reads a list. The caller checks its times.
 *
 * @param token  borrowed for the call
 * @param arena  takes what `ret` points to
 * @param ret    written only on success
 *
 * @return WRIT_OK
 *         WRIT_E_PARSE, WRIT_E_INVALID, WRIT_E_LIMIT  not such a token
 *         WRIT_E_ABSENT, WRIT_E_MISMATCH its key is unknown, its signature does not hold
 *         WRIT_E_NOMEM, WRIT_E_CRYPTO
 */
WRIT_RESULT writ_status_list_read(struct writ_view token, const struct writ_jwks *keys,
    struct writ_arena *arena, struct writ_status_list *ret, struct writ_err *err);

/** The state of a place in a list. Zero: the list has no such place. */
enum writ_status {
    WRIT_STATUS_UNKNOWN = 0,
    WRIT_STATUS_VALID,
    WRIT_STATUS_REVOKED,
};
enum writ_status writ_status_list_at(const struct writ_status_list *list, int64_t place);

#endif
