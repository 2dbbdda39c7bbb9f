/* turn.h - the transactions of the writer.
 *
 * A process that alone writes its ledger begins a transaction when a group is ready to be written.
 * Where several gateways write one ledger (fleet.h in core/store/start), each takes its turn
 * before it decides anything: from writ_turn_enter on no other gateway writes, and the memory has
 * all that the others wrote. The same code decides in both.
 *
 * One thread, the writer's; blocks on the disk. */
#ifndef WRIT_STORE_TURN_H
#define WRIT_STORE_TURN_H

#include "store/write/store.h"

/** What other gateways that write the same ledger require of a turn. */
struct writ_sharing {
    /** Begins a transaction, waits until no other gateway is in its own, and brings the memory up
     * to date. As writ_turn_enter. */
    writ_result (*enter)(struct writ_ledger *ledger, struct writ_err *err);
    /** In the transaction, after the rows of a group (rows_n 0: other work): writes what the other
     * gateways look at. WRIT_E_IO, WRIT_E_BUSY, WRIT_E_NOMEM. */
    writ_result (*write)(struct writ_ledger *ledger, struct writ_err *err);
    /** The transaction ended like that: learns what became of a commit whose answer was lost. */
    writ_result (*ended)(struct writ_ledger *ledger, writ_result result, struct writ_err *err);
};

/** Call it before anything is decided that the next transaction will write. Nothing to do where
 * this process alone writes. WRIT_E_IO, WRIT_E_BUSY, WRIT_E_NOMEM, WRIT_E_MISMATCH: the ledger
 * differs from the one in memory, and is poisoned. */
WRIT_RESULT writ_turn_enter(struct writ_ledger *ledger, struct writ_err *err);
/** Begins the transaction, unless writ_turn_enter has. WRIT_E_IO, WRIT_E_BUSY, WRIT_E_NOMEM. */
WRIT_RESULT writ_turn_begin(struct writ_ledger *ledger, struct writ_err *err);
/** Ends it: commits when `result`, that of its statements, is WRIT_OK; else rolls back and returns
 * `result`. WRIT_E_IO, WRIT_E_BUSY, WRIT_E_NOMEM. */
WRIT_RESULT writ_turn_finish(struct writ_ledger *ledger, writ_result result, struct writ_err *err);
/** Ends a turn that was entered and writes nothing. */
void writ_turn_leave(struct writ_ledger *ledger);

#endif
