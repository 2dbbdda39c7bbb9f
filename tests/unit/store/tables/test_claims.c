/* Claims in memory. A claim is found by its key and by its intent until it is removed, and without
 * memory nothing is taken. */
#include "support/unit.h"

#include "store/tables/claims.h"

static struct writ_hold *
taken(struct writ_claims *claims, uint64_t key)
{
    struct writ_hold *hold = writ_claims_add(claims, writ_tag_number(key),
        writ_tag_number(key + 100000), &(struct writ_claim_facts){.leaf = key});

    ck_assert_ptr_nonnull(hold);
    return hold;
}

START_TEST(claims_find_gives_a_claim_by_key_and_intent_until_removed)
{
    struct writ_claims claims = {0};
    struct writ_hold *hold;

    ck_assert_ok(writ_claims_init(&claims, 10, NULL));
    hold = taken(&claims, 1);
    ck_assert(hold->facts.in_flight);
    ck_assert_uint_eq(hold->facts.leaf, 1);
    ck_assert_ptr_eq(writ_claims_by_key(&claims, writ_tag_number(1)), hold);
    ck_assert_ptr_eq(writ_claims_by_intent(&claims, writ_tag_number(100001)), hold);
    ck_assert_ptr_null(writ_claims_by_key(&claims, writ_tag_number(100001)));
    writ_claims_remove(&claims, hold);
    ck_assert_ptr_null(writ_claims_by_key(&claims, writ_tag_number(1)));
    ck_assert_ptr_null(writ_claims_by_intent(&claims, writ_tag_number(100001)));
    writ_claims_wipe(&claims);
}
END_TEST

START_TEST(claims_beyond_the_expected_number_are_kept)
{
    struct writ_claims claims = {0};

    ck_assert_ok(writ_claims_init(&claims, 10, NULL));
    for (uint64_t i = 0; i < 2000; i++) {
        (void)taken(&claims, i);
    }
    ck_assert_uint_eq(writ_claims_count(&claims), 2000);
    for (uint64_t i = 0; i < 2000; i++) {
        writ_claims_remove(&claims, writ_claims_by_key(&claims, writ_tag_number(i)));
    }
    ck_assert_uint_eq(writ_claims_count(&claims), 0);
    writ_claims_wipe(&claims);
}
END_TEST

START_TEST(claims_with_an_outcome_are_ordered_by_outcome)
{
    struct writ_claims claims = {0};
    struct writ_hold *one, *two, *three;

    ck_assert_ok(writ_claims_init(&claims, 10, NULL));
    one = taken(&claims, 1);
    two = taken(&claims, 2);
    three = taken(&claims, 3);
    ck_assert_uint_eq(claims.concluded, 0);
    writ_claims_conclude(&claims, two, 4, true);
    writ_claims_conclude(&claims, three, 5, false);
    writ_claims_conclude(&claims, one, 6, false);
    ck_assert_uint_eq(claims.concluded, 3);
    ck_assert(two->facts.interrupted && !two->facts.in_flight && two->facts.outcome == 4);
    ck_assert(claims.first == two && two->next == three && three->next == one);
    writ_claims_remove(&claims, three);
    ck_assert(claims.first == two && two->next == one && claims.last == one);
    writ_claims_remove(&claims, two);
    writ_claims_remove(&claims, one);
    ck_assert(claims.first == NULL && claims.last == NULL && claims.concluded == 0);
    writ_claims_wipe(&claims);
}
END_TEST

START_TEST(claims_add_without_memory_is_refused)
{
    struct writ_claims claims = {0};

    ck_assert_ok(writ_claims_init(&claims, 10, NULL));
    writ_fault_arm(1);
    ck_assert_ptr_null(writ_claims_add(
        &claims, writ_tag_number(1), writ_tag_number(1), &(struct writ_claim_facts){0}));
    ck_assert(writ_fault_disarm());
    ck_assert_uint_eq(writ_claims_count(&claims), 0);
    writ_claims_wipe(&claims);
    for (long n = 1; n <= 2; n++) {
        writ_fault_arm(n);
        ck_assert_code(writ_claims_init(&claims, 10, NULL), WRIT_E_NOMEM);
        ck_assert(writ_fault_disarm());
    }
}
END_TEST

WRIT_UNIT_MAIN("claims", claims_find_gives_a_claim_by_key_and_intent_until_removed,
    claims_beyond_the_expected_number_are_kept, claims_with_an_outcome_are_ordered_by_outcome,
    claims_add_without_memory_is_refused)
