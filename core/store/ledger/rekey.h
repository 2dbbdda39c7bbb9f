/* rekey.h - the writer takes other keys while the ledger is open. Only core/store includes this. */
#ifndef WRIT_STORE_REKEY_H
#define WRIT_STORE_REKEY_H

#include "store/write/store.h"

/**
 * Takes the keys that wait to be taken, if any: from here on they sign, and are believed.
 *
 * When the key so far was revoked, what was recorded since the ledger was opened is vouched for by
 * this process, which wrote it: the last checkpoint gets the signature of the new key. What was
 * there before is not: when its checkpoint is not believed any more, the ledger is poisoned. What
 * fails for another reason is tried again in the next turn. The writer's thread, between groups.
 */
void writ_rekey_turn(struct writ_ledger *ledger);

/** Frees all keys that were taken, when the threads of the ledger have ended. */
void writ_rekey_wipe(struct writ_ledger *ledger);

#endif
