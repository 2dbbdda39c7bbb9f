/* jws.h - compact JWS (RFC 7515 7.1), read strictly.
 *
 * The only form: three base64url parts, at most 8 KiB in all, checked before anything else; a
 * protected header with the members alg, typ and kid and no others, so that no token can bring a
 * key, name a place to fetch one from, or change how it is to be read (crit, b64, jwk, jku, x5u,
 * x5c: all refused). base64url must be the one spelling of its bytes. A token chooses nothing about
 * its verification: alg is compared with the key's own (RFC 8725 3.1).
 *
 * Thread-safe; does not block. */
#ifndef WRIT_EVIDENCE_JWS_H
#define WRIT_EVIDENCE_JWS_H

#include "evidence/jose/jwks.h"
#include "evidence/jose/signer.h"

#define WRIT_JWS_BYTES_MAX ((size_t)8192) /* longest token */

/** The limits of a header or a payload that is JSON. */
extern const struct writ_json_limits writ_jws_limits;

/** The parts of a token, not verified. Views live in the arena or in the token. A member that the
 * header does not have is {NULL, 0}. */
struct writ_jws {
    struct writ_view alg, typ, kid;
    struct writ_view input;     /* what was signed: the first two parts with the dot */
    struct writ_view payload;   /* decoded */
    struct writ_view signature; /* decoded; empty in an unsigned token, which never verifies */
};

/**
 * Takes a token apart.
 *
 * @param token  borrowed as long as `ret` is used
 * @param arena  takes the decoded parts
 * @param ret    written only on success
 *
 * @return WRIT_OK
 *         WRIT_E_LIMIT  longer than WRIT_JWS_BYTES_MAX
 *         WRIT_E_PARSE  not the form described above
 *         WRIT_E_NOMEM
 */
WRIT_RESULT writ_jws_read(
    struct writ_view token, struct writ_arena *arena, struct writ_jws *ret, struct writ_err *err);

/** Verifies with a key that the caller chose. WRIT_E_MISMATCH when alg is not the key's or the
 * signature does not hold; WRIT_E_CRYPTO, WRIT_E_NOMEM. */
WRIT_RESULT writ_jws_check(
    const struct writ_jws *jws, const struct writ_jwk *key, struct writ_err *err);

/** Finds the key by kid in the set, then as writ_jws_check. WRIT_E_ABSENT when the token has no
 * kid or the set has no such key. */
WRIT_RESULT writ_jws_verify(
    const struct writ_jws *jws, const struct writ_jwks *keys, struct writ_err *err);

/** The payload as a JSON object. WRIT_E_PARSE, WRIT_E_LIMIT, WRIT_E_NOMEM. */
WRIT_RESULT writ_jws_claims(const struct writ_jws *jws, struct writ_arena *arena,
    const struct writ_json **ret, struct writ_err *err);

/** Appends the token of `payload` with the header {alg, kid, typ} of the signer's key. After a
 * failure, discard what was appended. WRIT_E_LIMIT when it would be longer than WRIT_JWS_BYTES_MAX,
 * WRIT_E_CRYPTO, and the failures of the buffer. */
WRIT_RESULT writ_jws_sign(const struct writ_signer *signer, struct writ_view typ,
    struct writ_view payload, struct writ_buf *buf, struct writ_err *err);

#endif
