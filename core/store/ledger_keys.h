/* ledger_keys.h - keys that are handed to a ledger while it is open. */
#ifndef WRIT_STORE_LEDGER_KEYS_H
#define WRIT_STORE_LEDGER_KEYS_H

#include "evidence/jose/keyring.h"

/** Keys that an open ledger shall take. */
struct writ_ledger_keys {
    struct writ_keyring *ring;
    struct writ_ledger_keys *next;
};

/** `ring` is taken on success; `ret` is new, free with writ_ledger_keys_free or hand it over.
 * WRIT_E_INVALID when the ring has no active Ed25519 key for the ledger; WRIT_E_NOMEM. */
WRIT_RESULT writ_ledger_keys_new(
    struct writ_keyring *ring, struct writ_ledger_keys **ret, struct writ_err *err);
/** NULL is fine. */
void writ_ledger_keys_free(struct writ_ledger_keys *keys);

#endif
