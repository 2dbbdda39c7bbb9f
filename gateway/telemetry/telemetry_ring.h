/* telemetry_ring.h - records on their way from one thread that makes them to one that sends them.
 *
 * A fixed number of places: when all are taken, a record is refused, and its maker goes on. Neither
 * side ever waits for the other. */
#ifndef WRIT_GATEWAY_TELEMETRY_RING_H
#define WRIT_GATEWAY_TELEMETRY_RING_H

#include "gateway/telemetry/telemetry_record.h"

#define WRIT_TELEMETRY_RING 2048 /* places, a power of two */

struct writ_telemetry_ring;

/** `ret` is new, free with writ_telemetry_ring_free; written only on success. WRIT_E_NOMEM. */
WRIT_RESULT writ_telemetry_ring_new(struct writ_telemetry_ring **ret, struct writ_err *err);
void writ_telemetry_ring_free(struct writ_telemetry_ring *ring);

/** The maker: the next free place, empty, or NULL when there is none. It is the maker's until it is
 * put; without a put the next take gives the same place. */
struct writ_telemetry_record *writ_telemetry_ring_take(struct writ_telemetry_ring *ring);
void writ_telemetry_ring_put(struct writ_telemetry_ring *ring);

/** The reader: the oldest record, or NULL. It is the reader's until it is dropped. */
const struct writ_telemetry_record *writ_telemetry_ring_first(struct writ_telemetry_ring *ring);
void writ_telemetry_ring_drop(struct writ_telemetry_ring *ring);

#endif
