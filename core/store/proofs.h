/* proofs.h - the tree over the records of a ledger.
 *
 * Leaf i is the canonical form of record i (evidence/tree.h). What was proved once stays so: the
 * log only grows. A connection of its own reads the ledger, also while a gateway writes it, and
 * holds nobody up.
 *
 * One thread's. Everything blocks on the disk. Memory is a quarter of a byte for each record that
 * was read, so that a proof reads no more than the records around its leaf. */
#ifndef WRIT_STORE_PROOFS_H
#define WRIT_STORE_PROOFS_H

#include "evidence/checkpoint.h"

struct writ_proofs;

/** Opens a ledger. `ret` is new, free with writ_proofs_close; written only on success. As
 * writ_reader_open; WRIT_E_INVALID also for a ledger without an id. */
WRIT_RESULT writ_proofs_open(const char *path, struct writ_proofs **ret, struct writ_err *err);
/** NULL is fine. */
void writ_proofs_close(struct writ_proofs *proofs);

/** The origin of the ledger's checkpoints. Borrowed until close. */
struct writ_view writ_proofs_origin(const struct writ_proofs *proofs);

/**
 * Gives the tree over the records that there are now. Reads those that it has not read before.
 *
 * @param ret  written only on success; the origin is borrowed until close
 *
 * @return WRIT_OK
 *         WRIT_E_MISMATCH  records are missing: see writ_verify_ledger
 *         WRIT_E_LIMIT     more than WRIT_TREE_SIZE_MAX
 *         WRIT_E_BUSY, WRIT_E_IO, WRIT_E_NOMEM, WRIT_E_CRYPTO
 */
WRIT_RESULT writ_proofs_head(
    struct writ_proofs *proofs, struct writ_checkpoint *ret, struct writ_err *err);

/** Proves that record `index` is in the tree of the first `size` records, which writ_proofs_head
 * has read. WRIT_E_INVALID when there are not so many; WRIT_E_MISMATCH, WRIT_E_BUSY, WRIT_E_IO,
 * WRIT_E_NOMEM, WRIT_E_CRYPTO. */
WRIT_RESULT writ_proofs_inclusion(struct writ_proofs *proofs, uint64_t index, uint64_t size,
    struct writ_tree_proof *ret, struct writ_err *err);

/** Proves that the tree of the first `older` records became that of the first `size` by appending.
 * As writ_proofs_inclusion. */
WRIT_RESULT writ_proofs_consistency(struct writ_proofs *proofs, uint64_t older, uint64_t size,
    struct writ_tree_proof *ret, struct writ_err *err);

#endif
