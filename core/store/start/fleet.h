/* fleet.h - several gateways that write one ledger, on PostgreSQL.
 *
 * Each running gateway has an epoch, a row of `gateway` with a lease, and writes only in its turn:
 * it locks the row of `coordinator`, takes what the others wrote into its memory (catch_up.h),
 * decides with the same code as a gateway that is alone, and commits. The commit counts the turn
 * and extends the lease. So
 *
 * - all gateways decide in one order, and each with all that was decided before;
 * - a gateway that was declared dead finds that out in its turn, before it writes; it gets a new
 *   epoch, and the calls of the old one are no longer its own;
 * - when the answer to a commit is lost, the count of turns tells on a new connection whether it
 *   happened: the lock is free only when the earlier transaction has ended.
 *
 * The calls of a gateway that is not live get their outcome from any other. What waits (reviews,
 * tasks, rounds) belongs to none of them. Times are those of the database. */
#ifndef WRIT_STORE_FLEET_H
#define WRIT_STORE_FLEET_H

#include "store/write/store.h"

/** The turns of such a ledger. */
extern const struct writ_sharing writ_fleet_sharing;

/** Before the memory is made: checks what the server promises, and takes its clock and the data
 * that this gateway, by its name, kept for its start. WRIT_E_IO, WRIT_E_BUSY, WRIT_E_NOMEM. */
WRIT_RESULT writ_fleet_begin(struct writ_ledger *ledger, struct writ_err *err);
/** When the memory is made: joins the fleet under a new epoch. An earlier one under the same name
 * ends. WRIT_E_MISMATCH, WRIT_E_LIMIT, WRIT_E_IO, WRIT_E_BUSY, WRIT_E_NOMEM, WRIT_E_CRYPTO. */
WRIT_RESULT writ_fleet_join(struct writ_ledger *ledger, struct writ_err *err);
/** Ends the epoch, when all is written. */
void writ_fleet_leave(struct writ_ledger *ledger);
/** Frees what the fleet keeps in memory. */
void writ_fleet_wipe(struct writ_ledger *ledger);

/** From time to time: looks for what others wrote, extends the lease, and gives an end to the calls
 * of gateways that are no longer live. */
void writ_fleet_tick(struct writ_ledger *ledger);
/** How long the writer rests at most, in microseconds. */
int64_t writ_fleet_rest_us(const struct writ_ledger *ledger, int64_t rest_us);

/** Whether a call that this gateway was granted in that epoch may be sent now: its lease lasts. A
 * pause right after this answer can only complete that one call. Any thread. */
bool writ_fleet_may_send(const struct writ_ledger *ledger, uint64_t epoch);

/** The figures of this gateway. Any thread. */
void writ_fleet_figures(const struct writ_ledger *ledger, struct writ_ledger_fleet_figures *ret);

#endif
