/* seen.h: distinct values are counted by call and by run, within a limit. */
#include "policy/learn/seen.h"

#include "support/evidence/value.h"
#include "support/unit.h"

static void
add(struct writ_seen *seen, const char *text, uint64_t call, uint64_t run, struct writ_arena *arena)
{
    struct writ_seen_in in = {.call = call, .run = run, .decision = WRIT_LIT("d"), .arena = arena};

    ck_assert_ok(writ_seen_add(seen, writ_view_str(text), WRIT_JSON_STRING, &in, NULL));
}

START_TEST(cost_is_the_calls_of_values_that_one_run_has)
{
    writ_auto_arena arena = writ_value_arena();
    struct writ_seen seen = {.most = 8, .text_max = 4};

    add(&seen, "a", 1, 1, arena);
    add(&seen, "a", 1, 1, arena); /* twice in one call counts once */
    add(&seen, "a", 2, 2, arena);
    add(&seen, "b", 3, 2, arena);
    add(&seen, "b", 4, 2, arena);
    add(&seen, "c", 5, 2, arena);
    ck_assert_uint_eq(seen.items[0].seen.calls, 2);
    ck_assert_uint_eq(writ_seen_cost(&seen, true), 3);
    ck_assert_uint_eq(writ_seen_cost(&seen, false), 1);
    ck_assert(writ_seen_is_listed(&seen, 3) && !writ_seen_is_listed(&seen, 2));
    add(&seen, "longer", 6, 3, arena);
    ck_assert(!writ_seen_is_listed(&seen, 8));
}
END_TEST

START_TEST(add_beyond_the_limit_counts_and_keeps_the_others)
{
    writ_auto_arena arena = writ_value_arena();
    struct writ_seen seen = {.most = 100, .text_max = 8};

    for (uint64_t i = 1; i <= 150; i++) {
        char text[8];
        struct writ_buf value = writ_buf_over(text, sizeof text);

        writ_buf_u64(&value, i);
        writ_buf_byte(&value, '\0');
        add(&seen, text, i, i, arena);
    }
    add(&seen, "7", 151, 151, arena);
    ck_assert_uint_eq(seen.n, 100);
    ck_assert_uint_eq(seen.beyond, 50);
    ck_assert(seen.items[6].seen.many);
    ck_assert_uint_eq(writ_seen_cost(&seen, true), 149);
    ck_assert(!writ_seen_is_listed(&seen, 1000));
}
END_TEST

START_TEST(add_values_of_different_types_are_different)
{
    writ_auto_arena arena = writ_value_arena();
    struct writ_seen seen = {.most = 8, .text_max = 8};
    struct writ_seen_in in = {.call = 1, .run = 1, .decision = WRIT_LIT("d"), .arena = arena};

    ck_assert_ok(writ_seen_add(&seen, WRIT_LIT("1"), WRIT_JSON_STRING, &in, NULL));
    ck_assert_ok(writ_seen_add(&seen, WRIT_LIT("1"), WRIT_JSON_NUMBER, &in, NULL));
    ck_assert_uint_eq(seen.n, 2);
}
END_TEST

WRIT_UNIT_MAIN("seen", cost_is_the_calls_of_values_that_one_run_has,
    add_beyond_the_limit_counts_and_keeps_the_others, add_values_of_different_types_are_different)
