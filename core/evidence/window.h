/* window.h - the time in which a key signs, and whether it was revoked.
 *
 * In a JWK it is the members `nbf` and `exp` (seconds, both included) and `revoked:
 * {"revoked_at"}`, as OpenID Federation has them for keys of the past; a key without them signs at
 * any time. What a revoked key signed is believed by nobody who asks later than its revocation,
 * whatever time it states: whoever has the key can state any. Who asks about a time before (an
 * audit) believes what was signed before. Pure. */
#ifndef WRIT_EVIDENCE_WINDOW_H
#define WRIT_EVIDENCE_WINDOW_H

#include "evidence/json.h"

/** Seconds since 1970. */
struct writ_window {
    int64_t from_s, until_s; /* signs from .. until */
    int64_t revoked_s;       /* revoked from then on; INT64_MAX: it is not */
};

/** At any time, not revoked. */
#define WRIT_WINDOW_OPEN ((struct writ_window){INT64_MIN, INT64_MAX, INT64_MAX})

/** Zero means no. */
enum writ_window_answer {
    WRIT_WINDOW_REVOKED = 0,
    WRIT_WINDOW_OUTSIDE, /* it does not sign at that time */
    WRIT_WINDOW_HOLDS,
};

/** Whether what says that it was signed at `signed_s` is believed at `now_s`, by clocks that may
 * differ by `skew_s`. */
enum writ_window_answer writ_window_judge(
    const struct writ_window *window, int64_t signed_s, int64_t now_s, int64_t skew_s);

/** Reads the members of a JWK; absent ones leave that side open. WRIT_E_INVALID when one is not of
 * its form. */
WRIT_RESULT writ_window_read(
    const struct writ_json *jwk, struct writ_window *ret, struct writ_err *err);

/** Appends the JWK `text` (an object that is not empty) with the members of the window. */
void writ_window_put(struct writ_buf *buf, struct writ_view text, const struct writ_window *window);

#endif
