/* rate.h - so many a second, and how many there were besides: for lines in the log that a stranger
 * can cause. For one thread. */
#ifndef WRIT_GATEWAY_RATE_H
#define WRIT_GATEWAY_RATE_H

#include <stdbool.h>
#include <stdint.h>

/** Zero-initialise, with `per_s`. */
struct writ_rate {
    unsigned per_s, count; /* allowed; taken in this second */
    int64_t window_us;
    uint64_t dropped; /* refused since the last that was taken */
};

/** Whether one more fits this second. `ret_dropped`: how many did not since the last that did;
 * written only for true. */
bool writ_rate_take(struct writ_rate *rate, int64_t now_us, uint64_t *ret_dropped);

#endif
