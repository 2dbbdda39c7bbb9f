/* Allocation, wiping and arenas. Memory starts zeroed, an arena gives its maximum and not a byte
 * more, and an armed fault fails exactly one allocation of its own thread. */
#include "support/unit.h"

#include "base/alloc.h"

#include <pthread.h>
#include <stdint.h>
#include <string.h>

START_TEST(memory_is_zeroed_and_keeps_its_content)
{
    unsigned char *bytes = writ_alloc(100);

    ck_assert_ptr_nonnull(bytes);
    for (size_t i = 0; i < 100; i++) {
        ck_assert_uint_eq(bytes[i], 0);
        bytes[i] = (unsigned char)i;
    }
    bytes = writ_realloc(bytes, 1000);
    ck_assert_ptr_nonnull(bytes);
    ck_assert_uint_eq(bytes[99], 99);
    writ_free(bytes);
    writ_free(NULL);
}
END_TEST

START_TEST(alloc_of_zero_bytes_gives_memory)
{
    void *none = writ_alloc(0);

    ck_assert_ptr_nonnull(none);
    writ_free(none);
}
END_TEST

START_TEST(fault_arm_fails_the_nth_allocation_only)
{
    void *first, *third;

    writ_fault_arm(2);
    first = writ_alloc(1);
    ck_assert_ptr_nonnull(first);
    ck_assert_ptr_null(writ_realloc(first, 2)); /* the second; `first` stays as it was */
    third = writ_alloc(1);
    ck_assert_ptr_nonnull(third);
    ck_assert(writ_fault_disarm());
    ck_assert(!writ_fault_disarm());
    writ_free(first);
    writ_free(third);

    writ_fault_arm(2);
    writ_free(writ_alloc(1));
    ck_assert(!writ_fault_disarm());
}
END_TEST

static void *
allocate(void *arg)
{
    void *memory = writ_alloc(1);

    (void)arg;
    writ_free(memory);
    return memory != NULL ? arg : NULL;
}

START_TEST(fault_arm_affects_its_own_thread_only)
{
    pthread_t thread;
    void *done = NULL;
    int here;

    writ_fault_arm(1);
    ck_assert_int_eq(pthread_create(&thread, NULL, allocate, &here), 0);
    ck_assert_int_eq(pthread_join(thread, &done), 0);
    ck_assert_ptr_eq(done, &here);
    ck_assert(!writ_fault_disarm());
}
END_TEST

START_TEST(wiped_memory_is_zero)
{
    char secret[8] = "secret";

    writ_wipe(secret, sizeof secret);
    for (size_t i = 0; i < sizeof secret; i++) {
        ck_assert_int_eq(secret[i], 0);
    }
    writ_wipe(NULL, 0);
}
END_TEST

static int freed;

static void
count_free(int **ptr)
{
    freed += *ptr != NULL;
}

START_TEST(take_leaves_nothing_to_clean_up)
{
    int object = 0, *taken;

    freed = 0;
    {
        WRIT_AUTO(int *, count_free) kept = &object;
        WRIT_AUTO(int *, count_free) given = &object;
        taken = WRIT_TAKE(given);
        ck_assert_ptr_eq(taken, &object);
        ck_assert_ptr_null(given);
        ck_assert_ptr_nonnull(kept);
    }
    ck_assert_int_eq(freed, 1);
}
END_TEST

START_TEST(arena_alloc_beyond_the_maximum_fails)
{
    struct writ_arena *arena = writ_arena_new(64);

    ck_assert_ptr_null(writ_arena_get(arena, 65));
    ck_assert_ptr_null(writ_arena_get(arena, SIZE_MAX));
    ck_assert_ptr_nonnull(writ_arena_get(arena, 32));
    ck_assert_ptr_nonnull(writ_arena_get(arena, 32));
    ck_assert_ptr_null(writ_arena_get(arena, 1));
    writ_arena_reset(arena);
    ck_assert_ptr_nonnull(writ_arena_get(arena, 64));
    writ_arena_free(arena);
    writ_arena_free(NULL);
}
END_TEST

START_TEST(pieces_of_an_arena_are_aligned_and_apart)
{
    enum { PIECES = 500 };
    struct writ_arena *arena = writ_arena_new(1U << 20);
    unsigned char *pieces[PIECES];

    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < PIECES; i++) {
            pieces[i] = writ_arena_get(arena, i * 3);
            ck_assert_ptr_nonnull(pieces[i]);
            ck_assert_uint_eq((uintptr_t)pieces[i] % 16, 0);
            memset(pieces[i], (int)(i % 256), i * 3);
        }
        for (size_t i = 0; i < PIECES; i++) {
            for (size_t j = 0; j < i * 3; j++) {
                if (pieces[i][j] != i % 256) {
                    ck_abort_msg("piece %zu was overwritten at %zu", i, j);
                }
            }
        }
        writ_arena_reset(arena);
    }
    writ_arena_free(arena);
}
END_TEST

START_TEST(arena_alloc_larger_than_a_block_succeeds)
{
    struct writ_arena *arena = writ_arena_new(1U << 20);
    char *large = writ_arena_get(arena, 100000), *small = writ_arena_get(arena, 1);

    ck_assert_ptr_nonnull(large);
    ck_assert_ptr_nonnull(small);
    memset(large, 1, 100000);
    writ_arena_free(arena);
}
END_TEST

