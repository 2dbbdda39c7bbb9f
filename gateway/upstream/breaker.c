/* breaker.c - two atomics, a count of silences and a time. compare-and-exchange on the time lets
 * exactly one request through as the probe. */
#include "gateway/upstream/breaker.h"

#define DOUBLINGS_MAX 8 /* more than lead from the first time to the longest */

bool
writ_breaker_lets(struct writ_breaker *breaker, int64_t now_us, int64_t probe_us)
{
    int_least64_t until_us = atomic_load(&breaker->closed_us);

    if (atomic_load(&breaker->silences) < WRIT_BREAKER_SILENCES) {
        return true;
    }
    /* of several at the same time one is the probe */
    return now_us >= until_us &&
           atomic_compare_exchange_strong(&breaker->closed_us, &until_us, now_us + probe_us);
}

bool
writ_breaker_is_open(const struct writ_breaker *breaker, int64_t now_us)
{
    return atomic_load(&breaker->silences) >= WRIT_BREAKER_SILENCES &&
           now_us < atomic_load(&breaker->closed_us);
}

bool
writ_breaker_silent(struct writ_breaker *breaker, int64_t now_us)
{
    unsigned silences = atomic_fetch_add(&breaker->silences, 1) + 1;
    unsigned more = silences < WRIT_BREAKER_SILENCES ? 0 : silences - WRIT_BREAKER_SILENCES;
    int64_t span_us = WRIT_BREAKER_FIRST_US << (more < DOUBLINGS_MAX ? more : DOUBLINGS_MAX);

    atomic_store(&breaker->closed_us,
        now_us + (span_us < WRIT_BREAKER_LONGEST_US ? span_us : WRIT_BREAKER_LONGEST_US));
    return silences == WRIT_BREAKER_SILENCES;
}

bool
writ_breaker_answered(struct writ_breaker *breaker)
{
    return atomic_load(&breaker->silences) > 0 &&
           atomic_exchange(&breaker->silences, 0) >= WRIT_BREAKER_SILENCES;
}
