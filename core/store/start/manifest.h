/* manifest.h - what a start believes in place of the records: a signed note over all that the
 * writer had in memory after so many of them, in the table `segment`.
 *
 *     writ ledger state v1
 *     <origin of the ledger>
 *     <records that it is over>
 *     <root of the tree over these, base64>
 *     <area> <bytes> <their digest, base64>
 *
 * The bytes (image.h) lie in one of two areas, in pieces; they name the segments, by the digest
 * of what memory has of each. A start that finds the note believes it when a key of the ledger that
 * is not revoked signed it and the tree of the ledger has its root; then it reads the records
 * since, up to the last checkpoint. A note that is there and does not hold stops the start. Without
 * one, all records that still matter are read: that takes longer and gives the same.
 *
 * So an older manifest that was put back only makes the start longer, and one of another history is
 * refused. A note that only revoked keys signed counts as none: unlike a checkpoint, no tree says
 * the same.
 *
 * The note is written from time to time, and at an orderly end, in the transaction that completes
 * the bytes; rows that the note on the disk names are not deleted before (once.c). One thread, the
 * writer's. */
#ifndef WRIT_STORE_MANIFEST_H
#define WRIT_STORE_MANIFEST_H

#include "store/write/store.h"

/** Between two groups: begins a new one when it is time. */
void writ_manifest_keep(struct writ_ledger *ledger, bool idle);
/** Prepares the next part, as much as suits a group of so many records. True when there is
 * something to write. */
bool writ_manifest_turn(struct writ_ledger *ledger, size_t records);
/** Writes it, in a transaction. WRIT_E_IO, WRIT_E_BUSY, WRIT_E_NOMEM, WRIT_E_CRYPTO. */
WRIT_RESULT writ_manifest_write(struct writ_ledger *ledger, struct writ_err *err);
/** The transaction is on disk. (When it is not, the part is written with the next one.) */
void writ_manifest_written(struct writ_ledger *ledger);
/** All that there is to write for it and for segments, in transactions of its own, at most `slices`
 * of them. */
WRIT_RESULT writ_manifest_work(struct writ_ledger *ledger, size_t slices, struct writ_err *err);
/** At an orderly end: writes one over all records. What fails leaves the one on disk. */
void writ_manifest_close(struct writ_ledger *ledger);

/**
 * Looks for one that holds, when the ledger opens.
 *
 * @param ret_leaf   the records that it is over; 0: there is none to be believed
 * @param ret_bytes  gets the image
 *
 * @return WRIT_OK
 *         WRIT_E_MISMATCH  there is one, and it does not hold
 *         WRIT_E_IO, WRIT_E_BUSY, WRIT_E_NOMEM, WRIT_E_CRYPTO
 */
WRIT_RESULT writ_manifest_load(struct writ_ledger *ledger, uint64_t *ret_leaf,
    struct writ_buf *ret_bytes, struct writ_err *err);

/** Whether what the start believed is believed with other keys too, of which one may be revoked
 * since before. WRIT_E_NOMEM, WRIT_E_CRYPTO. */
WRIT_RESULT writ_manifest_holds(const struct writ_manifest *m, const struct writ_heads_trust *trust,
    bool *ret, struct writ_err *err);

/** The three of them in every group. */
extern const struct writ_participant writ_manifest_participant;

#endif
