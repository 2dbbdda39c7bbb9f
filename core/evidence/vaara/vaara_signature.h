/* vaara_signature.h - signatures as the records of Vaara carry them: hexadecimal, over the
 * canonical form of a record or of some of its members.
 *
 * The profile names no key in a record, so every key of the algorithm is tried. An algorithm is
 * chosen by the record, the keys by the verifier alone: a shared secret verifies HS256 and nothing
 * else, a public key never does. Pure functions. */
#ifndef WRIT_EVIDENCE_VAARA_SIGNATURE_H
#define WRIT_EVIDENCE_VAARA_SIGNATURE_H

#include "evidence/jose/jwk.h"

#define WRIT_VAARA_KEYS_MAX 64

/** The keys that the verifier trusts. Zeroed: none. Borrowed. */
struct writ_vaara_keys {
    const struct writ_jwk *keys[WRIT_VAARA_KEYS_MAX];
    size_t count;
    struct writ_view secret; /* of HS256; empty: none */
};

/** True for the algorithms of the profile: "ES256", "RS256", "HS256". */
bool writ_vaara_signature_knows(struct writ_view alg);

/** True with a key, or the secret, of that algorithm: a signature can then be judged. */
bool writ_vaara_signature_judges(const struct writ_vaara_keys *keys, struct writ_view alg);

/**
 * Whether `signature` (lower-case hexadecimal, by `alg`) covers the canonical form of the named
 * members of `object` that are present; of all members when `count` is 0.
 *
 * @param names  in canonical order
 *
 * @return WRIT_OK          it holds
 *         WRIT_E_MISMATCH  it holds under no known key
 *         WRIT_E_PARSE, WRIT_E_LIMIT  the members have no canonical form
 *         WRIT_E_NOMEM, WRIT_E_CRYPTO
 */
WRIT_RESULT writ_vaara_signature_check(const struct writ_vaara_keys *keys, struct writ_view alg,
    const struct writ_json *object, const char *const *names, size_t count,
    struct writ_view signature, struct writ_err *err);

/** Appends the canonical form that is signed. WRIT_E_PARSE, WRIT_E_LIMIT, WRIT_E_NOMEM. */
WRIT_RESULT writ_vaara_signature_input(const struct writ_json *object, const char *const *names,
    size_t count, struct writ_buf *ret, struct writ_err *err);

#endif
