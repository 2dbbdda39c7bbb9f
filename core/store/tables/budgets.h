/* budgets.h - the amounts taken from each budget in its present window, in the memory of the
 * writer. The disk has no counters: they are computed from the signed records (charges.h).
 *
 * Windows are aligned to the epoch. A counter whose window has passed counts from 0 again. A booked
 * amount returns only to the window it came from. One thread. */
#ifndef WRIT_STORE_BUDGETS_H
#define WRIT_STORE_BUDGETS_H

#include "evidence/record/budget.h"
#include "store/tables/map.h"

/** One budget's counter. */
struct writ_counter {
    struct writ_map_node by_key;
    struct writ_counter *next_all;     /* all of them */
    struct writ_counter *next_touched; /* those that the present group moved */
    int64_t window_us;
    int64_t window; /* number of the window that `spent` counts */
    struct writ_decimal spent;
    size_t booked; /* calls in flight that may give an amount back */

    bool touched;
    int64_t window_before; /* before the present group */
    struct writ_decimal spent_before;
};

/** The amount that one call took from one budget. */
struct writ_booking {
    struct writ_counter *counter;
    int64_t window;
    struct writ_decimal amount;
};

struct writ_budgets {
    struct writ_map by_key;
    size_t most;
    struct writ_counter *all;
    struct writ_counter *touched;
    int64_t known_us; /* windows up to this length are counted: charges.h */
    int64_t asked_us; /* the longest window that this process was asked for */
};

/** WRIT_E_NOMEM, WRIT_E_CRYPTO. */
WRIT_RESULT writ_budgets_init(struct writ_budgets *ret, size_t most, struct writ_err *err);
void writ_budgets_wipe(struct writ_budgets *budgets);

/** The tag of the key of its budget. */
struct writ_tag writ_budgets_tag(const struct writ_counter *counter);
/** The counter of a budget, or NULL. */
struct writ_counter *writ_budgets_find(
    const struct writ_budgets *budgets, struct writ_tag key, int64_t window_us);

/** Counts the charge of a record: adds `amount`, which may be negative, to the amount spent in that
 * window. Calls with one window length must name the same window. WRIT_E_MISMATCH: the sum cannot
 * be kept exactly; WRIT_E_LIMIT, WRIT_E_NOMEM. */
WRIT_RESULT writ_budgets_count(struct writ_budgets *budgets, struct writ_tag key, int64_t window_us,
    int64_t window, const struct writ_decimal *amount, struct writ_err *err);
/** Frees the counters without bookings whose window is longer than that. */
void writ_budgets_drop(struct writ_budgets *budgets, int64_t window_us);

/**
 * Books all reservations of a call, or none.
 *
 * @param now_us       the issued_at of the decision
 * @param ret          `n` bookings, to be ended with writ_budgets_end
 * @param ret_refused  index of the reservation that does not fit
 *
 * @return WRIT_OK
 *         WRIT_E_MISMATCH  a budget would be exceeded, or cannot count the amount exactly
 *         WRIT_E_LIMIT     the table is full
 *         WRIT_E_INVALID   a reservation without a window, or of a negative amount
 *         WRIT_E_NOMEM
 */
WRIT_RESULT writ_budgets_book(struct writ_budgets *budgets,
    const struct writ_reservation *reservations, size_t n, int64_t now_us, struct writ_booking *ret,
    size_t *ret_refused);

/** Returns the amounts, because the call did not run. The bookings stay; end them when the outcome
 * is on disk. A change of the present group, like those of writ_budgets_book. */
void writ_budgets_return(
    struct writ_budgets *budgets, const struct writ_booking *bookings, size_t n);

/** Ends bookings: their amounts stay spent. */
void writ_budgets_end(const struct writ_booking *bookings, size_t n);

/** Ends the group: its changes stand. */
void writ_budgets_commit(struct writ_budgets *budgets);
/** Undoes the group: all counters get their earlier values back. */
void writ_budgets_rollback(struct writ_budgets *budgets);

/** Frees unused counters: their window has passed, and no call in flight has booked on them. */
void writ_budgets_prune(struct writ_budgets *budgets, int64_t now_us);

#endif
