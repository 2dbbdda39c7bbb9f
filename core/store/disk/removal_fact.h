/* removal_fact.h - whether a database has the record that lets records go.
 *
 * One thread; everything blocks on the disk. */
#ifndef WRIT_STORE_REMOVAL_FACT_H
#define WRIT_STORE_REMOVAL_FACT_H

#include "evidence/jose/keyring.h"
#include "store/disk/disk.h"

/**
 * Checks that a fact of this database names `before` (evidence/record/archive_fact.h), and that the
 * last checkpoint is signed by a key of the ring and covers the fact.
 *
 * @param ring  borrowed for the call
 *
 * @return WRIT_OK
 *         WRIT_E_MISMATCH  no such fact, or one that is not signed: another database
 *         WRIT_E_IO, WRIT_E_BUSY, WRIT_E_NOMEM, WRIT_E_CRYPTO
 */
WRIT_RESULT writ_removal_fact_check(
    struct writ_disk *disk, const struct writ_keyring *ring, uint64_t before, struct writ_err *err);

#endif
