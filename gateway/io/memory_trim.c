/* memory_trim.c - reports the end of a burst once: after the count fell to half of its peak and
 * stopped falling. The peak then starts again from the current count. */
#include "gateway/io/memory_trim.h"

bool
writ_memory_trim_is_due(struct writ_memory_trim *tidy, int64_t open)
{
    bool falls = open < tidy->last;

    tidy->last = open;
    if (open > tidy->peak) {
        tidy->peak = open;
    }
    if (tidy->peak < WRIT_MEMORY_TRIM_BURST_MIN || open > tidy->peak / 2 || falls) {
        return false;
    }
    tidy->peak = open;
    return true;
}
