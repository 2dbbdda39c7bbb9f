/* jwks.h - a set of public keys (RFC 7517 5) with strict lookup by kid.
 *
 * A set is refused as a whole when it is not strict JSON with an array "keys", holds private or
 * symmetric material anywhere, has two usable keys with one kid, or is over a limit. A key that is
 * merely unusable (encryption, another curve, too weak) is left out, as RFC 7517 5 says, and
 * counted; the reason for the first one is kept. A set without keys verifies nothing.
 *
 * Beside its keys our own sets have `revoked`, [{"kid", "revoked_at"}]: keys that were removed
 * because they are no longer trusted; and `rotations`, statements by which one key names the next
 * (rotation.h). Both may be absent, and other readers ignore them.
 *
 * Immutable after reading, except by writ_jwks_keep: threads may share it until it is freed. Does
 * not block. */
#ifndef WRIT_EVIDENCE_JWKS_H
#define WRIT_EVIDENCE_JWKS_H

#include "evidence/jose/jwk.h"
#include "evidence/jose/key_validity.h"

#define WRIT_JWKS_BYTES_MAX ((size_t)256 * 1024) /* longest text of a set */
#define WRIT_JWKS_KEYS_MAX  64                   /* most keys in it, usable or not */

struct writ_jwks;

/**
 * Reads a set.
 *
 * @param text  borrowed for the call
 * @param ret   new, free with writ_jwks_free; written only on success
 *
 * @return WRIT_OK          (perhaps without a usable key: see writ_jwks_count)
 *         WRIT_E_PARSE     not strict JSON
 *         WRIT_E_INVALID   not an object with an array "keys", two keys with one kid, or a
 *                          malformed `revoked` or `rotations`
 *         WRIT_E_MISMATCH  private or symmetric key material in it
 *         WRIT_E_LIMIT     WRIT_JWKS_BYTES_MAX or WRIT_JWKS_KEYS_MAX
 *         WRIT_E_NOMEM, WRIT_E_CRYPTO
 */
WRIT_RESULT writ_jwks_read(struct writ_view text, struct writ_jwks **ret, struct writ_err *err);

void writ_jwks_free(struct writ_jwks *set);

/** Frees at the end of the scope: writ_auto_jwks x = NULL; */
#define writ_auto_jwks WRIT_AUTO(struct writ_jwks *, writ_jwks_release)

static inline void
writ_jwks_release(struct writ_jwks **jwks)
{
    writ_jwks_free(*jwks);
}

/** Usable keys. */
size_t writ_jwks_count(const struct writ_jwks *set);

/** Key `i` of them, in the order of the text; borrowed until the set is freed. */
const struct writ_jwk *writ_jwks_key(const struct writ_jwks *set, size_t i);

/** The number of keys that were left out, and the reason for the first ("" without one). */
size_t writ_jwks_left_out(const struct writ_jwks *set, const char **ret_why);

/** The key with exactly this kid, or NULL. NULL for an empty kid and for a NULL set. */
const struct writ_jwk *writ_jwks_find(const struct writ_jwks *set, struct writ_view kid);

/** When the key of the set signs; borrowed until the set is freed. */
const struct writ_key_validity *writ_jwks_window(
    const struct writ_jwks *set, const struct writ_jwk *key);

/** Whether `keys` or `revoked` marks the key with this kid as revoked; `ret_since_s` is then the
 * time of the revocation. False for a NULL set. */
bool writ_jwks_revoked(const struct writ_jwks *set, struct writ_view kid, int64_t *ret_since_s);

/** The statements of rotation, in the order of the text; borrowed until the set is freed. */
size_t writ_jwks_rotations(const struct writ_jwks *set);
struct writ_view writ_jwks_rotation(const struct writ_jwks *set, size_t i);

/** Drops the keys for which `keep` returns false. Call it before the set is shared. */
void writ_jwks_keep(
    struct writ_jwks *set, bool (*keep)(void *ctx, const struct writ_jwk *key), void *ctx);

/** Appends a set of `n` keys as {"keys":[...]}, canonical. */
void writ_jwks_put(struct writ_buf *buf, const struct writ_jwk *const *keys, size_t n);

#endif
