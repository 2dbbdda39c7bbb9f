/* rekey.h - the writer takes new keys while the ledger is open. Only core/store includes this. */
#ifndef WRIT_STORE_REKEY_H
#define WRIT_STORE_REKEY_H

#include "store/write/store.h"

/**
 * Takes the pending keys, if any: from here on they sign, and are trusted.
 *
 * When the previous key was revoked, this process vouches for the records since the ledger was
 * opened, because it wrote them: the last checkpoint gets the signature of the new key. It does not
 * vouch for older records: when their checkpoint is no longer trusted, the ledger is poisoned. Any
 * other failure is tried again in the next turn. The writer's thread, between groups.
 */
void writ_rekey_turn(struct writ_ledger *ledger);

/** Frees all keys that were taken, when the threads of the ledger have ended. */
void writ_rekey_wipe(struct writ_ledger *ledger);

#endif
