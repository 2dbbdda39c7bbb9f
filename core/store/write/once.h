/* once.h - the claimed keys: claims in memory (claims.h), and segments of older ones on the disk
 * (segment.h).
 *
 * Claims of calls that have their outcome are written as a segment when enough of them wait;
 * segments are merged by their size, and dropped when no claim in them stands any more. All of it
 * happens in slices that the writer adds to its transactions. Memory has the calls in flight, a few
 * thousand claims, and some bytes for each of the others. Segments outlive the process when the
 * signed manifest names them (manifest.h), and are made from the signed records when there is none.
 * Each block is compared with its digest when it is read: a changed block poisons the ledger, and
 * frees no key.
 *
 * One thread, the writer's; the disk is the ledger's. */
#ifndef WRIT_STORE_ONCE_H
#define WRIT_STORE_ONCE_H

#include "store/write/store.h"

/** About how many claims are remembered; claims whose time has passed count until they are
 * dropped. */
size_t writ_once_count(const struct writ_ledger *ledger);

/**
 * Finds a claim that stands.
 *
 * @param since_us  earlier claims may be left out
 *
 * @return WRIT_OK
 *         WRIT_E_IO      also when a segment was changed, which poisons the ledger
 *         WRIT_E_BUSY, WRIT_E_NOMEM, WRIT_E_CRYPTO
 */
WRIT_RESULT writ_once_find(struct writ_ledger *ledger, enum writ_segment_kind kind,
    struct writ_tag tag, int64_t since_us, int64_t now_us, struct writ_claim_facts *ret,
    bool *ret_found, struct writ_err *err);

/** Whether the call of a claim is in flight, or its time has not passed, or its boundary is
 * open. */
bool writ_once_stands(
    const struct writ_boundaries *boundaries, const struct writ_claim_facts *facts, int64_t now_us);
/** Copies a block of a segment. Fails as writ_once_find. */
WRIT_RESULT writ_once_read(struct writ_ledger *ledger, const struct writ_segment *segment,
    size_t block, uint8_t ret[WRIT_SEGMENT_BLOCK], size_t *ret_len, struct writ_err *err);

/** Prepares the next slice of the pending work, of a size that suits a group of so many records.
 * True when there is something to write. */
bool writ_once_turn(struct writ_ledger *ledger, size_t records);
/** Writes the slice, in a transaction. WRIT_E_IO, WRIT_E_BUSY, WRIT_E_NOMEM. */
WRIT_RESULT writ_once_write(struct writ_ledger *ledger, struct writ_err *err);
/** Call it when the transaction is on disk. (When it fails, the slice is written with the next
 * one.) */
void writ_once_written(struct writ_ledger *ledger);
/** Frees claims in memory whose time has passed. */
void writ_once_sweep(struct writ_ledger *ledger);
/** Whether there are rows that can be deleted when a new manifest is on disk. */
bool writ_once_is_held_up(const struct writ_ledger *ledger);
/** Adds a segment that the manifest names at the end of the list, and reads its pieces, whose
 * digest is in `segment->memory`. Taken; freed on failure. WRIT_E_MISMATCH, WRIT_E_IO, WRIT_E_BUSY,
 * WRIT_E_CRYPTO. */
WRIT_RESULT writ_once_restore(
    struct writ_ledger *ledger, struct writ_segment *segment, struct writ_err *err);
/** Begins with the restored segments: the rows of all others are to be deleted. WRIT_E_MISMATCH:
 * there are rows that no ledger writes; WRIT_E_IO, WRIT_E_BUSY, WRIT_E_NOMEM. */
WRIT_RESULT writ_once_begin(struct writ_ledger *ledger, struct writ_err *err);

/** The three of them in every group. */
extern const struct writ_participant writ_once_participant;

#endif
