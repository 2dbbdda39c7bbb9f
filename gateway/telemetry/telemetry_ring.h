/* telemetry_ring.h - encoded spans and lines on their way from one thread that makes them to one
 * that sends them.
 *
 * A fixed number of bytes: without room for the longest entry, an entry is refused, and its maker
 * goes on. Neither side ever waits for the other. */
#ifndef WRIT_GATEWAY_TELEMETRY_RING_H
#define WRIT_GATEWAY_TELEMETRY_RING_H

#include "base/bytes.h"

#define WRIT_TELEMETRY_RING      ((size_t)4 << 20) /* bytes of entries, a power of two */
#define WRIT_TELEMETRY_ENTRY_MAX ((size_t)1 << 16) /* bytes of an entry, with its head */

struct writ_telemetry_ring;

/** An entry: elements of otlp.h. */
struct writ_telemetry_entry {
    struct writ_view spans, line; /* either may be empty */
    size_t spans_n;
};

/** `ret` is new, free with writ_telemetry_ring_free; written only on success. WRIT_E_NOMEM. */
WRIT_RESULT writ_telemetry_ring_new(struct writ_telemetry_ring **ret, struct writ_err *err);
void writ_telemetry_ring_free(struct writ_telemetry_ring *ring);

/** The maker: a buffer for the next entry, with a fixed size. False when there is no room. Append
 * the spans, then the line. Without a put the next take gives the same place. */
bool writ_telemetry_ring_take(struct writ_telemetry_ring *ring, struct writ_buf *ret);
/** Puts what the buffer has: `spans_n` spans in the first `spans_len` bytes, and the line. The
 * buffer has not failed. */
void writ_telemetry_ring_put(struct writ_telemetry_ring *ring, const struct writ_buf *entry,
    size_t spans_len, size_t spans_n);

/** The reader: the oldest entry. False when there is none. It is borrowed until it is dropped. */
bool writ_telemetry_ring_first(
    const struct writ_telemetry_ring *ring, struct writ_telemetry_entry *ret);
void writ_telemetry_ring_drop(struct writ_telemetry_ring *ring);

#endif
