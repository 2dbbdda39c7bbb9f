/* bundle.h - records of a log in one file of lines, which proves the place of each in the log, in
 * memory that does not grow with their number.
 *
 * The first line has the selection and the checkpoint. Then the leaves of the tree follow from left
 * to right: the selected records, and for the others the roots of the largest subtrees without a
 * selected record. A reader rebuilds the tree from the lines in order; if its root is not that of
 * the checkpoint, a line was changed. The last line says what the records lack. Every byte follows
 * from the records and the first line, so a reader trusts only the checkpoint.
 *
 *     {"format":"writ-bundle/1","checkpoint":"<note>","keys":["<vkey>",...],"select":{...}}
 *     {"leaf":7,"kind":"decision","record":{...}}
 *     {"leaf":8,"kind":"node","level":3,"digest":"sha256:..."}
 *     {"leaf":16,"kind":"withheld","of":"outcome","digest":"sha256:...","decision_id":"..."}
 *     {"kind":"phase","decision_id":"...","phase":"consumed","whole":true}
 *     {"kind":"twice","decision_id":"...","first":7}
 *     {"kind":"end",...,"sha256":"<of all lines before>"}
 *
 * Memory grows with the number of runs, and of the calls that are under way and the keys that are
 * claimed at one time; not with that of records. For one thread; nothing blocks. */
#ifndef WRIT_EVIDENCE_BUNDLE_H
#define WRIT_EVIDENCE_BUNDLE_H

#include "evidence/log/checkpoint.h"
#include "evidence/proof/detached_record.h"

#define WRIT_BUNDLE_LINE_MAX ((size_t)WRIT_RECORD_MAX_BYTES + 65536) /* longest line */
#define WRIT_BUNDLE_FAULTY   1000 /* runs that are named because they lack something */

/** The selection. A view without ptr does not select. Times are texts of RFC 3339. */
struct writ_bundle_select {
    struct writ_view tenant, boundary_id, agent_id;
    struct writ_view since, until; /* records of this time or later; of before this time */
    struct writ_view at;           /* adds the phase of every decision at this time */
};

/** The counts over the records of a bundle. */
struct writ_bundle_report {
    uint64_t records, decisions, outcomes, seals, reviews; /* shown */
    uint64_t withheld;
    uint64_t skipped;    /* records of the log that are not in the bundle */
    uint64_t inside;     /* of them, between the first and the last record of the bundle */
    uint64_t unmatched;  /* outcomes without their decision in the bundle */
    uint64_t in_flight;  /* decisions that could have an outcome, without one in the bundle */
    uint64_t twice;      /* decisions whose key another call had claimed */
    uint64_t boundaries; /* runs with a decision or a seal */
    uint64_t faulty;     /* of them: a seq missing, twice or miscounted, or another seal */
    uint64_t unsealed;   /* of them */
};

struct writ_bundle;

/**
 * Begins a bundle: appends its first line.
 *
 * @param keys  vkeys, a line each
 * @param note  the signed checkpoint, which `head` was read from
 * @param ret   new, free with writ_bundle_free
 *
 * @return WRIT_OK
 *         WRIT_E_INVALID  a malformed time
 *         WRIT_E_LIMIT, WRIT_E_NOMEM, WRIT_E_CRYPTO
 */
WRIT_RESULT writ_bundle_begin(const struct writ_bundle_select *select, struct writ_view keys,
    struct writ_view note, const struct writ_checkpoint *head, struct writ_buf *out,
    struct writ_bundle **ret, struct writ_err *err);
/** NULL is permitted. */
void writ_bundle_free(struct writ_bundle *bundle);

/** The index of the next leaf. */
uint64_t writ_bundle_next(const struct writ_bundle *bundle);

/**
 * Adds the next leaf, a record, and appends its line with what follows from it.
 *
 * @param body     canonical
 * @param ret_why  EVIDENCE_OK, or the reason against the record: RECORD_INVALID,
 *                 RECORD_DIGEST_MISMATCH, RECORD_FOREIGN, OUTCOME_MISMATCH. Written on WRIT_OK
 *
 * @return WRIT_OK
 *         WRIT_E_LIMIT  over WRIT_BUNDLE_LIVE_MAX
 *         WRIT_E_NOMEM, WRIT_E_CRYPTO
 */
WRIT_RESULT writ_bundle_record(struct writ_bundle *bundle, enum writ_detached_record_kind kind,
    struct writ_view body, struct writ_buf *out, enum writ_reason *ret_why, struct writ_err *err);

/** The public part of a withheld record. Only the seal of its run proves the members beside its
 * digest. */
struct writ_bundle_withheld {
    enum writ_detached_record_kind kind;
    struct writ_digest leaf;
    struct writ_view decision_id;         /* ptr NULL: a seal */
    struct writ_view tenant, boundary_id; /* of a decision; else ptr NULL */
    uint64_t seq;                         /* of a decision */
};

/** Adds the next leaf as withheld. As writ_bundle_record. */
WRIT_RESULT writ_bundle_withhold(struct writ_bundle *bundle,
    const struct writ_bundle_withheld *withheld, struct writ_buf *out, struct writ_err *err);

/** Adds the next 2^level leaves, none of the bundle. WRIT_E_INVALID where the tree cannot have such
 * a node; WRIT_E_LIMIT, WRIT_E_NOMEM, WRIT_E_CRYPTO. */
WRIT_RESULT writ_bundle_node(struct writ_bundle *bundle, unsigned level,
    const struct writ_digest *digest, struct writ_buf *out, struct writ_err *err);

/** Ends: appends the last lines. *ret_why is RECORD_NOT_IN_LOG when the tree differs from that of
 * the checkpoint, else EVIDENCE_OK. WRIT_E_LIMIT, WRIT_E_NOMEM, WRIT_E_CRYPTO. */
WRIT_RESULT writ_bundle_end(struct writ_bundle *bundle, struct writ_buf *out,
    struct writ_bundle_report *ret, enum writ_reason *ret_why, struct writ_err *err);

#endif
