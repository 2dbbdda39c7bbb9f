/* catch_up.h - brings the memory of the writer up to date with what other gateways wrote. */
#ifndef WRIT_STORE_CATCH_UP_H
#define WRIT_STORE_CATCH_UP_H

#include "store/write/store.h"

/** In a transaction: sends the queries for the next part ahead, so that it arrives with the answer
 * to what was sent before. WRIT_E_IO, WRIT_E_BUSY, WRIT_E_NOMEM. */
WRIT_RESULT writ_catch_up_ask(struct writ_ledger *ledger, struct writ_err *err);
/** Forgets what was sent ahead and not taken. */
void writ_catch_up_end(struct writ_ledger *ledger);

/**
 * Takes the records up to `size` into the memory, in a transaction that sees those and no more.
 * Each part is compared with the checkpoint that its gateway signed before anything of it is taken.
 *
 * @return WRIT_OK
 *         WRIT_E_MISMATCH  the records do not continue those in memory
 *         WRIT_E_LIMIT     a table is full
 *         WRIT_E_IO, WRIT_E_BUSY, WRIT_E_NOMEM, WRIT_E_CRYPTO: what was taken stays, and the next
 *         call continues
 */
WRIT_RESULT writ_catch_up(struct writ_ledger *ledger, uint64_t size, struct writ_err *err);

/** Reads the table of calls that wait again. As writ_catch_up. */
WRIT_RESULT writ_catch_up_waits(struct writ_ledger *ledger, struct writ_err *err);

#endif
