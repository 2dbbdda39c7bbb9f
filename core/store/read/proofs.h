/* proofs.h - the tree over the records of a ledger (heads.h), for making proofs: a connection of
 * its own, which never delays a gateway that writes the ledger.
 *
 * Leaf i is the canonical form of record i (evidence/log/tree.h). A proof stays valid: the log only
 * grows. One thread; everything blocks on the disk. */
#ifndef WRIT_STORE_PROOFS_H
#define WRIT_STORE_PROOFS_H

#include "evidence/jose/keyring.h"
#include "evidence/log/checkpoint.h"

struct writ_proofs;

/** Opens a ledger. `ring` has the trusted keys, and outlives it. `ret` is new, free with
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

/** Whether writ_proofs_head waits for the gateway that signs; it does. When that one cannot write,
 * do not. */
void writ_proofs_await(struct writ_proofs *proofs, bool waits);

/**
 * Gives the last checkpoint, which covers all records, or the pinned one. A gateway signs some
 * milliseconds after it wrote (write/signing.h), for which this waits; when none signs, as after a
 * kill, the last records are not covered.
 *
 * @param ret, ret_note its content, and its bytes; borrowed until the next call
 *
 * @return WRIT_OK
 *         WRIT_E_ABSENT    there are no records, or none is signed
 *         WRIT_E_MISMATCH  no key of the ring signed it, or it is of another ledger
 *         WRIT_E_BUSY, WRIT_E_IO, WRIT_E_NOMEM, WRIT_E_CRYPTO
 */
WRIT_RESULT writ_proofs_head(struct writ_proofs *proofs, struct writ_checkpoint *ret,
    struct writ_view *ret_note, struct writ_err *err);

/**
 * Reads a kept checkpoint: its records must be in the ledger, unchanged.
 *
 * @param is_signed  whether a trusted signature is required
 * @param ret        borrowed from `note`
 *
 * @return WRIT_OK
 *         WRIT_E_MISMATCH  not a checkpoint, of more records than there are (ROLLBACK) or of other
 *                          ones (FORK); or as writ_proofs_head and the other codes of
 *                          writ_proofs_head
 */
WRIT_RESULT writ_proofs_follow(struct writ_proofs *proofs, struct writ_view note, bool is_signed,
    struct writ_checkpoint *ret, struct writ_err *err);

/** Whether a note is a checkpoint of this ledger that a trusted key signed; the records that it
 * covers are not compared. WRIT_E_BUSY, WRIT_E_IO, WRIT_E_NOMEM, WRIT_E_CRYPTO. */
WRIT_RESULT writ_proofs_believes(
    struct writ_proofs *proofs, struct writ_view note, bool *ret, struct writ_err *err);

/**
 * Makes an older checkpoint count as the last one from now on, such as one that witnesses have
 * signed.
 *
 * @param note  copied; it may have more signatures
 *
 * As writ_proofs_follow, with signatures required.
 */
WRIT_RESULT writ_proofs_pin(
    struct writ_proofs *proofs, struct writ_view note, struct writ_err *err);

/** The nodes of the tree. Borrowed until close. A missing node is WRIT_E_MISMATCH. */
struct writ_tree_source writ_proofs_source(struct writ_proofs *proofs);

#endif
