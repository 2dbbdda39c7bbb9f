/* extreme.h: the outermost numbers, their bounds, and what one run alone reaches. */
#include "policy/learn/extreme.h"

#include "support/evidence/value.h"
#include "support/unit.h"

static void
add(struct writ_extreme *extreme, const char *number, uint64_t call, uint64_t run,
    struct writ_arena *arena)
{
    struct writ_seen_in in = {.call = call, .run = run, .decision = WRIT_LIT("d"), .arena = arena};
    struct writ_decimal at;

    ck_assert_ok(writ_decimal_read(writ_view_str(number), &at));
    ck_assert_ok(writ_extreme_add(extreme, &at, &in));
}

static void
check_bound(bool low, const char *number, const char *wide)
{
    writ_auto_arena arena = writ_value_arena();
    writ_auto_buf text = writ_buf_make(WRIT_DECIMAL_PUT_MAX);
    struct writ_extreme extreme = {.low = low};
    struct writ_decimal bound;

    add(&extreme, number, 1, 1, arena);
    bound = writ_extreme_bound(&extreme, true);
    writ_decimal_put(&text, &bound);
    ck_assert_msg(writ_view_is(writ_buf_view(&text), wide), "%s: " WRIT_VIEW_FMT, number,
        WRIT_VIEW_ARG(writ_buf_view(&text)));
}

START_TEST(bound_widened_is_the_next_round_number_outwards)
{
    static const struct {
        const char *number, *least, *greatest;
    } cases[] = {{"0", "0", "0"}, {"1", "1", "1"}, {"3", "1", "5"}, {"5", "1", "5"},
        {"5.01", "1", "10"}, {"99.5", "1", "100"}, {"0.03", "0", "0.05"}, {"1234", "1", "2000"},
        {"-1", "-1", "0"}, {"-37", "-50", "0"}, {"-0.7", "-1", "0"}, {"1e300", "1", "1e+300"}};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        check_bound(true, cases[i].number, cases[i].least);
        check_bound(false, cases[i].number, cases[i].greatest);
    }
}
END_TEST

START_TEST(cost_is_the_calls_beyond_the_bound_of_the_other_runs)
{
    writ_auto_arena arena = writ_value_arena();
    struct writ_extreme greatest = {.low = false};

    add(&greatest, "10", 1, 1, arena);
    add(&greatest, "10", 2, 2, arena);
    add(&greatest, "14", 3, 3, arena);
    add(&greatest, "60", 4, 3, arena);
    ck_assert_uint_eq(writ_extreme_cost(&greatest, false, true), 2);  /* 14 and 60 */
    ck_assert_uint_eq(writ_extreme_cost(&greatest, false, false), 1); /* 60 alone */
    ck_assert_uint_eq(writ_extreme_cost(&greatest, true, true), 2);   /* 10 widens to 10 */
    ck_assert_uint_eq(writ_extreme_cost(&greatest, true, false), 1);  /* 14 widens to 20 */
    ck_assert_view(writ_extreme_first(&greatest, 1, false, true), "d");
    ck_assert_ptr_null(writ_extreme_first(&greatest, 2, false, true).ptr);
    add(&greatest, "60", 5, 4, arena);
    ck_assert_uint_eq(writ_extreme_cost(&greatest, false, true), 0);
}
END_TEST

START_TEST(cost_of_one_run_alone_is_all_of_its_calls)
{
    writ_auto_arena arena = writ_value_arena();
    struct writ_extreme least = {.low = true};

    add(&least, "3", 1, 1, arena);
    add(&least, "2", 2, 1, arena);
    ck_assert_uint_eq(writ_extreme_cost(&least, false, true), 2);
    ck_assert_uint_eq(writ_extreme_cost(&least, false, false), 1);
}
END_TEST

START_TEST(add_keeps_the_outermost_numbers_in_any_order)
{
    writ_auto_arena arena = writ_value_arena();
    struct writ_extreme least = {.low = true};
    struct writ_decimal bound;

    for (uint64_t i = 0; i < 4 * WRIT_EXTREME_MAX; i++) {
        char text[8];
        struct writ_buf number = writ_buf_over(text, sizeof text);

        writ_buf_u64(&number, (i * 37) % (4 * WRIT_EXTREME_MAX));
        writ_buf_byte(&number, '\0');
        add(&least, text, i + 1, i + 1, arena);
    }
    bound = writ_extreme_bound(&least, false);
    ck_assert_uint_eq(least.n, WRIT_EXTREME_MAX);
    ck_assert_int_eq(writ_decimal_compare(&bound, &least.items[0].at), 0);
    for (size_t i = 0; i < least.n; i++) {
        struct writ_decimal want = writ_decimal_of((int64_t)i);
        ck_assert_int_eq(writ_decimal_compare(&least.items[i].at, &want), 0);
    }
}
END_TEST

WRIT_UNIT_MAIN("extreme", bound_widened_is_the_next_round_number_outwards,
    cost_is_the_calls_beyond_the_bound_of_the_other_runs, cost_of_one_run_alone_is_all_of_its_calls,
    add_keeps_the_outermost_numbers_in_any_order)
