/* rate.c - counts in windows of one second. Refused lines are counted until a line is taken again,
 * so no loss goes unreported. */
#include "gateway/io/rate.h"

#define SECOND_US (INT64_C(1000) * 1000)

bool
writ_rate_take(struct writ_rate *rate, int64_t now_us, uint64_t *ret_dropped)
{
    if (now_us - rate->window_us >= SECOND_US) {
        rate->window_us = now_us;
        rate->count = 0;
    }
    if (rate->count >= rate->per_s) {
        rate->dropped++;
        return false;
    }
    rate->count++;
    *ret_dropped = rate->dropped;
    rate->dropped = 0;
    return true;
}
