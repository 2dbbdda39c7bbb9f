/* Identifiers. They sort in the order in which they were made, in one millisecond and when the
 * clock steps back, and no two threads make the same one. */
#include "support/unit.h"

#include "base/id.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int64_t
fixed_us(void *ctx)
{
    return *(int64_t *)ctx;
}

static void
assert_uuid_v7(const char *id)
{
    ck_assert_uint_eq(strlen(id), WRIT_ID_TEXT - 1);
    for (size_t i = 0; i < WRIT_ID_TEXT - 1; i++) {
        bool dash = i == 8 || i == 13 || i == 18 || i == 23;
        if (dash ? id[i] != '-' : strchr("0123456789abcdef", id[i]) == NULL) {
            ck_abort_msg("%s", id);
        }
    }
    ck_assert_int_eq(id[14], '7');
    ck_assert_ptr_nonnull(strchr("89ab", id[19]));
}

START_TEST(id_of_one_millisecond_sorts_by_creation)
{
    enum { MANY = 10000 }; /* more than the counter holds */
    int64_t now_us = INT64_C(4000000000000000);
    const struct writ_clock clock = {fixed_us, fixed_us, &now_us};
    char last[WRIT_ID_TEXT] = "", id[WRIT_ID_TEXT];

    for (int i = 0; i < MANY; i++) {
        ck_assert_ok(writ_id_new(&clock, id, NULL));
        assert_uuid_v7(id);
        ck_assert_int_gt(strcmp(id, last), 0);
        memcpy(last, id, sizeof last);
    }
}
END_TEST

START_TEST(id_after_the_clock_steps_back_still_sorts)
{
    int64_t now_us = INT64_C(4100000000000000);
    const struct writ_clock clock = {fixed_us, fixed_us, &now_us};
    char first[WRIT_ID_TEXT], second[WRIT_ID_TEXT], third[WRIT_ID_TEXT];

    ck_assert_ok(writ_id_new(&clock, first, NULL));
    now_us -= INT64_C(3600000000);
    ck_assert_ok(writ_id_new(&clock, second, NULL));
    now_us = -5;
    ck_assert_ok(writ_id_new(&clock, third, NULL));
    ck_assert_int_lt(strcmp(first, second), 0);
    ck_assert_int_lt(strcmp(second, third), 0);
}
END_TEST

START_TEST(id_begins_with_its_time)
{
    int64_t now_us = INT64_C(4200000000123000);
    const struct writ_clock clock = {fixed_us, fixed_us, &now_us};
    char id[WRIT_ID_TEXT], want[14];

    ck_assert_ok(writ_id_new(&clock, id, NULL));
    (void)snprintf(
        want, sizeof want, "%08llx-%04llx", (4200000000123ULL >> 16), (4200000000123ULL & 0xffff));
    ck_assert_mem_eq(id, want, 13);
}
END_TEST

START_TEST(id_time_is_that_of_a_uuid_of_version_7_alone)
{
    static const char *const others[] = {"", "d-000000000000",
        "03d1e0b8-a6fb-4000-8000-000000000000", "03d1e0b8-a6fb-7000-8000-00000000000",
        "03d1e0b8-a6fb-7000-8000-0000000000000", "03D1e0b8-a6fb-7000-8000-000000000000",
        "03d1e0b8xa6fb-7000-8000-000000000000", "03d1e0b8-a6f--7000-8000-000000000000"};
    int64_t now_us = INT64_C(4200000000123456), time_us = 0;
    const struct writ_clock clock = {fixed_us, fixed_us, &now_us};
    char id[WRIT_ID_TEXT];

    ck_assert_ok(writ_id_new(&clock, id, NULL));
    ck_assert(writ_id_time(writ_view_str(id), &time_us));
    ck_assert_int_eq(time_us, INT64_C(4200000000123000));
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        ck_assert_msg(!writ_id_time(writ_view_str(others[i]), &time_us), "%s", others[i]);
    }
    ck_assert_int_eq(time_us, INT64_C(4200000000123000));
}
END_TEST

enum { THREADS = 4, PER_THREAD = 2000 };

static void *
make_ids(void *arg)
{
    char(*ids)[WRIT_ID_TEXT] = arg;

    for (int i = 0; i < PER_THREAD; i++) {
        if (!writ_is_ok(writ_id_new(writ_clock_system(), ids[i], NULL))) {
            return NULL;
        }
    }
    return arg;
}

static int
by_text(const void *a, const void *b)
{
    return strcmp(a, b);
}

START_TEST(threads_never_make_the_same_id)
{
    char(*ids)[WRIT_ID_TEXT] = calloc(THREADS * PER_THREAD, WRIT_ID_TEXT);
    pthread_t threads[THREADS];

    ck_assert_ptr_nonnull(ids);
    for (int i = 0; i < THREADS; i++) {
        ck_assert_int_eq(pthread_create(&threads[i], NULL, make_ids, ids + i * PER_THREAD), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        void *done = NULL;
        ck_assert_int_eq(pthread_join(threads[i], &done), 0);
        ck_assert_ptr_nonnull(done);
    }
    qsort(ids, THREADS * PER_THREAD, WRIT_ID_TEXT, by_text);
    for (int i = 1; i < THREADS * PER_THREAD; i++) {
        ck_assert_str_ne(ids[i - 1], ids[i]);
    }
    free(ids);
}
END_TEST

START_TEST(random_fills_the_whole_buffer)
{
    unsigned char bytes[300] = {0};
    unsigned different = 0;

    ck_assert_ok(writ_random(bytes, 299, NULL));
    for (size_t i = 1; i < 299; i++) {
        different += bytes[i] != bytes[i - 1];
    }
    ck_assert_uint_gt(different, 200);
    ck_assert_uint_eq(bytes[299], 0);
    ck_assert_ok(writ_random(bytes, 0, NULL));
}
END_TEST

WRIT_UNIT_MAIN("id", id_of_one_millisecond_sorts_by_creation,
    id_after_the_clock_steps_back_still_sorts, id_begins_with_its_time,
    id_time_is_that_of_a_uuid_of_version_7_alone, threads_never_make_the_same_id,
    random_fills_the_whole_buffer)
