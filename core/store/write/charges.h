/* charges.h - what calls took out of budgets, as their signed decisions say it.
 *
 * A granted decision that was booked has extensions.writ.charges, one text for each budget:
 *
 *     TAG WINDOW_US WINDOW AMOUNT
 *
 * TAG: the first 16 bytes of the budget's key in hex; WINDOW_US: how long a window is; WINDOW: the
 * number of the window, floor(issued_at / WINDOW_US); AMOUNT: a decimal. A decision that goes on
 * with a call that was booked before repeats its charges with ` held` behind them: they count once.
 * An outcome that proves that nothing ran gives back what its decision was charged.
 *
 * So the counters (budgets.h) are not kept on disk: they are counted again out of the bodies of the
 * records, as they were signed, when the ledger is opened or when a call draws on a budget with a
 * longer window than any before. One thread. Blocks, in proportion to the records of the longest
 * window. */
#ifndef WRIT_STORE_CHARGES_H
#define WRIT_STORE_CHARGES_H

#include "store/write/store.h"

/** Counts, out of the records, all that was taken in the present windows of up to `window_us`, and
 * gives calls in flight their bookings back. What is known already is not counted again.
 * WRIT_E_MISMATCH: the records are not those that were signed, or contradict each other;
 * WRIT_E_LIMIT, WRIT_E_IO, WRIT_E_BUSY, WRIT_E_NOMEM, WRIT_E_CRYPTO. */
WRIT_RESULT writ_charges_know(struct writ_ledger *ledger, int64_t window_us, struct writ_err *err);

/** Counts what the records from `leaf` on took, in windows of the lengths that are known: of what
 * came before the counters are there. Fails as writ_charges_know. */
WRIT_RESULT writ_charges_go_on(struct writ_ledger *ledger, uint64_t leaf, struct writ_err *err);

#endif
