/* vouch.h - records from before the start that the start did not read again: each is compared with
 * the signed tree when it is used.
 *
 * One thread, the writer's. Blocks on the disk, for some twenty reads of `head`; records that this
 * process wrote or read again need no check. */
#ifndef WRIT_STORE_VOUCH_H
#define WRIT_STORE_VOUCH_H

#include "store/write/store.h"

/** Checks that the tree with that edge has the record with this body at its place, of any time.
 * WRIT_E_MISMATCH: it has not; WRIT_E_IO, WRIT_E_BUSY, WRIT_E_NOMEM, WRIT_E_CRYPTO. */
WRIT_RESULT writ_vouch_signed(const struct writ_tree_edge *edge,
    const struct writ_tree_source *source, uint64_t leaf, struct writ_view body,
    struct writ_err *err);

/**
 * Checks that the record has this body.
 *
 * @return WRIT_OK
 *         WRIT_E_MISMATCH  it has not, and the ledger is being opened
 *         WRIT_E_IO        it has not: the ledger is poisoned
 *         WRIT_E_BUSY, WRIT_E_NOMEM, WRIT_E_CRYPTO
 */
WRIT_RESULT writ_vouch(
    struct writ_ledger *ledger, uint64_t leaf, struct writ_view body, struct writ_err *err);

#endif
