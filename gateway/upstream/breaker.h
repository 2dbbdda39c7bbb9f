/* breaker.h - a circuit breaker: decides whether an upstream gets requests for its part of a list.
 *
 * An upstream that did not answer WRIT_BREAKER_SILENCES requests in a row is left out for
 * WRIT_BREAKER_FIRST_US, and after each further silence for twice as long, up to
 * WRIT_BREAKER_LONGEST_US. When that time is over one request is let through as a probe, and the
 * others are held back until it ends. Any answer closes the breaker.
 *
 * It does not affect governed calls: these are always made, with their own timeouts. All functions
 * may be called from any thread; times are monotonic. */
#ifndef WRIT_GATEWAY_BREAKER_H
#define WRIT_GATEWAY_BREAKER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define WRIT_BREAKER_SILENCES   2
#define WRIT_BREAKER_FIRST_US   (INT64_C(5) * 1000 * 1000)
#define WRIT_BREAKER_LONGEST_US (INT64_C(60) * 1000 * 1000)

/** Zero is closed. */
struct writ_breaker {
    atomic_uint silences;           /* in a row */
    atomic_int_least64_t closed_us; /* no request is let through before this time */
};

/** Whether a request may be sent now. A probe has `probe_us` to end. */
bool writ_breaker_lets(struct writ_breaker *breaker, int64_t now_us, int64_t probe_us);

/** Whether requests are held back at this time. */
bool writ_breaker_is_open(const struct writ_breaker *breaker, int64_t now_us);

/** A request was not answered in time. True when this opened the breaker. */
bool writ_breaker_silent(struct writ_breaker *breaker, int64_t now_us);

/** A request was answered. True when the breaker was open. */
bool writ_breaker_answered(struct writ_breaker *breaker);

#endif
