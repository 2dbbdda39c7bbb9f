/* id.h - identifiers. Time-ordered, so that every index over them grows at its right edge. */
#ifndef WRIT_BASE_ID_H
#define WRIT_BASE_ID_H

#include "base/bytes.h"
#include "base/clock.h"

#define WRIT_ID_TEXT 37 /* a UUID and NUL */

/** A new UUIDv7 (RFC 9562 5.7) in lower case. Ids made by one process sort by the order in which
 * they were made. WRIT_E_CRYPTO when the system gives no randomness. Thread-safe. */
WRIT_RESULT writ_id_new(
    const struct writ_clock *clock, char ret[WRIT_ID_TEXT], struct writ_err *err);

/** The time at which an id was made, to the millisecond; false when it is no UUIDv7. */
bool writ_id_time(struct writ_view id, int64_t *ret_us);

/** Fills with random bytes (getrandom). WRIT_E_CRYPTO. */
WRIT_RESULT writ_random(void *ret, size_t len, struct writ_err *err);

#endif
