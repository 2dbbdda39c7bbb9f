/* vouch.h - records of before the start that were not read again by it: each is compared with its
 * signature when it is used.
 *
 * One thread, the writer's. Blocks on the disk, for some twenty looks into `head`; of a record that
 * this process wrote or read again nothing is asked. */
#ifndef WRIT_STORE_VOUCH_H
#define WRIT_STORE_VOUCH_H

#include "store/write/store.h"

/** Whether the record with this body is in the tree with that edge at its place, of whatever time
 * it is. WRIT_E_MISMATCH: it is not; WRIT_E_IO, WRIT_E_BUSY, WRIT_E_NOMEM, WRIT_E_CRYPTO. */
WRIT_RESULT writ_vouch_signed(const struct writ_tree_edge *edge,
    const struct writ_tree_source *source, uint64_t leaf, struct writ_view body,
    struct writ_err *err);

/**
 * Whether the record has this body.
 *
 * @return WRIT_OK
 *         WRIT_E_MISMATCH  it has not, and the ledger is being opened
 *         WRIT_E_IO        it has not: the ledger is poisoned
 *         WRIT_E_BUSY, WRIT_E_NOMEM, WRIT_E_CRYPTO
 */
WRIT_RESULT writ_vouch(
    struct writ_ledger *ledger, uint64_t leaf, struct writ_view body, struct writ_err *err);

#endif
