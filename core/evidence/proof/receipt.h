/* receipt.h - one file that proves the history of one call to a reader who trusts neither the
 * gateway nor its operator, but one key.
 *
 *     {"format": "writ-receipt/1",
 *      "keys": ["<vkey>", ...],                       keys of the ledger, the one that signs first
 *      "records": [{"kind": "decision", "proof": "<c2sp.org/tlog-proof>", "record": {...}}, ...]}
 *
 * Records are those of the call from its first decision to its last: each later decision supersedes
 * the one before it, and outcomes and the events of reviews are about one of them. All proofs are
 * under one checkpoint. `keys` helps a reader to find the keys; nothing in a file makes a key
 * trusted.
 *
 * Pure but for the allocations; thread-safe; nothing blocks. */
#ifndef WRIT_EVIDENCE_RECEIPT_H
#define WRIT_EVIDENCE_RECEIPT_H

#include "evidence/log/checkpoint.h"
#include "evidence/proof/detached_record.h"

#define WRIT_RECEIPT_FORMAT      WRIT_LIT("writ-receipt/1")
#define WRIT_RECEIPT_BYTES_MAX   ((size_t)64 << 20) /* longest file */
#define WRIT_RECEIPT_RECORDS_MAX 4096               /* most records of a call */
#define WRIT_RECEIPT_KEYS_MAX    64                 /* most keys, in a file or trusted */
#define WRIT_RECEIPT_ARENA       ((size_t)1 << 30)  /* memory that is enough for every file */

/** One record to write. */
struct writ_receipt_record {
    enum writ_detached_record_kind kind;
    struct writ_view body; /* its canonical form */
    uint64_t index;
    struct writ_tree_proof inclusion;
};

/** Appends a file. `keys` are vkeys; `note` is the signed checkpoint of all proofs. Failures stay
 * in the buffer. */
void writ_receipt_put(struct writ_buf *buf, const struct writ_view *keys, size_t keys_n,
    struct writ_view note, const struct writ_receipt_record *records, size_t n);

/** The contents of a valid receipt. Views are borrowed from the arena and the text. */
struct writ_receipt {
    struct writ_checkpoint checkpoint;
    struct writ_view note;
    struct writ_detached_record decision; /* the last one */
    uint64_t decision_index;
    bool has_outcome; /* of the last decision; without it the receipt does not cover the end of the
                       * call */
    struct writ_detached_record outcome;
    uint64_t outcome_index;
    size_t decisions, reviews; /* records of these kinds */
};

/**
 * Verifies a file.
 *
 * @param trust    the keys that must have signed the checkpoint
 * @param ret      written only when *ret_why is EVIDENCE_OK
 * @param ret_why  the first reason against it, in this order: EVIDENCE_MALFORMED,
 *                 CHECKPOINT_UNSIGNED, CHECKPOINT_INVALID, CHECKPOINT_UNWITNESSED; for each record
 *                 RECORD_INVALID, RECORD_DIGEST_MISMATCH, RECORD_NOT_IN_LOG, RECORD_FOREIGN,
 *                 APPROVAL_MISMATCH, OUTCOME_MISMATCH; or EVIDENCE_OK. Written on WRIT_OK
 * @param err      explains the reason on WRIT_OK
 *
 * @return WRIT_OK, whatever is wrong with it
 *         WRIT_E_NOMEM, WRIT_E_CRYPTO
 */
WRIT_RESULT writ_receipt_verify(struct writ_view text, const struct writ_checkpoint_trust *trust,
    struct writ_arena *arena, struct writ_receipt *ret, enum writ_reason *ret_why,
    struct writ_err *err);

#endif
