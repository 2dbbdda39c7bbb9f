/* proofs.h - the tree over the records of a ledger (heads.h), for making proofs: a
 * connection of its own, also while a gateway writes the ledger, which it never delays.
 *
 * Leaf i is the canonical form of record i (evidence/log/tree.h). What was proved once stays so:
 * the log only grows. One thread's; everything blocks on the disk. */
#ifndef WRIT_STORE_PROOFS_H
#define WRIT_STORE_PROOFS_H

#include "evidence/jose/keyring.h"
#include "evidence/log/checkpoint.h"

struct writ_proofs;

/** Opens a ledger. `ring` has the keys that are believed, and outlives it. `ret` is new, free with
 * writ_proofs_close; written only on success. As writ_reader_open; WRIT_E_MISMATCH for a ledger
 * without an id. */
WRIT_RESULT writ_proofs_open(const char *path, const struct writ_keyring *ring,
    struct writ_proofs **ret, struct writ_err *err);
/** NULL is permitted. */
void writ_proofs_close(struct writ_proofs *proofs);

/** Frees at the end of the scope: writ_auto_proofs x = NULL; */
#define writ_auto_proofs WRIT_AUTO(struct writ_proofs *, writ_proofs_release)

static inline void
writ_proofs_release(struct writ_proofs **proofs)
{
    writ_proofs_close(*proofs);
}

/** The origin of the ledger's checkpoints. Borrowed until close. */
struct writ_view writ_proofs_origin(const struct writ_proofs *proofs);

/**
 * Gives the last checkpoint: it is over all records that there are, or is the one that was pinned.
 *
 * @param ret, ret_note  what it says, and its bytes; borrowed until the next call
 *
 * @return WRIT_OK
 *         WRIT_E_ABSENT    there are no records
 *         WRIT_E_MISMATCH  it is not signed by a key of the ring, or of another ledger
 *         WRIT_E_BUSY, WRIT_E_IO, WRIT_E_NOMEM, WRIT_E_CRYPTO
 */
WRIT_RESULT writ_proofs_head(struct writ_proofs *proofs, struct writ_checkpoint *ret,
    struct writ_view *ret_note, struct writ_err *err);

/**
 * Reads a kept checkpoint: its records must be in the ledger, unchanged.
 *
 * @param is_signed  whether a signature that is believed is asked for
 * @param ret        borrowed from `note`
 *
 * @return WRIT_OK
 *         WRIT_E_MISMATCH  not a checkpoint, of more records than there are (ROLLBACK) or of
 *                          other ones (FORK); or as writ_proofs_head
 *         what else writ_proofs_head says
 */
WRIT_RESULT writ_proofs_follow(struct writ_proofs *proofs, struct writ_view note, bool is_signed,
    struct writ_checkpoint *ret, struct writ_err *err);

/** Whether a note is a checkpoint of this ledger that is signed by who is believed; what it is over
 * does not matter. WRIT_E_BUSY, WRIT_E_IO, WRIT_E_NOMEM, WRIT_E_CRYPTO. */
WRIT_RESULT writ_proofs_believes(
    struct writ_proofs *proofs, struct writ_view note, bool *ret, struct writ_err *err);

/**
 * From now on an older checkpoint is the last one, such as one that witnesses signed in the
 * meantime.
 *
 * @param note  copied; it may have more signatures
 *
 * As writ_proofs_follow, whose signatures are asked for.
 */
WRIT_RESULT writ_proofs_pin(
    struct writ_proofs *proofs, struct writ_view note, struct writ_err *err);

/** The nodes of the tree. Borrowed until close. It says WRIT_E_MISMATCH for one that is missing. */
struct writ_tree_source writ_proofs_source(struct writ_proofs *proofs);

#endif
