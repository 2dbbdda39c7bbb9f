/* jwks.h - a set of public keys (RFC 7517 5) with strict lookup by kid.
 *
 * A set is refused as a whole when it is not strict JSON with an array "keys", holds private or
 * symmetric material anywhere, has two usable keys with one kid, or is over a limit. A key that is
 * merely not for us (encryption, another curve, too weak) is left out, as RFC 7517 5 says, and
 * counted, and the first such reason is kept for whoever wonders. A set without keys verifies
 * nothing.
 *
 * Never changed after it was read: threads may share it until it is freed. Does not block. */
#ifndef WRIT_EVIDENCE_JWKS_H
#define WRIT_EVIDENCE_JWKS_H

#include "evidence/jwk.h"

#define WRIT_JWKS_BYTES_MAX ((size_t)256 * 1024) /* longest text of a set */
#define WRIT_JWKS_KEYS_MAX  64                   /* most keys in it, usable or not */

struct writ_jwks;

/**
 * Reads a set.
 *
 * @param text  borrowed for the call
 * @param ret   new, free with writ_jwks_free; written only on success
 *
 * @return WRIT_OK          (perhaps with no usable key: ask writ_jwks_count)
 *         WRIT_E_PARSE     not strict JSON
 *         WRIT_E_INVALID   no object with an array "keys", or two keys with one kid
 *         WRIT_E_MISMATCH  private or symmetric key material in it
 *         WRIT_E_LIMIT     WRIT_JWKS_BYTES_MAX or WRIT_JWKS_KEYS_MAX
 *         WRIT_E_NOMEM, WRIT_E_CRYPTO
 */
WRIT_RESULT writ_jwks_read(struct writ_view text, struct writ_jwks **ret, struct writ_err *err);

void writ_jwks_free(struct writ_jwks *set);

/** Usable keys. */
size_t writ_jwks_count(const struct writ_jwks *set);

/** Key `i` of them, in the order of the text; borrowed until the set is freed. */
const struct writ_jwk *writ_jwks_key(const struct writ_jwks *set, size_t i);

/** How many keys were left out, and why the first of them was ("" when none was). */
size_t writ_jwks_left_out(const struct writ_jwks *set, const char **ret_why);

/** The key with exactly this kid, or NULL. NULL for an empty kid and for a NULL set. */
const struct writ_jwk *writ_jwks_find(const struct writ_jwks *set, struct writ_view kid);

/** Appends a set of `n` keys as {"keys":[...]}, canonical. */
void writ_jwks_put(struct writ_buf *buf, const struct writ_jwk *const *keys, size_t n);

#endif
