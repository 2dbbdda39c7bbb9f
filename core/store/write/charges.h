/* charges.h - the amounts that calls took from budgets, as their signed decisions state them.
 *
 * A granted decision that was booked has extensions.writ.charges, one text for each budget:
 *
 *     TAG WINDOW_US WINDOW AMOUNT
 *
 * TAG: the first 16 bytes of the budget's key in hex; WINDOW_US: the length of a window; WINDOW:
 * the number of the window, floor(issued_at / WINDOW_US); AMOUNT: a decimal. A decision that
 * continues a booked call repeats its charges with ` held` after them: they count once. An outcome
 * that proves that nothing ran gives the charges of its decision back.
 *
 * So the counters (budgets.h) are not kept on disk: they are counted again from the signed bodies
 * of the records when the ledger is opened, or when a call draws on a budget with a longer window
 * than any before. One thread. Blocks, in proportion to the records of the longest window. */
#ifndef WRIT_STORE_CHARGES_H
#define WRIT_STORE_CHARGES_H

#include "store/write/store.h"

/** Counts from the records all amounts taken in the present windows of up to `window_us`, and
 * restores the bookings of calls in flight. Skips what is counted already. WRIT_E_MISMATCH: the
 * records are not the signed ones, or contradict each other; WRIT_E_LIMIT, WRIT_E_IO, WRIT_E_BUSY,
 * WRIT_E_NOMEM, WRIT_E_CRYPTO. */
WRIT_RESULT writ_charges_know(struct writ_ledger *ledger, int64_t window_us, struct writ_err *err);

/** Counts the amounts taken by the records from `leaf` on, in windows of known lengths: the
 * counters of the records before exist. Fails as writ_charges_know. */
WRIT_RESULT writ_charges_go_on(struct writ_ledger *ledger, uint64_t leaf, struct writ_err *err);

/** Counts the charges of a granted decision that another gateway wrote, and books them for its
 * call. `held` ones, of a decision that follows another, are booked already. WRIT_E_MISMATCH,
 * WRIT_E_LIMIT, WRIT_E_NOMEM. */
WRIT_RESULT writ_charges_hear(struct writ_ledger *ledger, struct writ_flight *flight,
    struct writ_view body, int64_t time_us, struct writ_arena *arena, struct writ_err *err);

#endif
