/* completeness.h - whether a set of decisions is complete (docs/evidence.md, "What a reader
 * checks").
 *
 * Add every decision of a boundary, and its seal if it has one, in any order; then ask for the
 * report. It names the missing, repeated, miscounted and foreign records. A dropped suffix together
 * with its seal stays invisible. */
#ifndef WRIT_EVIDENCE_COMPLETENESS_H
#define WRIT_EVIDENCE_COMPLETENESS_H

#include "evidence/json/write.h"
#include "evidence/record/decision.h"
#include "evidence/record/seal.h"

/** Seqs from first to last, both included. */
struct writ_seq_range {
    uint64_t first, last;
};

/** The reason why the seal proves nothing. */
enum writ_seal_flaw {
    WRIT_SEAL_SOUND = 0,
    WRIT_SEAL_INVALID,      /* fails validation, for example without a total */
    WRIT_SEAL_FOREIGN,      /* belongs to another boundary than the records */
    WRIT_SEAL_UNBOUND,      /* carries no boundary, though records do */
    WRIT_SEAL_SECOND,       /* another seal contradicts it */
    WRIT_SEAL_HASH_DIFFERS, /* seal_hash does not cover the decision ids */
};

/** Numbers in the arena: seqs, or positions of records. */
struct writ_completeness_list {
    const uint64_t *items;
    size_t count;
};

/** The report on a set. Lists of seqs are sorted and without repeats; lists of records hold the
 * positions, from 0, in which they were added. */
struct writ_completeness {
    bool whole;
    bool sealed; /* a seal was added */
    enum writ_seal_flaw seal_flaw;
    uint64_t held;     /* records added */
    uint64_t expected; /* max(max seq + 1, max running_count, seal.total) */
    uint64_t missing_total;
    const struct writ_seq_range *missing; /* seqs below expected that no record has */
    size_t missing_count;
    struct writ_completeness_list duplicates; /* seqs that several records have */
    struct writ_completeness_list miscounted; /* seqs whose running_count is not seq + 1 */
    struct writ_completeness_list unnumbered; /* records without a seq */
    struct writ_completeness_list foreign;    /* records of another boundary than the first one */
    struct writ_completeness_list unbound;    /* records without boundary, though others have one */
};

/** Collects a set of records. Grows by about 64 bytes for each; for one thread. */
struct writ_completeness_set;

/** A new, empty set for at most `max` records; free with writ_completeness_free. NULL without
 * memory. */
struct writ_completeness_set *writ_completeness_new(size_t max);
/** NULL is permitted. */
void writ_completeness_free(struct writ_completeness_set *set);

/**
 * Adds one decision. Its boundary_id and decision_id are borrowed until the set is freed; the rest
 * is not read again.
 *
 * @return WRIT_OK
 *         WRIT_E_LIMIT  the set has its maximum of records
 *         WRIT_E_NOMEM
 */
WRIT_RESULT writ_completeness_add(
    struct writ_completeness_set *set, const struct writ_decision *decision, struct writ_err *err);

/** Adds a seal; copied, its views are borrowed until the set is freed. A second seal that
 * contradicts the first is a flaw. */
void writ_completeness_seal(struct writ_completeness_set *set, const struct writ_seal *seal);

/**
 * Judges the set.
 *
 * @param arena  takes the lists, 8 bytes for each record that is at fault
 *
 * @return WRIT_OK  also for an incomplete set
 *         WRIT_E_NOMEM, WRIT_E_CRYPTO
 */
WRIT_RESULT writ_completeness_report(const struct writ_completeness_set *set,
    struct writ_arena *arena, struct writ_completeness *ret, struct writ_err *err);

/**
 * Whether the set was complete at a time, as recorded by then: over the records that were issued at
 * or before `until_us`, and the seal if it was written by then. A record without a readable time
 * counts as there. For the phase of a decision (decision_validity.h).
 *
 * @return WRIT_OK, WRIT_E_NOMEM, WRIT_E_CRYPTO
 */
WRIT_RESULT writ_completeness_until(const struct writ_completeness_set *set, int64_t until_us,
    struct writ_arena *arena, bool *ret_whole, struct writ_err *err);

/** "sound", "invalid", "foreign", "unbound", "second", "hash_differs". Static storage. */
struct writ_view writ_completeness_flaw_name(enum writ_seal_flaw flaw);

/** Appends the report as one canonical JSON object. WRIT_E_LIMIT, WRIT_E_NOMEM of the buffer. */
WRIT_RESULT writ_completeness_put(
    const struct writ_completeness *report, struct writ_buf *ret, struct writ_err *err);

/** Writes the member `missing`: each gap as [first, last]. */
void writ_completeness_put_missing(struct writ_write *w, const struct writ_completeness *report);

#endif
