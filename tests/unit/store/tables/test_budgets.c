/* Counters of budgets. A call draws on all of its budgets or on none, sums are exact, and an
 * undone group leaves no trace. */
#include "support/unit.h"

#include "store/tables/budgets.h"

#define MINUTE INT64_C(60000000)

static struct writ_decimal
decimal(const char *text)
{
    struct writ_decimal value;

    ck_assert_ok(writ_decimal_read(writ_view_str(text), &value));
    return value;
}

static struct writ_reservation
draw(uint8_t key, const char *amount, const char *limit)
{
    return (struct writ_reservation){
        .key = {{key}},
        .window_us = MINUTE,
        .amount = decimal(amount),
        .limit = decimal(limit),
    };
}

static void
spent_is(const struct writ_budgets *budgets, const char *want)
{
    struct writ_decimal value = decimal(want);

    ck_assert_ptr_nonnull(budgets->all);
    ck_assert_int_eq(writ_decimal_compare(&budgets->all->spent, &value), 0);
}

START_TEST(sums_are_exact_up_to_the_limit)
{
    struct writ_budgets budgets = {0};
    struct writ_reservation tenth = draw(1, "0.1", "0.3");
    struct writ_booking bookings[4];
    size_t refused = 77;

    ck_assert_ok(writ_budgets_init(&budgets, 10, NULL));
    for (int i = 0; i < 3; i++) { /* 0.1 + 0.1 + 0.1 is 0.3, not 0.30000000000000004 */
        ck_assert_ok(writ_budgets_book(&budgets, &tenth, 1, 5, &bookings[i], &refused));
    }
    ck_assert_uint_eq(refused, 77);
    ck_assert_code(
        writ_budgets_book(&budgets, &tenth, 1, 5, &bookings[3], &refused), WRIT_E_MISMATCH);
    ck_assert_uint_eq(refused, 0);
    spent_is(&budgets, "0.3");
    writ_budgets_commit(&budgets);
    writ_budgets_end(bookings, 3);
    writ_budgets_wipe(&budgets);
}
END_TEST

START_TEST(budgets_draw_books_all_or_none)
{
    struct writ_budgets budgets = {0};
    struct writ_reservation both[] = {draw(1, "1", "10"), draw(2, "1", "0")};
    struct writ_booking bookings[2];
    size_t refused = 77;

    ck_assert_ok(writ_budgets_init(&budgets, 10, NULL));
    ck_assert_code(writ_budgets_book(&budgets, both, 2, 5, bookings, &refused), WRIT_E_MISMATCH);
    ck_assert_uint_eq(refused, 1);
    for (const struct writ_counter *c = budgets.all; c != NULL; c = c->next_all) {
        ck_assert_uint_eq(c->booked, 0);
        ck_assert(c->spent.coefficient == 0);
    }
    writ_budgets_commit(&budgets);
    writ_budgets_wipe(&budgets);
}
END_TEST

START_TEST(windows_are_aligned_to_the_epoch)
{
    struct writ_budgets budgets = {0};
    struct writ_reservation one = draw(1, "1", "1");
    struct writ_booking booking;
    size_t refused;

    ck_assert_ok(writ_budgets_init(&budgets, 10, NULL));
    ck_assert_ok(writ_budgets_book(&budgets, &one, 1, MINUTE - 1, &booking, &refused));
    ck_assert_code(
        writ_budgets_book(&budgets, &one, 1, MINUTE - 1, &booking, &refused), WRIT_E_MISMATCH);
    ck_assert_ok(writ_budgets_book(&budgets, &one, 1, MINUTE, &booking, &refused));
    ck_assert_code(
        writ_budgets_book(&budgets, &one, 1, 2 * MINUTE - 1, &booking, &refused), WRIT_E_MISMATCH);
    writ_budgets_commit(&budgets);
    writ_budgets_wipe(&budgets);
}
END_TEST

/* One that holds. */
static struct writ_booking
booked(struct writ_budgets *budgets, const char *amount, int64_t now_us)
{
    struct writ_reservation wanted = draw(1, amount, "5");
    struct writ_booking booking;
    size_t refused;

    ck_assert_ok(writ_budgets_book(budgets, &wanted, 1, now_us, &booking, &refused));
    return booking;
}

static void
give_back(struct writ_budgets *budgets, const struct writ_booking *booking)
{
    writ_budgets_return(budgets, booking, 1);
    writ_budgets_end(booking, 1);
}

START_TEST(budgets_return_applies_to_its_own_window_only)
{
    struct writ_budgets budgets = {0};
    struct writ_booking first, second;

    ck_assert_ok(writ_budgets_init(&budgets, 10, NULL));
    first = booked(&budgets, "1", 5);
    second = booked(&budgets, "1", 6);
    give_back(&budgets, &second);
    spent_is(&budgets, "1");
    (void)booked(&budgets, "1", MINUTE);
    give_back(&budgets, &first); /* of the window before */
    spent_is(&budgets, "1");
    writ_budgets_commit(&budgets);
    writ_budgets_wipe(&budgets);
}
END_TEST

