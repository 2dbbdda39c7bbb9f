/* memory_trim.h - when memory is given back to the system after a burst.
 *
 * What connections and sessions needed at their peak is free afterwards, but scattered, and an
 * allocator keeps it: it is looked for as a whole only once in a while, because that takes some
 * milliseconds. No I/O, no clock; one thread. */
#ifndef WRIT_GATEWAY_MEMORY_TRIM_H
#define WRIT_GATEWAY_MEMORY_TRIM_H

#include <stdbool.h>
#include <stdint.h>

/** Smaller bursts leave nothing behind that is worth it. */
#define WRIT_MEMORY_TRIM_BURST_MIN 64

struct writ_memory_trim {
    int64_t peak; /* since the last time */
    int64_t last; /* how much was open at the last look */
};

/** Looks at how much is open now: true when a burst is over, which is when half of its peak is gone
 * and no more goes. */
bool writ_memory_trim_is_due(struct writ_memory_trim *trim, int64_t open);

#endif
