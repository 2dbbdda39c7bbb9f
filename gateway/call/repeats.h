/* repeats.h - warns of tools that only read and are refused the second time all the same, because
 * duplicates: auto does not believe their server. For the main thread alone. */
#ifndef WRIT_GATEWAY_REPEATS_H
#define WRIT_GATEWAY_REPEATS_H

#include "gateway/state/gateway.h"
#include "gateway/state/generation.h"
#include "store/trusted/definitions.h"

/** What was warned of. Zeroed: nothing. */
struct writ_repeats {
    const struct writ_generation *generation; /* under this one; only compared */
    uint64_t versions[WRIT_UPSTREAMS_MAX];    /* of the shelves that were looked through */
    struct writ_definitions *told;            /* names alone; NULL: none */
};

/** One line in the log for each such tool that its server lists, once in a generation. Call it
 * after each reload: `generation` is the current one. */
void writ_repeats_tell(const struct writ_gateway *gateway, const struct writ_generation *generation,
    struct writ_repeats *repeats);

/** A zeroed one is fine. */
void writ_repeats_wipe(struct writ_repeats *repeats);

#endif
