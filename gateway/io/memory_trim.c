/* memory_trim.c - reports the end of a burst once: after the count fell to half of its peak and
 * stopped falling. The peak then starts again from the current count. */
#include "gateway/io/memory_trim.h"

bool
writ_memory_trim_is_due(struct writ_memory_trim *trim, int64_t open)
{
    bool falls = open < trim->last;

    trim->last = open;
    if (open > trim->peak) {
        trim->peak = open;
    }
    if (trim->peak < WRIT_MEMORY_TRIM_BURST_MIN || open > trim->peak / 2 || falls) {
        return false;
    }
    trim->peak = open;
    return true;
}

bool
writ_memory_trim_is_quiet(struct writ_memory_quiet *quiet, uint64_t requests)
{
    if (requests != quiet->requests) {
        quiet->requests = requests;
        quiet->looks = 0;
        return false;
    }
    if (quiet->looks == WRIT_MEMORY_TRIM_QUIET_LOOKS ||
        ++quiet->looks < WRIT_MEMORY_TRIM_QUIET_LOOKS ||
        (quiet->after_start && requests - quiet->trimmed < WRIT_MEMORY_TRIM_BURST_MIN)) {
        return false;
    }
    quiet->trimmed = requests;
    quiet->after_start = true;
    return true;
}
