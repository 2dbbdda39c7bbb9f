/* rotation.h - a key names its successor.
 *
 * When a key is rotated out it signs a statement, a compact JWS with the typ "writ-key-rotation"
 * and the payload {"at": time, "jwk": the key that comes after, "purpose": ...}. A verifier that
 * trusts a key follows its statement to the next one, and so on: one key, configured by hand, is
 * enough for all later ones. A key signs one such statement; two of them are a fork, and nothing is
 * followed. A revoked key leads nowhere from the time of its revocation.
 *
 * Pure functions; nothing blocks. */
#ifndef WRIT_EVIDENCE_ROTATION_H
#define WRIT_EVIDENCE_ROTATION_H

#include "evidence/jose/jws.h"

#define WRIT_ROTATION_TYP "writ-key-rotation"

/** Appends the statement. `purpose` is the purpose of both keys. WRIT_E_LIMIT, WRIT_E_CRYPTO, and
 * the failures of the buffer. */
WRIT_RESULT writ_rotation_make(const struct writ_signer *before, const struct writ_jwk *after,
    struct writ_view purpose, int64_t at_us, struct writ_buf *buf, struct writ_err *err);

/**
 * Keeps in a set the trusted keys and those that its statements reach from trusted ones.
 *
 * @param trusted  keys that the verifier has from elsewhere
 *
 * @return WRIT_OK          perhaps with no key left
 *         WRIT_E_MISMATCH  a fork: one key has two successors
 *         WRIT_E_NOMEM, WRIT_E_CRYPTO; the set is then as it was
 */
WRIT_RESULT writ_rotation_follow(
    struct writ_jwks *set, const struct writ_jwks *trusted, struct writ_err *err);

#endif
