/* repeats.h - warns about read-only tools whose second call is refused nevertheless, because
 * duplicates: auto does not trust their server. Only for the main thread. */
#ifndef WRIT_GATEWAY_REPEATS_H
#define WRIT_GATEWAY_REPEATS_H

#include "gateway/state/gateway.h"
#include "gateway/state/generation.h"
#include "store/trusted/definitions.h"

/** The reported tools. Zeroed: none. */
struct writ_repeats {
    const struct writ_generation *generation; /* the generation of the reports; only compared */
    uint64_t versions[WRIT_UPSTREAMS_MAX];    /* of the checked snapshots */
    struct writ_definitions *told;            /* only names; NULL: none */
};

/** Logs one line for each such tool that its server lists, once in a generation. Call it after each
 * reload: `generation` is the current one. */
void writ_repeats_tell(const struct writ_gateway *gateway, const struct writ_generation *generation,
    struct writ_repeats *repeats);

/** A zeroed one is fine. */
void writ_repeats_wipe(struct writ_repeats *repeats);

#endif
