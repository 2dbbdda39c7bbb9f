/* Records pass a ring in their order, whole, between two threads; a full ring refuses. */
#include "support/unit.h"

#include "gateway/telemetry/telemetry_ring.h"

#include <pthread.h>

#define MANY 200000

static struct writ_telemetry_ring *
ring_new(void)
{
    struct writ_telemetry_ring *ring = NULL;

    ck_assert_ok(writ_telemetry_ring_new(&ring, NULL));
    return ring;
}

static bool
put(struct writ_telemetry_ring *ring, int64_t number)
{
    struct writ_telemetry_record *record = writ_telemetry_ring_take(ring);
    const struct writ_log_field field = writ_log_int("number", number);

    if (record == NULL) {
        return false;
    }
    record->from_us = number;
    writ_telemetry_record_field(record, &field);
    writ_telemetry_ring_put(ring);
    return true;
}

/* The number of the oldest record; -1 for none. */
static int64_t
drop(struct writ_telemetry_ring *ring)
{
    const struct writ_telemetry_record *record = writ_telemetry_ring_first(ring);
    int64_t number;

    if (record == NULL) {
        return -1;
    }
    number = record->from_us;
    ck_assert_uint_eq(record->fields_n, 1);
    ck_assert_int_eq(record->fields[0].number, number);
    writ_telemetry_ring_drop(ring);
    return number;
}

START_TEST(ring_gives_records_in_their_order)
{
    struct writ_telemetry_ring *ring = ring_new();

    ck_assert_int_eq(drop(ring), -1);
    for (int64_t i = 0; i < 3 * WRIT_TELEMETRY_RING; i++) {
        ck_assert(put(ring, i));
        ck_assert(put(ring, -i - 2));
        ck_assert_int_eq(drop(ring), i);
        ck_assert_int_eq(drop(ring), -i - 2);
    }
    ck_assert_int_eq(drop(ring), -1);
    writ_telemetry_ring_free(ring);
}
END_TEST

START_TEST(full_ring_refuses_until_a_record_is_dropped)
{
    struct writ_telemetry_ring *ring = ring_new();

    for (int64_t i = 0; i < WRIT_TELEMETRY_RING; i++) {
        ck_assert(put(ring, i));
    }
    ck_assert(!put(ring, 7));
    ck_assert_int_eq(drop(ring), 0);
    ck_assert(put(ring, WRIT_TELEMETRY_RING));
    ck_assert(!put(ring, 7));
    for (int64_t i = 1; i <= WRIT_TELEMETRY_RING; i++) {
        ck_assert_int_eq(drop(ring), i);
    }
    writ_telemetry_ring_free(ring);
    writ_telemetry_ring_free(NULL);
}
END_TEST

START_TEST(taken_place_that_is_not_put_is_given_again_empty)
{
    struct writ_telemetry_ring *ring = ring_new();
    struct writ_telemetry_record *record = writ_telemetry_ring_take(ring);
    const struct writ_log_field field = writ_log_str("a", "b");

    writ_telemetry_record_field(record, &field);
    ck_assert_ptr_null(writ_telemetry_ring_first(ring));
    ck_assert_ptr_eq(writ_telemetry_ring_take(ring), record);
    ck_assert_uint_eq(record->fields_n, 0);
    ck_assert_uint_eq(record->text_n, 0);
    writ_telemetry_ring_free(ring);
}
END_TEST

static void *
put_many(void *ring)
{
    for (int64_t i = 0; i < MANY;) {
        i += put(ring, i) ? 1 : 0;
    }
    return NULL;
}

START_TEST(two_threads_pass_records_whole)
{
    struct writ_telemetry_ring *ring = ring_new();
    pthread_t maker;

    ck_assert_int_eq(pthread_create(&maker, NULL, put_many, ring), 0);
    for (int64_t want = 0; want < MANY;) {
        int64_t number = drop(ring);
        ck_assert(number == want || number == -1);
        want += number == want ? 1 : 0;
    }
    ck_assert_int_eq(pthread_join(maker, NULL), 0);
    writ_telemetry_ring_free(ring);
}
END_TEST

WRIT_UNIT_MAIN("telemetry_ring", ring_gives_records_in_their_order,
    full_ring_refuses_until_a_record_is_dropped, taken_place_that_is_not_put_is_given_again_empty,
    two_threads_pass_records_whole)
