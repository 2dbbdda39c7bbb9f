#include "support/unit.h"

#include "store/claims.h"

#define KEPT   INT64_C(1000000)
#define WINDOW INT64_C(100000)
#define NOW    (INT64_C(1000) * KEPT)

static struct writ_hold *
taken(struct writ_claims *claims, uint64_t key, bool caller_stated)
{
    struct writ_hold *hold =
        writ_claims_add(claims, writ_tag_number(key), writ_tag_number(key + 1000), NULL);

    ck_assert_ptr_nonnull(hold);
    hold->made_us = NOW;
    hold->kept_us = caller_stated ? KEPT : WINDOW;
    return hold;
}

START_TEST(a_claim_is_found_by_key_and_by_intent)
{
    struct writ_claims claims = {0};
    struct writ_hold *list = NULL, *hold;

    ck_assert_ok(writ_claims_init(&claims, 10, KEPT, WINDOW, NULL));
    claims.ticked_us = NOW;
    hold = taken(&claims, 1, true);
    writ_claims_link(&list, hold);
    ck_assert_ptr_eq(writ_claims_by_key(&claims, writ_tag_number(1)), hold);
    ck_assert_ptr_eq(writ_claims_by_intent(&claims, writ_tag_number(1001)), hold);
    ck_assert_ptr_null(writ_claims_by_key(&claims, writ_tag_number(1001)));
    writ_claims_remove(&claims, &list, hold);
    ck_assert_ptr_null(list);
    ck_assert_ptr_null(writ_claims_by_key(&claims, writ_tag_number(1)));
    ck_assert_ptr_null(writ_claims_by_intent(&claims, writ_tag_number(1001)));
    writ_claims_wipe(&claims);
}
END_TEST

START_TEST(a_full_table_takes_no_more_until_one_is_freed)
{
    struct writ_claims claims = {0};
    struct writ_hold *list = NULL;

    ck_assert_ok(writ_claims_init(&claims, 2000, KEPT, WINDOW, NULL));
    for (uint64_t i = 0; i < 2000; i++) {
        writ_claims_link(&list, taken(&claims, i, true));
    }
    ck_assert_ptr_null(
        writ_claims_add(&claims, writ_tag_number(9999), writ_tag_number(9999), NULL));
    ck_assert_uint_eq(writ_claims_count(&claims), 2000);
    /* from the middle, the end and the head of the list */
    writ_claims_remove(&claims, &list, writ_claims_by_key(&claims, writ_tag_number(1000)));
    writ_claims_remove(&claims, &list, writ_claims_by_key(&claims, writ_tag_number(0)));
    writ_claims_remove(&claims, &list, writ_claims_by_key(&claims, writ_tag_number(1999)));
    ck_assert_uint_eq(writ_claims_count(&claims), 1997);
    ck_assert_ptr_nonnull(
        writ_claims_add(&claims, writ_tag_number(9999), writ_tag_number(9999), NULL));
    writ_claims_wipe(&claims);
}
END_TEST

START_TEST(a_retired_claim_ends_in_its_time_and_not_before)
{
    struct writ_claims claims = {0};

    ck_assert_ok(writ_claims_init(&claims, 10, KEPT, WINDOW, NULL));
    claims.ticked_us = NOW;
    writ_claims_retire(&claims, taken(&claims, 1, true), NOW, NOW);
    writ_claims_retire(&claims, taken(&claims, 2, false), NOW, NOW);
    writ_claims_tick(&claims, NOW + WINDOW - 1, 100);
    ck_assert_uint_eq(writ_claims_count(&claims), 2);
    writ_claims_tick(&claims, NOW + WINDOW + KEPT / 16, 100);
    ck_assert_ptr_null(writ_claims_by_key(&claims, writ_tag_number(2)));
    ck_assert_ptr_nonnull(writ_claims_by_key(&claims, writ_tag_number(1)));
    writ_claims_tick(&claims, NOW + KEPT - 1, 100);
    ck_assert_uint_eq(writ_claims_count(&claims), 1);
    writ_claims_tick(&claims, NOW + KEPT + KEPT / 16, 100);
    ck_assert_uint_eq(writ_claims_count(&claims), 0);
    writ_claims_wipe(&claims);
}
END_TEST

START_TEST(a_claim_stands_until_its_boundary_is_sealed_however_late_that_is)
{
    struct writ_claims claims = {0};

    ck_assert_ok(writ_claims_init(&claims, 10, KEPT, WINDOW, NULL));
    claims.ticked_us = NOW;
    writ_claims_retire(&claims, taken(&claims, 1, true), NOW + 3 * KEPT / 2, NOW + KEPT);
    writ_claims_tick(&claims, NOW + 3 * KEPT / 2 - 1, 100);
    ck_assert_uint_eq(writ_claims_count(&claims), 1);
    writ_claims_tick(&claims, NOW + 2 * KEPT, 100);
    ck_assert_uint_eq(writ_claims_count(&claims), 0);
    writ_claims_wipe(&claims);
}
END_TEST

