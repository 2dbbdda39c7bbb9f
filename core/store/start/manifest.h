/* manifest.h - the manifest, which a start reads in place of the records: a signed note over the
 * memory of the writer after a number of records, in the table `segment`.
 *
 *     writ ledger state v1
 *     <origin of the ledger>
 *     <records that it covers>
 *     <root of the tree over these, base64>
 *     <area> <bytes> <their digest, base64>
 *
 * The bytes (image.h) lie in one of two areas, in pieces. They name the segments, each by the
 * digest of its part in memory. A start that finds the note trusts it when a key of the ledger that
 * is not revoked signed it and the tree of the ledger has its root; then it reads the records
 * since, up to the last checkpoint. An existing note that fails these checks stops the start.
 * Without a note, the start reads all records that still matter: that takes longer and gives the
 * same result.
 *
 * So an older manifest that was put back only makes the start longer, and one of another history is
 * refused. A note that only revoked keys signed counts as absent: unlike a checkpoint, no tree
 * confirms it. So does one over fewer records than were removed since (removing.h).
 *
 * The note is written from time to time, and at an orderly end, in the transaction that completes
 * the bytes; rows that the note on disk names are not deleted before that (once.c). One thread, the
 * writer's. */
#ifndef WRIT_STORE_MANIFEST_H
#define WRIT_STORE_MANIFEST_H

#include "store/write/store.h"

/** Begins a new manifest when it is time; between two groups. */
void writ_manifest_keep(struct writ_ledger *ledger, bool idle);
/** Prepares the next part, of a size that suits a group of so many records. True when there is
 * something to write. */
bool writ_manifest_turn(struct writ_ledger *ledger, size_t records);
/** Writes the part, in a transaction. WRIT_E_IO, WRIT_E_BUSY, WRIT_E_NOMEM, WRIT_E_CRYPTO. */
WRIT_RESULT writ_manifest_write(struct writ_ledger *ledger, struct writ_err *err);
/** Call it when the transaction is on disk. (When it fails, the part is written with the next
 * one.) */
void writ_manifest_written(struct writ_ledger *ledger);
/** Writes all pending parts of it and of segments, in transactions of its own, at most `slices` of
 * them. */
WRIT_RESULT writ_manifest_work(struct writ_ledger *ledger, size_t slices, struct writ_err *err);
/** At an orderly end: writes one over all records. A failure leaves the one on disk. */
void writ_manifest_close(struct writ_ledger *ledger);

/**
 * Reads the manifest and checks it, when the ledger opens.
 *
 * @param ret_leaf   the number of records that it covers; 0: there is no trusted one
 * @param ret_bytes  gets the image
 *
 * @return WRIT_OK
 *         WRIT_E_MISMATCH  there is one, and it fails a check
 *         WRIT_E_IO, WRIT_E_BUSY, WRIT_E_NOMEM, WRIT_E_CRYPTO
 */
WRIT_RESULT writ_manifest_load(struct writ_ledger *ledger, uint64_t *ret_leaf,
    struct writ_buf *ret_bytes, struct writ_err *err);

/** Whether the manifest that the start trusted is trusted with new keys too, one of which may have
 * been revoked since an earlier time. WRIT_E_NOMEM, WRIT_E_CRYPTO. */
WRIT_RESULT writ_manifest_holds(const struct writ_manifest *m, const struct writ_heads_trust *trust,
    bool *ret, struct writ_err *err);

/** The three of them in every group. */
extern const struct writ_participant writ_manifest_participant;

#endif
