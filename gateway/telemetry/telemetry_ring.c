/* telemetry_ring.c
 *
 * Invariants:
 *  (1) only the maker writes `head`, only the reader writes `tail`; tail <= head <= tail + places.
 *  (2) a place between them belongs to the reader, any other one to the maker: its content is
 *      written before `head` passes it, and read before `tail` does. */
#include "gateway/telemetry/telemetry_ring.h"

#include "base/alloc.h"

#include <stdatomic.h>

struct writ_telemetry_ring {
    _Atomic size_t head; /* records that were ever put */
    char apart[64];      /* so that the two threads do not write to one line of a cache */
    _Atomic size_t tail; /* records that were ever dropped */
    struct writ_telemetry_record *places;
};

WRIT_RESULT
writ_telemetry_ring_new(struct writ_telemetry_ring **ret, struct writ_err *err)
{
    struct writ_telemetry_ring *ring = writ_alloc(sizeof *ring);

    if (ring != NULL) {
        ring->places = writ_alloc(WRIT_TELEMETRY_RING * sizeof *ring->places);
    }
    if (ring == NULL || ring->places == NULL) {
        writ_telemetry_ring_free(ring);
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for telemetry");
    }
    *ret = ring;
    return WRIT_DONE;
}

void
writ_telemetry_ring_free(struct writ_telemetry_ring *ring)
{
    if (ring != NULL) {
        writ_free(ring->places);
        writ_free(ring);
    }
}

struct writ_telemetry_record *
writ_telemetry_ring_take(struct writ_telemetry_ring *ring)
{
    size_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
    struct writ_telemetry_record *place = &ring->places[head % WRIT_TELEMETRY_RING];

    if (head - atomic_load_explicit(&ring->tail, memory_order_acquire) == WRIT_TELEMETRY_RING) {
        return NULL;
    }
    writ_telemetry_record_clear(place);
    return place;
}

void
writ_telemetry_ring_put(struct writ_telemetry_ring *ring)
{
    size_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);

    atomic_store_explicit(&ring->head, head + 1, memory_order_release);
}

const struct writ_telemetry_record *
writ_telemetry_ring_first(struct writ_telemetry_ring *ring)
{
    size_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);

    return atomic_load_explicit(&ring->head, memory_order_acquire) == tail
               ? NULL
               : &ring->places[tail % WRIT_TELEMETRY_RING];
}

void
writ_telemetry_ring_drop(struct writ_telemetry_ring *ring)
{
    size_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);

    atomic_store_explicit(&ring->tail, tail + 1, memory_order_release);
}
