/* detached_record.h - a record outside of a ledger, of any kind: read strictly, and judged by
 * itself. Receipts and bundles consist of such records.
 *
 * Pure but for the allocations; one thread at a time; nothing blocks. */
#ifndef WRIT_EVIDENCE_DETACHED_RECORD_H
#define WRIT_EVIDENCE_DETACHED_RECORD_H

#include "evidence/record/reason.h"
#include "evidence/record/record.h"
#include "evidence/record/review_record.h"

struct writ_profile;

enum writ_detached_record_kind {
    WRIT_DETACHED_RECORD_NONE = 0,
    WRIT_DETACHED_RECORD_DECISION,
    WRIT_DETACHED_RECORD_OUTCOME,
    WRIT_DETACHED_RECORD_SEAL,
    WRIT_DETACHED_RECORD_REVIEW,
};

/** "decision", "outcome", "seal", "review"; "none". Static storage. */
struct writ_view writ_detached_record_kind_name(enum writ_detached_record_kind kind);
/** The kind of exactly that name, or NONE. */
enum writ_detached_record_kind writ_detached_record_kind_named(struct writ_view name);

/** A record. Views are borrowed from the arena and from what was read. */
struct writ_detached_record {
    enum writ_detached_record_kind kind;
    struct writ_digest leaf; /* of its canonical form (tree.h) */
    union {
        struct writ_decision decision;
        struct writ_outcome outcome;
        struct writ_seal seal;
        struct writ_review_record review;
    };
    const struct writ_profile *profile; /* of a decision */
};

/**
 * Reads a record and judges it by itself: its members must be those of its kind and well-formed,
 * and every digest must recompute from them.
 *
 * @param value   borrowed as long as `ret` is used
 * @param ret     written only when *ret_why is WRIT_REASON_EVIDENCE_OK
 * @param ret_why EVIDENCE_OK, RECORD_INVALID or RECORD_DIGEST_MISMATCH; written on WRIT_OK
 *
 * @return WRIT_OK, whatever is wrong with it
 *         WRIT_E_NOMEM, WRIT_E_CRYPTO
 */
WRIT_RESULT writ_detached_record_read(const struct writ_json *value,
    enum writ_detached_record_kind kind, struct writ_arena *arena, struct writ_detached_record *ret,
    enum writ_reason *ret_why, struct writ_err *err);

/**
 * Judges whether an outcome belongs to a decision: it must join the decision, and its receipt_ref
 * must recompute from both.
 *
 * @param ret_why  EVIDENCE_OK or OUTCOME_MISMATCH; written on WRIT_OK
 *
 * @return WRIT_OK, WRIT_E_NOMEM, WRIT_E_CRYPTO
 */
WRIT_RESULT writ_detached_record_join(const struct writ_detached_record *outcome,
    const struct writ_detached_record *decision, enum writ_reason *ret_why, struct writ_err *err);

/** The decision_id of the decision that it is or refers to; the empty view for a seal. */
struct writ_view writ_detached_record_decision_id(const struct writ_detached_record *record);

#endif
