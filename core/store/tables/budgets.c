/* 1. A counter that the present group changed is in `touched` and keeps its earlier value, so that
 * a group that cannot be written leaves no trace.
 * 2. `booked` is the number of calls in flight that point at the counter; the counter is not freed
 *    before they end.
 * 3. A call books all of its reservations or none. */
#include "store/tables/budgets.h"

WRIT_RESULT
writ_budgets_init(struct writ_budgets *ret, size_t most, struct writ_err *err)
{
    struct writ_budgets budgets = {.most = most};

    WRIT_TRY(writ_map_init(&budgets.by_key, most, err));
    *ret = budgets;
    return WRIT_DONE;
}

void
writ_budgets_wipe(struct writ_budgets *budgets)
{
    while (budgets->all != NULL) {
        struct writ_counter *counter = budgets->all;

        budgets->all = counter->next_all;
        writ_free(counter);
    }
    writ_map_wipe(&budgets->by_key);
    *budgets = (struct writ_budgets){0};
}

static WRIT_RESULT
counter_add(struct writ_budgets *budgets, struct writ_tag tag, int64_t window_us,
    struct writ_counter **ret, struct writ_err *err)
{
    struct writ_counter *counter;

    if (budgets->by_key.count >= budgets->most) {
        WRIT_FAIL(
            err, WRIT_E_LIMIT, "%zu budgets are counted: the maximum is reached", budgets->most);
    }
    counter = writ_alloc(sizeof *counter);
    if (counter == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for a budget");
    }
    counter->window_us = window_us;
    counter->next_all = budgets->all;
    budgets->all = counter;
    writ_map_add(&budgets->by_key, &counter->by_key, tag);
    *ret = counter;
    return WRIT_DONE;
}

/* One key with two windows is two counters. */
static struct writ_tag
tag_with(struct writ_tag key, int64_t window_us)
{
    key.low ^= (uint64_t)window_us;
    return key;
}

struct writ_tag
writ_budgets_tag(const struct writ_counter *counter)
{
    return tag_with(counter->by_key.tag, counter->window_us);
}

struct writ_counter *
writ_budgets_find(const struct writ_budgets *budgets, struct writ_tag key, int64_t window_us)
{
    return WRIT_MAP_OF(
        writ_map_find(&budgets->by_key, tag_with(key, window_us)), struct writ_counter, by_key);
}

/* Finds or makes the counter of a budget. */
static WRIT_RESULT
counter_of(struct writ_budgets *budgets, struct writ_tag key, int64_t window_us,
    struct writ_counter **ret, struct writ_err *err)
{
    *ret = writ_budgets_find(budgets, key, window_us);
    if (*ret != NULL) {
        return WRIT_DONE;
    }
    return counter_add(budgets, tag_with(key, window_us), window_us, ret, err);
}

WRIT_RESULT
writ_budgets_count(struct writ_budgets *budgets, struct writ_tag key, int64_t window_us,
    int64_t window, const struct writ_decimal *amount, struct writ_err *err)
{
    struct writ_counter *counter = NULL;
    struct writ_decimal spent;

    WRIT_TRY(counter_of(budgets, key, window_us, &counter, err));
    counter->window = window;
    if (!writ_is_ok(writ_decimal_add(&counter->spent, amount, &spent))) {
        WRIT_FAIL(
            err, WRIT_E_MISMATCH, "the charges of the records exceed what a budget can count");
    }
    counter->spent = spent;
    return WRIT_DONE;
}

/* Saves the value of the counter before the present group changes it. Keeps (1). */
static void
touch(struct writ_budgets *budgets, struct writ_counter *counter)
{
    if (counter->touched) {
        return;
    }
    counter->touched = true;
    counter->window_before = counter->window;
    counter->spent_before = counter->spent;
    counter->next_touched = budgets->touched;
    budgets->touched = counter;
}

static WRIT_RESULT
book_one(struct writ_budgets *budgets, const struct writ_reservation *wanted, int64_t now_us,
    struct writ_booking *ret)
{
    struct writ_counter *counter = NULL;
    struct writ_decimal spent;
    int64_t window;