START_TEST(one_whose_time_has_passed_is_freed_at_once)
{
    struct writ_claims claims = {0};

    ck_assert_ok(writ_claims_init(&claims, 10, KEPT, WINDOW, NULL));
    writ_claims_retire(&claims, taken(&claims, 1, true), NOW + KEPT, NOW + KEPT);
    ck_assert_uint_eq(writ_claims_count(&claims), 0);
    writ_claims_wipe(&claims);
}
END_TEST

/* The clock goes forward by more than the wheel, back, and forward again. */
START_TEST(no_jump_of_the_clock_ends_a_claim_early)
{
    struct writ_claims claims = {0};

    ck_assert_ok(writ_claims_init(&claims, 10, KEPT, WINDOW, NULL));
    claims.ticked_us = NOW;
    writ_claims_tick(&claims, NOW + 50 * KEPT, 100);
    writ_claims_tick(&claims, NOW, 100);
    writ_claims_retire(&claims, taken(&claims, 1, true), NOW, NOW);
    for (int64_t at = NOW - 3 * KEPT; at < NOW + KEPT; at += KEPT / 100) {
        writ_claims_tick(&claims, at, 100);
        ck_assert_uint_eq(writ_claims_count(&claims), 1);
    }
    writ_claims_tick(&claims, NOW + 3 * KEPT, 100);
    ck_assert_uint_eq(writ_claims_count(&claims), 0);

    /* one that was made "in the future" is kept, and ends in the end */
    taken(&claims, 2, true)->made_us = NOW + 1000 * KEPT;
    writ_claims_retire(&claims, writ_claims_by_key(&claims, writ_tag_number(2)), NOW, NOW);
    writ_claims_tick(&claims, NOW + KEPT, 100);
    ck_assert_uint_eq(writ_claims_count(&claims), 1);
    writ_claims_tick(&claims, NOW + 3 * KEPT, 100);
    ck_assert_uint_eq(writ_claims_count(&claims), 0);
    writ_claims_wipe(&claims);
}
END_TEST

START_TEST(a_tick_frees_a_bounded_number_and_the_next_goes_on)
{
    struct writ_claims claims = {0};

    ck_assert_ok(writ_claims_init(&claims, 1000, KEPT, WINDOW, NULL));
    claims.ticked_us = NOW;
    for (uint64_t i = 0; i < 100; i++) {
        writ_claims_retire(&claims, taken(&claims, i, i % 2 == 0), NOW, NOW);
    }
    writ_claims_tick(&claims, NOW + 2 * KEPT, 30);
    ck_assert_uint_eq(writ_claims_count(&claims), 70);
    writ_claims_tick(&claims, NOW + 2 * KEPT, 70);
    ck_assert_uint_eq(writ_claims_count(&claims), 0);
    writ_claims_wipe(&claims);
}
END_TEST

START_TEST(no_memory_takes_no_claim)
{
    struct writ_claims claims = {0};

    ck_assert_ok(writ_claims_init(&claims, 10, KEPT, WINDOW, NULL));
    writ_fault_arm(1);
    ck_assert_ptr_null(writ_claims_add(&claims, writ_tag_number(1), writ_tag_number(1), NULL));
    ck_assert(writ_fault_disarm());
    ck_assert_uint_eq(writ_claims_count(&claims), 0);
    ck_assert_ptr_nonnull(writ_claims_add(&claims, writ_tag_number(1), writ_tag_number(1), NULL));
    writ_claims_wipe(&claims);
    for (long nth = 1; nth <= 2; nth++) {
        writ_fault_arm(nth);
        ck_assert_code(writ_claims_init(&claims, 10, KEPT, WINDOW, NULL), WRIT_E_NOMEM);
        (void)writ_fault_disarm();
    }
}
END_TEST

WRIT_UNIT_MAIN("claims", a_claim_is_found_by_key_and_by_intent,
    a_full_table_takes_no_more_until_one_is_freed, a_retired_claim_ends_in_its_time_and_not_before,
    a_claim_stands_until_its_boundary_is_sealed_however_late_that_is,
    one_whose_time_has_passed_is_freed_at_once, no_jump_of_the_clock_ends_a_claim_early,
    a_tick_frees_a_bounded_number_and_the_next_goes_on, no_memory_takes_no_claim)
