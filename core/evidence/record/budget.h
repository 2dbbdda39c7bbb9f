/* budget.h - the amount that a call takes from a budget: policy makes it, the store's writer books
 * it.
 *
 * It is here because policy and store do not know each other. A reservation has everything that
 * booking needs; booking does not read the configuration. */
#ifndef WRIT_EVIDENCE_BUDGET_H
#define WRIT_EVIDENCE_BUDGET_H

#include "base/decimal.h"
#include "evidence/json/digest.h"

#include <stdbool.h>
#include <stdint.h>

#define WRIT_RESERVATIONS_MAX 16 /* most budgets one call can draw on */

/** One draw on one budget. Windows are aligned to the epoch: the one of time t is number floor(t /
 * window_us). The call may run only while, in the window of its issued_at, sum(amounts booked under
 * `key`) + amount <= limit A zeroed reservation has limit 0, so that any amount above 0 is
 * refused. */
struct writ_reservation {
    /** The counter: H({"budget": name, and those of "agent", "tenant", "tool" that separate it}). A
     * reload that keeps both keeps the counter. */
    struct writ_digest key;
    struct writ_view name; /* the budget's name in the configuration, for records and refusals */
    int64_t window_us;     /* length of a window, above 0 */
    bool counts_calls;     /* amount is 1 and limit an integer: a budget of calls, not of sums */
    struct writ_decimal amount; /* never negative */
    struct writ_decimal limit;  /* never negative */
};

#endif
