/* opening.h - checks in constant time that a ledger is unchanged since it was closed. */
#ifndef WRIT_STORE_OPENING_H
#define WRIT_STORE_OPENING_H

#include "store/write/store.h"

/**
 * Takes the keys of the ledger out of the options, and the right edge of the tree out of the disk:
 * the last checkpoint is signed by a key of the ring and is over all records, the edge has its
 * root, the records of the last group are those of the tree, and what is pinned is contained.
 *
 * @return WRIT_OK          ledger->trust and ledger->log.edge are there
 *         WRIT_E_INVALID   there is no key to sign with
 *         WRIT_E_MISMATCH  any of it does not hold
 *         WRIT_E_BUSY, WRIT_E_IO, WRIT_E_NOMEM, WRIT_E_CRYPTO
 */
WRIT_RESULT writ_opening_check(struct writ_ledger *ledger, struct writ_err *err);

#endif