START_TEST(budgets_rollback_restores_every_counter)
{
    struct writ_budgets budgets = {0};
    struct writ_booking first, second;

    ck_assert_ok(writ_budgets_init(&budgets, 10, NULL));
    first = booked(&budgets, "2", 5);
    writ_budgets_commit(&budgets);
    second = booked(&budgets, "1", MINUTE);
    writ_budgets_return(&budgets, &first, 1);
    writ_budgets_end(&second, 1);
    writ_budgets_rollback(&budgets);
    spent_is(&budgets, "2");
    ck_assert_int_eq(budgets.all->window, 0);
    ck_assert_uint_eq(budgets.all->booked, 1);
    second = booked(&budgets, "1", 6);
    give_back(&budgets, &first);
    writ_budgets_end(&second, 1);
    writ_budgets_rollback(&budgets);
    spent_is(&budgets, "2");
    writ_budgets_wipe(&budgets);
}
END_TEST

START_TEST(budgets_draw_of_an_invalid_amount_is_refused)
{
    struct writ_budgets budgets = {0};
    struct writ_reservation rows[] = {
        draw(1, "1", "1"), draw(1, "-1", "1"), draw(1, "1", "-1"), draw(1, "1", "1")};
    struct writ_booking booking;
    size_t refused;

    rows[0].window_us = 0;
    rows[3].window_us = -5;
    ck_assert_ok(writ_budgets_init(&budgets, 10, NULL));
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ck_assert_code(
            writ_budgets_book(&budgets, &rows[i], 1, 5, &booking, &refused), WRIT_E_INVALID);
    }
    ck_assert_ptr_null(budgets.all);
    writ_budgets_wipe(&budgets);
}
END_TEST

START_TEST(budgets_draw_with_an_inexact_sum_is_refused)
{
    struct writ_budgets budgets = {0};
    struct writ_reservation large = draw(1, "1e33", "1e40"), small = draw(1, "0.1", "1e40");
    struct writ_booking booking;
    size_t refused;

    ck_assert_ok(writ_budgets_init(&budgets, 10, NULL));
    ck_assert_ok(writ_budgets_book(&budgets, &large, 1, 5, &booking, &refused));
    ck_assert_code(writ_budgets_book(&budgets, &small, 1, 5, &booking, &refused), WRIT_E_MISMATCH);
    writ_budgets_commit(&budgets);
    writ_budgets_wipe(&budgets);
}
END_TEST

START_TEST(budgets_limit_the_counters_of_all_windows)
{
    struct writ_budgets budgets = {0};
    struct writ_reservation rows[] = {draw(1, "1", "9"), draw(1, "1", "9"), draw(2, "1", "9")};
    struct writ_booking booking;
    size_t refused;

    rows[1].window_us = 2 * MINUTE;
    ck_assert_ok(writ_budgets_init(&budgets, 2, NULL));
    ck_assert_ok(writ_budgets_book(&budgets, &rows[0], 1, 5, &booking, &refused));
    ck_assert_ok(writ_budgets_book(&budgets, &rows[1], 1, 5, &booking, &refused));
    ck_assert_code(writ_budgets_book(&budgets, &rows[2], 1, 5, &booking, &refused), WRIT_E_LIMIT);
    ck_assert_ok(writ_budgets_book(&budgets, &rows[0], 1, 5, &booking, &refused));
    writ_budgets_commit(&budgets);
    writ_budgets_wipe(&budgets);
}
END_TEST

START_TEST(counters_are_dropped_after_their_window_when_unused)
{
    struct writ_budgets budgets = {0};
    struct writ_decimal zero = {0};
    struct writ_reservation one = draw(1, "1", "9");
    struct writ_booking booking;
    size_t refused;

    ck_assert_ok(writ_budgets_init(&budgets, 10, NULL));
    ck_assert_ok(writ_budgets_count(&budgets, writ_tag_number(5), MINUTE, 0, &zero, NULL));
    ck_assert_ok(writ_budgets_count(&budgets, writ_tag_number(6), MINUTE, 1, &zero, NULL));
    ck_assert_ok(writ_budgets_book(&budgets, &one, 1, 5, &booking, &refused));
    writ_budgets_commit(&budgets);
    writ_budgets_prune(&budgets, MINUTE);
    ck_assert_uint_eq(budgets.by_key.count, 2);
    writ_budgets_end(&booking, 1);
    writ_budgets_prune(&budgets, 2 * MINUTE);
    ck_assert_uint_eq(budgets.by_key.count, 0);
    writ_budgets_wipe(&budgets);
}
END_TEST

WRIT_UNIT_MAIN("budgets", sums_are_exact_up_to_the_limit, budgets_draw_books_all_or_none,
    windows_are_aligned_to_the_epoch, budgets_return_applies_to_its_own_window_only,
    budgets_rollback_restores_every_counter, budgets_draw_of_an_invalid_amount_is_refused,
    budgets_draw_with_an_inexact_sum_is_refused, budgets_limit_the_counters_of_all_windows,
    counters_are_dropped_after_their_window_when_unused)
