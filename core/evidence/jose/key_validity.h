/* key_validity.h - the time in which a key may sign, and whether it was revoked.
 *
 * In a JWK it is the members `nbf` and `exp` (seconds, both included) and `revoked:
 * {"revoked_at"}`, as OpenID Federation has them for keys of the past; a key without them signs at
 * any time. After a key is revoked, every signature it made is rejected, whatever time the
 * signature claims: the holder of a stolen key can claim any. A check as of an earlier time (an
 * audit) accepts the signatures before it. Pure. */
#ifndef WRIT_EVIDENCE_KEY_VALIDITY_H
#define WRIT_EVIDENCE_KEY_VALIDITY_H

#include "evidence/json/json.h"

/** Seconds since 1970. */
struct writ_key_validity {
    int64_t from_s, until_s; /* signs from .. until */
    int64_t revoked_s;       /* revoked from then on; INT64_MAX: not revoked */
};

/** At any time, not revoked. */
#define WRIT_KEY_VALIDITY_OPEN ((struct writ_key_validity){INT64_MIN, INT64_MAX, INT64_MAX})

/** Zero means no. */
enum writ_key_validity_answer {
    WRIT_KEY_VALIDITY_REVOKED = 0,
    WRIT_KEY_VALIDITY_OUTSIDE, /* the key does not sign at that time */
    WRIT_KEY_VALIDITY_HOLDS,
};

/** Judges at `now_s` a signature that claims the time `signed_s`. Clocks may differ by `skew_s`. */
enum writ_key_validity_answer writ_key_validity_judge(
    const struct writ_key_validity *window, int64_t signed_s, int64_t now_s, int64_t skew_s);

/** Reads the members of a JWK; absent ones leave that side open. WRIT_E_INVALID when one is
 * malformed. */
WRIT_RESULT writ_key_validity_read(
    const struct writ_json *jwk, struct writ_key_validity *ret, struct writ_err *err);

/** Appends the JWK `text` (a non-empty object) with the members of the window. */
void writ_key_validity_put(
    struct writ_buf *buf, struct writ_view text, const struct writ_key_validity *window);

#endif
