/* opening.h - checks in constant time that a ledger is unchanged since it was closed. */
#ifndef WRIT_STORE_OPENING_H
#define WRIT_STORE_OPENING_H

#include "store/write/store.h"

/**
 * Takes the keys of the ledger from the options, and the right edge of the tree from the disk.
 * Checks: a key of the ring signed the last checkpoint, which covers all records, or their MAC is
 * that of the key for the tail (write/signing.h), and then they are signed; the edge has its root;
 * the records of the last group are those of the tree; the ledger contains the pinned checkpoint.
 *
 * @return WRIT_OK          ledger->trust and ledger->log.edge are set
 *         WRIT_E_INVALID   no key to sign with
 *         WRIT_E_MISMATCH  a check failed
 *         WRIT_E_BUSY, WRIT_E_IO, WRIT_E_NOMEM, WRIT_E_CRYPTO
 */
WRIT_RESULT writ_opening_check(struct writ_ledger *ledger, struct writ_err *err);

#endif
