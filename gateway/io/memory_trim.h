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

/** Looks that see no new request until it is quiet. */
#define WRIT_MEMORY_TRIM_QUIET_LOOKS 2

struct writ_memory_quiet {
    uint64_t requests, trimmed; /* at the last look, and the last time */
    unsigned looks;             /* without a new one */
    bool after_start;           /* the first time, which is for the memory of the start, was */
};

/** Takes the count of all requests so far: true when it is quiet after many of them, so that
 * returning memory delays none. */
bool writ_memory_trim_is_quiet(struct writ_memory_quiet *quiet, uint64_t requests);

#endif