START_TEST(arena_grow_of_the_last_piece_keeps_its_address)
{
    struct writ_arena *arena = writ_arena_new(1000);
    char *first = writ_arena_get(arena, 10), *last = writ_arena_get(arena, 10);

    last[9] = 'x';
    ck_assert(!writ_arena_extend(arena, first, 10, 20)); /* not the last */
    ck_assert(!writ_arena_extend(arena, last, 10, 9));
    ck_assert(!writ_arena_extend(arena, last, 10, SIZE_MAX));
    ck_assert(writ_arena_extend(arena, last, 10, 900));
    ck_assert_int_eq(last[9], 'x');
    ck_assert_ptr_null(writ_arena_get(arena, 100)); /* added bytes count */
    ck_assert(!writ_arena_extend(arena, last, 900, 1000));
    ck_assert(writ_arena_extend(arena, last, 900, 900));
    ck_assert((char *)writ_arena_get(arena, 16) >= last + 900);
    writ_arena_free(arena);
}
END_TEST

START_TEST(arena_after_a_failed_allocation_still_works)
{
    struct writ_arena *arena;

    for (long nth = 1; nth <= 2; nth++) {
        writ_fault_arm(nth);
        ck_assert_ptr_null(writ_arena_new(1000));
        ck_assert(writ_fault_disarm());
    }
    arena = writ_arena_new(1U << 20);
    writ_fault_arm(1);
    ck_assert_ptr_null(writ_arena_get(arena, 100000));
    ck_assert(writ_fault_disarm());
    ck_assert_ptr_nonnull(writ_arena_get(arena, 100000));
    writ_arena_free(arena);
}
END_TEST

START_TEST(arena_of_small_blocks_gives_its_maximum)
{
    struct writ_arena *arena = writ_arena_new_small(1U << 20);

    for (size_t i = 0; i < 1000; i++) {
        ck_assert_ptr_nonnull(writ_arena_get(arena, 500));
    }
    ck_assert_ptr_nonnull(writ_arena_get(arena, 100000));
    writ_arena_reset(arena);
    ck_assert_ptr_nonnull(writ_arena_get(arena, 1U << 20));
    ck_assert_ptr_null(writ_arena_get(arena, 1));
    writ_arena_free(arena);
}
END_TEST

START_TEST(arena_reset_keeps_a_block_until_it_is_given_back)
{
    struct writ_arena *arena = writ_arena_new(1U << 20);

    for (int round = 0; round < 3; round++) {
        ck_assert_ptr_nonnull(writ_arena_get(arena, 6000));
        writ_fault_arm(1);
        ck_assert_int_eq(writ_arena_get(arena, 6000) != NULL, round == 1); /* the kept one */
        ck_assert_int_eq(writ_fault_disarm(), round != 1);
        ck_assert_ptr_nonnull(writ_arena_get(arena, 6000));
        writ_arena_reset(arena);
        if (round == 1) {
            writ_arena_give_back(arena);
            writ_arena_give_back(arena);
        }
    }
    ck_assert_ptr_nonnull(writ_arena_get(arena, 100000)); /* more than was kept */
    writ_arena_free(arena);
}
END_TEST

START_TEST(adopted_memory_counts_and_lives_as_long_as_the_arena)
{
    struct writ_arena *arena = writ_arena_new(1000);
    void *large = writ_alloc(900), *more = writ_alloc(200);

    ck_assert(writ_arena_adopt(arena, large, 900));
    ck_assert(!writ_arena_adopt(arena, more, 200)); /* beyond the maximum: still the caller's */
    ck_assert(!writ_arena_adopt(arena, more, 1001));
    ck_assert_ptr_null(writ_arena_get(arena, 200));
    writ_arena_reset(arena); /* frees what it took */
    ck_assert(writ_arena_adopt(arena, more, 200));
    writ_fault_arm(1);
    ck_assert_ptr_null(writ_arena_get(arena, 100000));
    (void)writ_fault_disarm();
    writ_arena_free(arena);
}
END_TEST

START_TEST(merged_arenas_keep_all_their_memory)
{
    struct writ_arena *arena = writ_arena_new(200000), *other = writ_arena_new(200000);
    char *old = writ_arena_get(arena, 100), *small = writ_arena_get(other, 100);
    char *large = writ_arena_get(other, 60000), *fresh;

    ck_assert(writ_arena_adopt(other, writ_alloc(500), 500));
    ck_assert(writ_arena_adopt(arena, writ_alloc(500), 500));
    memset(small, 1, 100);
    memset(large, 2, 60000);
    ck_assert(writ_arena_merge(arena, other));
    fresh = writ_arena_get(arena, 100);
    ck_assert_ptr_nonnull(fresh);
    memset(old, 3, 100);
    memset(fresh, 4, 100);
    ck_assert_int_eq(small[99], 1);
    ck_assert_int_eq(large[59999], 2);
    ck_assert_ptr_null(writ_arena_get(arena, 140000)); /* the other's memory counts */

    other = writ_arena_new(300000);
    ck_assert_ptr_nonnull(writ_arena_get(other, 150000));
    ck_assert(!writ_arena_merge(arena, other));
    writ_arena_free(other);
    writ_arena_reset(arena);
    ck_assert_ptr_nonnull(writ_arena_get(arena, 140000));
    writ_arena_free(arena);
}
END_TEST

WRIT_UNIT_MAIN("alloc", memory_is_zeroed_and_keeps_its_content, alloc_of_zero_bytes_gives_memory,
    fault_arm_fails_the_nth_allocation_only, fault_arm_affects_its_own_thread_only,
    wiped_memory_is_zero, take_leaves_nothing_to_clean_up, arena_alloc_beyond_the_maximum_fails,
    pieces_of_an_arena_are_aligned_and_apart, arena_alloc_larger_than_a_block_succeeds,
    arena_grow_of_the_last_piece_keeps_its_address, arena_after_a_failed_allocation_still_works,
    arena_of_small_blocks_gives_its_maximum, arena_reset_keeps_a_block_until_it_is_given_back,
    adopted_memory_counts_and_lives_as_long_as_the_arena, merged_arenas_keep_all_their_memory)
