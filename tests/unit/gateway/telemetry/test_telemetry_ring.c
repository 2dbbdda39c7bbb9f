/* Entries pass a ring in their order, whole, between two threads; a full ring refuses. */
#include "support/unit.h"

#include "gateway/telemetry/telemetry_ring.h"

#include <pthread.h>

#define MANY  20000
#define SPANS 8    /* bytes of its spans */
#define LINES 5000 /* most bytes of its line, so that entries end at every place of the ring */

static struct writ_telemetry_ring *
ring_new(void)
{
    struct writ_telemetry_ring *ring = NULL;

    ck_assert_ok(writ_telemetry_ring_new(&ring, NULL));
    return ring;
}

static size_t
line_len(uint64_t number)
{
    return (size_t)(number * 2654435761U % LINES);
}

/* An entry with its number in its spans, and a line of that number's length. */
static bool
put(struct writ_telemetry_ring *ring, uint64_t number)
{
    struct writ_buf entry;

    if (!writ_telemetry_ring_take(ring, &entry)) {
        return false;
    }
    for (int i = 0; i < SPANS; i++) {
        writ_buf_byte(&entry, (char)(number >> 8 * i));
    }
    for (size_t i = 0; i < line_len(number); i++) {
        writ_buf_byte(&entry, (char)number);
    }
    writ_telemetry_ring_put(ring, &entry, SPANS, (size_t)number % 7);
    return true;
}

/* The oldest entry is that number. False: there is none. */
static bool
drop(struct writ_telemetry_ring *ring, uint64_t number)
{
    struct writ_telemetry_entry entry;

    if (!writ_telemetry_ring_first(ring, &entry)) {
        return false;
    }
    ck_assert_uint_eq(entry.spans.len, SPANS);
    ck_assert_uint_eq(writ_view_load64(entry.spans.ptr), number);
    ck_assert_uint_eq(entry.spans_n, number % 7);
    ck_assert_uint_eq(entry.line.len, line_len(number));
    for (size_t i = 0; i < entry.line.len; i++) {
        if (entry.line.ptr[i] != (char)number) {
            ck_abort_msg("byte %zu of %ju", i, (uintmax_t)number);
        }
    }
    writ_telemetry_ring_drop(ring);
    return true;
}

START_TEST(ring_gives_entries_in_their_order)
{
    struct writ_telemetry_ring *ring = ring_new();

    ck_assert(!drop(ring, 0));
    for (uint64_t i = 0; i < 6000; i += 2) { /* more than three times around */
        ck_assert(put(ring, i));
        ck_assert(put(ring, i + 1));
        ck_assert(drop(ring, i));
        ck_assert(drop(ring, i + 1));
    }
    ck_assert(!drop(ring, 0));
    writ_telemetry_ring_free(ring);
}
END_TEST

START_TEST(full_ring_refuses_until_an_entry_is_dropped)
{
    struct writ_telemetry_ring *ring = ring_new();
    uint64_t head = 0, tail = 0;

    for (int round = 0; round < 5; round++) {
        size_t bytes = 0;

        while (put(ring, head)) {
            head++;
        }
        ck_assert(!put(ring, 7));
        for (uint64_t i = tail; i < head; i++) {
            bytes += line_len(i);
        }
        ck_assert_uint_gt(bytes, WRIT_TELEMETRY_RING - WRIT_TELEMETRY_RING / 8);
        while (!put(ring, head)) {
            ck_assert(drop(ring, tail++));
        }
        head++;
        for (int i = 0; i < 100; i++) { /* so that a round begins elsewhere */
            ck_assert(drop(ring, tail++));
        }
    }
    while (tail < head) {
        ck_assert(drop(ring, tail++));
    }
    ck_assert(!drop(ring, tail));
    writ_telemetry_ring_free(ring);
    writ_telemetry_ring_free(NULL);
}
END_TEST

START_TEST(longest_entry_fits_at_every_place)
{
    struct writ_telemetry_ring *ring = ring_new();
    struct writ_telemetry_entry first;

    for (int i = 0; i < 300; i++) {
        struct writ_buf entry;
        ck_assert(writ_telemetry_ring_take(ring, &entry));
        while (entry.len < entry.max) {
            writ_buf_byte(&entry, (char)i);
        }
        ck_assert_uint_gt(entry.len, WRIT_TELEMETRY_ENTRY_MAX - 64);
        writ_telemetry_ring_put(ring, &entry, 0, 0);
        ck_assert(writ_telemetry_ring_first(ring, &first));
        ck_assert_uint_eq(first.spans.len, 0);
        ck_assert_int_eq(first.line.ptr[first.line.len - 1], (char)i);
        writ_telemetry_ring_drop(ring);
        ck_assert(put(ring, (uint64_t)i) && drop(ring, (uint64_t)i));
    }
    writ_telemetry_ring_free(ring);
}
END_TEST

START_TEST(taken_place_that_is_not_put_is_given_again_empty)
{
    struct writ_telemetry_ring *ring = ring_new();
    struct writ_telemetry_entry first;
    struct writ_buf entry, again;

    ck_assert(writ_telemetry_ring_take(ring, &entry));
    writ_buf_str(&entry, "a");
    ck_assert(!writ_telemetry_ring_first(ring, &first));
    ck_assert(writ_telemetry_ring_take(ring, &again));
    ck_assert_ptr_eq(again.ptr, entry.ptr);
    ck_assert_uint_eq(again.len, 0);
    writ_telemetry_ring_free(ring);
}
END_TEST

static void *
put_many(void *ring)
{
    for (uint64_t i = 0; i < MANY;) {
        i += put(ring, i) ? 1 : 0;
    }
    return NULL;
}

START_TEST(two_threads_pass_entries_whole)
{
    struct writ_telemetry_ring *ring = ring_new();
    pthread_t maker;

    ck_assert_int_eq(pthread_create(&maker, NULL, put_many, ring), 0);
    for (uint64_t want = 0; want < MANY;) {
        want += drop(ring, want) ? 1 : 0;
    }
    ck_assert_int_eq(pthread_join(maker, NULL), 0);
    writ_telemetry_ring_free(ring);
}
END_TEST

START_TEST(ring_without_memory_is_an_error)
{
    struct writ_telemetry_ring *ring = NULL;

    for (long nth = 1; nth <= 2; nth++) {
        writ_fault_arm(nth);
        ck_assert_code(writ_telemetry_ring_new(&ring, NULL), WRIT_E_NOMEM);
        ck_assert(writ_fault_disarm());
        ck_assert_ptr_null(ring);
    }
}
END_TEST

WRIT_UNIT_MAIN("telemetry_ring", ring_gives_entries_in_their_order,
    full_ring_refuses_until_an_entry_is_dropped, longest_entry_fits_at_every_place,
    taken_place_that_is_not_put_is_given_again_empty, two_threads_pass_entries_whole,
    ring_without_memory_is_an_error)
