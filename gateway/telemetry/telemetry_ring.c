/* telemetry_ring.c - an entry is a head and its bytes, in one piece: one that begins before the end
 * of the ring may run into the room behind it, and the next one begins at the start.
 *
 * Invariants:
 *  (1) only the maker writes `head`, only the reader writes `tail`; tail <= head <= tail + size.
 *  (2) the bytes between them belong to the reader, all others to the maker: they are written
 *      before `head` passes them, and read before `tail` does. */
#include "gateway/telemetry/telemetry_ring.h"

#include <stdatomic.h>

#define ALIGN 16 /* of an entry */

struct head {
    uint32_t spans_len, line_len, spans_n;
};

struct writ_telemetry_ring {
    _Atomic size_t head; /* bytes that were ever put */
    char apart[64];      /* so that the two threads do not write to one line of a cache */
    _Atomic size_t tail; /* bytes that were ever dropped */
    char *bytes;
};

WRIT_RESULT
writ_telemetry_ring_new(struct writ_telemetry_ring **ret, struct writ_err *err)
{
    struct writ_telemetry_ring *ring = writ_alloc(sizeof *ring);

    if (ring != NULL) {
        ring->bytes = writ_alloc(WRIT_TELEMETRY_RING + WRIT_TELEMETRY_ENTRY_MAX);
    }
    if (ring == NULL || ring->bytes == NULL) {
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
        writ_free(ring->bytes);
        writ_free(ring);
    }
}

static struct head *
head_at(const struct writ_telemetry_ring *ring, size_t at)
{
    return (struct head *)(void *)(ring->bytes + at % WRIT_TELEMETRY_RING); /* ALIGN keeps it */
}

/* Where the entry after one of `len` bytes begins. */
static size_t
after(size_t at, size_t len)
{
    size_t next = (at + sizeof(struct head) + len + ALIGN - 1) / ALIGN * ALIGN;
    size_t end = (at / WRIT_TELEMETRY_RING + 1) * WRIT_TELEMETRY_RING;

    return next < end ? next : end;
}

bool
writ_telemetry_ring_take(struct writ_telemetry_ring *ring, struct writ_buf *ret)
{
    size_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
    size_t tail = atomic_load_explicit(&ring->tail, memory_order_acquire);

    if (WRIT_TELEMETRY_RING - (head - tail) < WRIT_TELEMETRY_ENTRY_MAX) {
        return false;
    }
    *ret = writ_buf_over(
        head_at(ring, head) + 1, WRIT_TELEMETRY_ENTRY_MAX - sizeof(struct head) - ALIGN);
    return true;
}

void
writ_telemetry_ring_put(struct writ_telemetry_ring *ring, const struct writ_buf *entry,
    size_t spans_len, size_t spans_n)
{
    size_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);

    WRIT_INVARIANT(entry->failed == WRIT_E_UNSET && spans_len <= entry->len);
    *head_at(ring, head) = (struct head){.spans_len = (uint32_t)spans_len,
        .line_len = (uint32_t)(entry->len - spans_len),
        .spans_n = (uint32_t)spans_n};
    atomic_store_explicit(&ring->head, after(head, entry->len), memory_order_release);
}

bool
writ_telemetry_ring_first(const struct writ_telemetry_ring *ring, struct writ_telemetry_entry *ret)
{
    size_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
    const struct head *head = head_at(ring, tail);
    const char *bytes = (const char *)(head + 1);

    if (atomic_load_explicit(&ring->head, memory_order_acquire) == tail) {
        return false;
    }
    *ret = (struct writ_telemetry_entry){.spans = writ_view(bytes, head->spans_len),
        .line = writ_view(bytes + head->spans_len, head->line_len),
        .spans_n = head->spans_n};
    return true;
}

void
writ_telemetry_ring_drop(struct writ_telemetry_ring *ring)
{
    size_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
    const struct head *head = head_at(ring, tail);

    atomic_store_explicit(
        &ring->tail, after(tail, (size_t)head->spans_len + head->line_len), memory_order_release);
}