    if (wanted->window_us <= 0 || wanted->amount.negative || wanted->limit.negative) {
        return (writ_result){WRIT_E_INVALID};
    }
    WRIT_TRY(counter_of(budgets, writ_tag_of(&wanted->key), wanted->window_us, &counter, NULL));
    window = now_us / wanted->window_us;
    touch(budgets, counter);
    if (counter->window != window) {
        counter->window = window;
        counter->spent = (struct writ_decimal){0};
    }
    /* a sum that cannot be kept exactly does not fit either: policy refuses the amounts that could
     * make one below the limit (writ_decimal_counts), unless a reload has raised the limit */
    if (!writ_is_ok(writ_decimal_add(&counter->spent, &wanted->amount, &spent)) ||
        writ_decimal_compare(&spent, &wanted->limit) > 0) {
        return (writ_result){WRIT_E_MISMATCH};
    }
    counter->spent = spent;
    counter->booked++;
    *ret = (struct writ_booking){counter, window, wanted->amount};
    return WRIT_DONE;
}

WRIT_RESULT
writ_budgets_book(struct writ_budgets *budgets, const struct writ_reservation *reservations,
    size_t n, int64_t now_us, struct writ_booking *ret, size_t *ret_refused)
{
    for (size_t i = 0; i < n; i++) {
        writ_result booked = book_one(budgets, &reservations[i], now_us, &ret[i]);

        if (!writ_is_ok(booked)) {
            writ_budgets_return(budgets, ret, i); /* keeps (3) */
            writ_budgets_end(ret, i);
            *ret_refused = i;
            return booked;
        }
    }
    return WRIT_DONE;
}

void
writ_budgets_end(const struct writ_booking *bookings, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        bookings[i].counter->booked--; /* keeps (2) */
    }
}

void
writ_budgets_return(struct writ_budgets *budgets, const struct writ_booking *bookings, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct writ_counter *counter = bookings[i].counter;
        struct writ_decimal minus = writ_decimal_negate(&bookings[i].amount);

        if (counter->window != bookings[i].window) {
            continue;
        }
        touch(budgets, counter);
        /* a sum that contains the amount may not be exact without it; then the amount stays
         * spent */
        (void)writ_is_ok(writ_decimal_add(&counter->spent, &minus, &counter->spent));
    }
}

void
writ_budgets_commit(struct writ_budgets *budgets)
{
    for (struct writ_counter *counter = budgets->touched; counter != NULL;
         counter = counter->next_touched) {
        counter->touched = false;
    }
    budgets->touched = NULL;
}

void
writ_budgets_rollback(struct writ_budgets *budgets)
{
    for (struct writ_counter *counter = budgets->touched; counter != NULL;
         counter = counter->next_touched) {
        counter->touched = false;
        counter->window = counter->window_before;
        counter->spent = counter->spent_before;
    }
    budgets->touched = NULL;
}

static bool
stale(const struct writ_counter *counter, int64_t now_us)
{
    return counter->booked == 0 && !counter->touched &&
           counter->window < now_us / counter->window_us;
}

/* Frees the counters that are `gone`. */
static void
sweep(struct writ_budgets *budgets, bool (*gone)(const struct writ_counter *counter, int64_t value),
    int64_t value)
{
    struct writ_counter **at = &budgets->all;

    while (*at != NULL) {
        struct writ_counter *counter = *at;

        if (!gone(counter, value)) {
            at = &counter->next_all;
            continue;
        }
        *at = counter->next_all;
        writ_map_remove(&budgets->by_key, &counter->by_key);
        writ_free(counter);
    }
}

void
writ_budgets_prune(struct writ_budgets *budgets, int64_t now_us)
{
    sweep(budgets, stale, now_us);
}

static bool
is_longer(const struct writ_counter *counter, int64_t window_us)
{
    return counter->booked == 0 && !counter->touched && counter->window_us > window_us;
}

void
writ_budgets_drop(struct writ_budgets *budgets, int64_t window_us)
{
    sweep(budgets, is_longer, window_us);
}
