/* memory_trim.h - decides when memory is returned to the system after a burst.
 *
 * The memory of connections and sessions at their peak is free afterwards, but scattered, and an
 * allocator keeps it. Returning it takes some milliseconds, so it happens only once in a while. No
 * I/O, no clock; one thread. */
#ifndef WRIT_GATEWAY_MEMORY_TRIM_H
#define WRIT_GATEWAY_MEMORY_TRIM_H

#include <stdbool.h>
#include <stdint.h>

/** Smaller bursts leave too little behind. */
#define WRIT_MEMORY_TRIM_BURST_MIN 64

struct writ_memory_trim {
    int64_t peak; /* since the last time */
    int64_t last; /* the open count at the last check */
};

/** Takes the present open count: true when a burst is over, which means that half of its peak has
 * closed and the count stopped falling. */
bool writ_memory_trim_is_due(struct writ_memory_trim *trim, int64_t open);

#endif
