/* waiting.h - begins, finds and gives up waits (waits.h: the table of them).
 *
 * One thread, the writer's. */
#ifndef WRIT_STORE_WAITING_H
#define WRIT_STORE_WAITING_H

#include "store/write/store.h"

/** WRIT_ENTRY_WAIT. */
WRIT_RESULT writ_waiting_enter(struct writ_ledger *ledger, struct writ_entry *entry);
/** WRIT_ENTRY_CALL. */
WRIT_RESULT writ_waiting_call(struct writ_ledger *ledger, struct writ_entry *entry);
/** WRIT_ENTRY_WAITING. */
WRIT_RESULT writ_waiting_find(struct writ_ledger *ledger, struct writ_entry *entry);

/** Checks some waits: those whose time has passed get their outcome. */
void writ_waiting_sweep(struct writ_ledger *ledger);
/** Deletes the rows of tasks that have their outcome and whose time has passed; then forgets them.
 */
WRIT_RESULT writ_waiting_stale(struct writ_ledger *ledger, int64_t now_us, struct writ_err *err);
void writ_waiting_prune(struct writ_waits *waits, int64_t now_us);

#endif
