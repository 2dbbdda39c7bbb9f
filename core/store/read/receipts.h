/* receipts.h - makes receipts (evidence/proof/receipt.h) of calls that a ledger holds, also while a
 * gateway writes it.
 *
 * One thread. Everything blocks on the disk. */
#ifndef WRIT_STORE_RECEIPTS_H
#define WRIT_STORE_RECEIPTS_H

#include "evidence/proof/receipt.h"
#include "store/read/proofs.h"
#include "store/read/reader.h"

/**
 * Appends the receipt of the call that a decision belongs to, under the ledger's last checkpoint or
 * the pinned one.
 *
 * @param ring  the ring of the proofs; the receipt contains its public keys
 *
 * @return WRIT_OK
 *         WRIT_E_ABSENT    no decision of that id
 *         WRIT_E_LIMIT     more than WRIT_RECEIPT_RECORDS_MAX records, or a file that is too long
 *         WRIT_E_MISMATCH  a record is not readable or missing (see writ_verify_ledger), or no key
 *                          of the ring signed the checkpoint, or it is older than the last record
 *         WRIT_E_IO, WRIT_E_BUSY, WRIT_E_NOMEM, WRIT_E_CRYPTO
 */
WRIT_RESULT writ_receipts_make(struct writ_reader *reader, struct writ_proofs *proofs,
    const struct writ_keyring *ring, struct writ_view decision_id, struct writ_buf *ret,
    struct writ_err *err);

#endif
