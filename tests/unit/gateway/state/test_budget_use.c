/* Charges of records in any order: a later window replaces an earlier one, a call that did not run
 * gives back, and the table is bounded. */
#include "support/unit.h"

#include "gateway/state/budget_use.h"
#include "store/tables/charge.h"

#include <stdio.h>

#define HOUR_US INT64_C(3600000000)
#define NOW_US  (INT64_C(495100) * HOUR_US + 5)
#define WINDOW  INT64_C(495100)

static const struct writ_budget_use_call call = {
    WRIT_LIT("dev"), WRIT_LIT("acme"), WRIT_LIT("pay"), WRIT_LIT("transfer")};

static writ_result
add(struct writ_budget_use *use, uint64_t tag, int64_t window, int64_t amount, bool held, bool back)
{
    const struct writ_budget_charge charge = {
        writ_tag_number(tag), HOUR_US, window, writ_decimal_of(amount), held};
    writ_auto_buf text = writ_buf_make(1024);
    struct writ_view item;
    struct writ_member_list list;

    writ_charge_put(&charge, &text);
    item = writ_buf_view(&text);
    list = writ_member_list(&item, 1);
    return writ_budget_use_add(use, &list, &call, back, NOW_US);
}

struct seen {
    size_t n, most;
    struct writ_budget_use_row last;
};

static bool
see(void *ctx, const struct writ_budget_use_row *row)
{
    struct seen *seen = ctx;

    seen->last = *row;
    return ++seen->n != seen->most;
}

static struct seen
all_of(const struct writ_budget_use *use, int64_t now_us)
{
    struct seen seen = {.n = 0};

    writ_budget_use_each(use, now_us, see, &seen);
    return seen;
}

static void
has_spent(const struct writ_budget_use *use, int64_t want)
{
    struct seen seen = all_of(use, NOW_US);
    struct writ_decimal amount = writ_decimal_of(want);

    ck_assert_uint_eq(seen.n, 1);
    ck_assert_int_eq(writ_decimal_compare(&seen.last.spent, &amount), 0);
    ck_assert(writ_view_is(seen.last.call.agent, "dev"));
    ck_assert(writ_view_is(seen.last.call.tool, "transfer"));
}

START_TEST(budget_use_adds_up_in_any_order)
{
    struct writ_budget_use *use = NULL;

    ck_assert_ok(writ_budget_use_new(&use, NULL));
    ck_assert_ok(add(use, 7, WINDOW, 3, false, true)); /* the outcome first */
    ck_assert_ok(add(use, 7, WINDOW, 3, false, false));
    has_spent(use, 0);
    ck_assert_ok(add(use, 7, WINDOW, 5, false, false));
    ck_assert_ok(add(use, 7, WINDOW, 5, true, false)); /* held: counted before */
    has_spent(use, 5);
    ck_assert_ok(add(use, 7, WINDOW, 5, true, true));
    has_spent(use, 0);
    writ_budget_use_free(use);
}
END_TEST

START_TEST(budget_use_has_only_the_present_window)
{
    struct writ_budget_use *use = NULL;

    ck_assert_ok(writ_budget_use_new(&use, NULL));
    ck_assert_ok(add(use, 7, WINDOW - 1, 9, false, false));
    ck_assert_uint_eq(all_of(use, NOW_US).n, 0);
    ck_assert_ok(add(use, 7, WINDOW, 2, false, false));
    ck_assert_ok(add(use, 7, WINDOW + 1, 1, false, false)); /* the clock is behind the record */
    ck_assert_ok(add(use, 7, WINDOW, 2, false, false));
    has_spent(use, 1);
    ck_assert_uint_eq(all_of(use, NOW_US + 2 * HOUR_US).n, 0);
    writ_budget_use_free(use);
}
END_TEST

START_TEST(budget_use_is_bounded)
{
    struct writ_budget_use *use = NULL;
    struct seen some = {.most = 3};

    ck_assert_ok(writ_budget_use_new(&use, NULL));
    for (uint64_t i = 0; i < WRIT_BUDGET_USE_MAX; i++) {
        ck_assert_ok(add(use, i, WINDOW, 1, false, false));
    }
    ck_assert_code(add(use, WRIT_BUDGET_USE_MAX, WINDOW, 1, false, false), WRIT_E_LIMIT);
    ck_assert_ok(add(use, 1, WINDOW, 1, false, false));
    ck_assert_uint_eq(all_of(use, NOW_US).n, WRIT_BUDGET_USE_MAX);
    writ_budget_use_each(use, NOW_US, see, &some);
    ck_assert_uint_eq(some.n, 3);
    writ_budget_use_free(use);
}
END_TEST

START_TEST(budget_use_refuses_an_unreadable_charge_and_survives_without_memory)
{
    struct writ_budget_use *use = NULL;
    struct writ_view item = WRIT_LIT("x");
    struct writ_member_list list = writ_member_list(&item, 1);

    ck_assert_ok(writ_budget_use_new(&use, NULL));
    ck_assert_code(writ_budget_use_add(use, &list, &call, false, NOW_US), WRIT_E_PARSE);
    ck_assert_uint_eq(all_of(use, NOW_US).n, 0);
    writ_budget_use_free(use);
    writ_fault_arm(1);
    ck_assert_code(writ_budget_use_new(&use, NULL), WRIT_E_NOMEM);
    (void)writ_fault_disarm();
    writ_budget_use_free(NULL);
}
END_TEST

WRIT_UNIT_MAIN("budget_use", budget_use_adds_up_in_any_order,
    budget_use_has_only_the_present_window, budget_use_is_bounded,
    budget_use_refuses_an_unreadable_charge_and_survives_without_memory)
