/* key_validity.h - the time in which a key signs, and whether it was revoked.
 *
 * In a JWK it is the members `nbf` and `exp` (seconds, both included) and `revoked:
 * {"revoked_at"}`, as OpenID Federation has them for keys of the past; a key without them signs at
 * any time. What a revoked key signed is believed by nobody who asks later than its revocation,
 * whatever time it states: whoever has the key can state any. Who asks about a time before (an
 * audit) believes what was signed before. Pure. */
#ifndef WRIT_EVIDENCE_KEY_VALIDITY_H
#define WRIT_EVIDENCE_KEY_VALIDITY_H

#include "evidence/json/json.h"

/** Seconds since 1970. */
struct writ_key_validity {
    int64_t from_s, until_s; /* signs from .. until */
    int64_t revoked_s;       /* revoked from then on; INT64_MAX: it is not */
};

/** At any time, not revoked. */
#define WRIT_KEY_VALIDITY_OPEN ((struct writ_key_validity){INT64_MIN, INT64_MAX, INT64_MAX})

/** Zero means no. */
enum writ_key_validity_answer {
    WRIT_KEY_VALIDITY_REVOKED = 0,
    WRIT_KEY_VALIDITY_OUTSIDE, /* it does not sign at that time */
    WRIT_KEY_VALIDITY_HOLDS,
};

/** Whether what says that it was signed at `signed_s` is believed at `now_s`, by clocks that may
 * differ by `skew_s`. */
enum writ_key_validity_answer writ_key_validity_judge(
    const struct writ_key_validity *window, int64_t signed_s, int64_t now_s, int64_t skew_s);

/** Reads the members of a JWK; absent ones leave that side open. WRIT_E_INVALID when one is not of
 * its form. */
WRIT_RESULT writ_key_validity_read(
    const struct writ_json *jwk, struct writ_key_validity *ret, struct writ_err *err);

/** Appends the JWK `text` (an object that is not empty) with the members of the window. */
void writ_key_validity_put(
    struct writ_buf *buf, struct writ_view text, const struct writ_key_validity *window);

#endif
