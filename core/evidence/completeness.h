/* completeness.h - is a held set of decisions whole? (contract 5)
 *
 * Add every decision of a boundary, and its seal if there is one, in any order; then ask. The
 * report names what is missing, double, miscounted or foreign; it is never only yes or no. What
 * stays invisible is a dropped suffix together with its seal. */
#ifndef WRIT_EVIDENCE_COMPLETENESS_H
#define WRIT_EVIDENCE_COMPLETENESS_H

#include "evidence/decision.h"
#include "evidence/seal.h"

/** Seqs from first to last, both included. */
struct writ_seq_range {
    uint64_t first, last;
};

/** Why the seal itself is no witness. */
enum writ_seal_flaw {
    WRIT_SEAL_SOUND = 0,
    WRIT_SEAL_INVALID,      /* it fails validation, such as a total that is missing */
    WRIT_SEAL_FOREIGN,      /* it is of another boundary than the records */
    WRIT_SEAL_UNBOUND,      /* it carries no boundary, though records do */
    WRIT_SEAL_SECOND,       /* there is another seal that says something else */
    WRIT_SEAL_HASH_DIFFERS, /* seal_hash is not that of the decision ids */
};

/** What a held set is. Lists of seqs are sorted; lists of records hold the positions, from 0, in
 * which they were added. All lists are in the arena. */
struct writ_completeness {
    bool whole;
    bool sealed;       /* a seal was added */
    uint64_t held;     /* records added */
    uint64_t expected; /* max(max seq + 1, max running_count, seal.total) */
    enum writ_seal_flaw seal_flaw;
    const struct writ_seq_range *missing;
    size_t missing_ranges;
    uint64_t missing_total;
    const uint64_t *duplicates; /* seqs that are there more than once */
    size_t duplicates_count;
    const uint64_t *miscounted; /* seqs whose running_count is not seq + 1 */
    size_t miscounted_count;
    const uint64_t *unnumbered; /* records without a seq or running_count of their type */
    size_t unnumbered_count;
    const uint64_t *foreign; /* records of another boundary than the first that carries one */
    size_t foreign_count;
    const uint64_t *unbound; /* records without a boundary, though others carry one */
    size_t unbound_count;
};

/** Collects a set. Zeroed is empty; wipe to free. */
struct writ_held_set;

/** A new, empty set; free with writ_completeness_free. NULL when there is no memory. */
struct writ_held_set *writ_completeness_new(void);
void writ_completeness_free(struct writ_held_set *set);

/**
 * Adds one decision. Its views are borrowed until the set is freed.
 *
 * @return WRIT_OK
 *         WRIT_E_LIMIT  over WRIT_COMPLETENESS_MAX records
 *         WRIT_E_NOMEM
 */
WRIT_RESULT writ_completeness_add(
    struct writ_held_set *set, const struct writ_decision *decision, struct writ_err *err);
#define WRIT_COMPLETENESS_MAX (1U << 26)

/** Adds the seal; borrowed until the set is freed. */
void writ_completeness_seal(struct writ_held_set *set, const struct writ_seal *seal);

/**
 * Judges the set.
 *
 * @return WRIT_OK  also for a set that is not whole
 *         WRIT_E_NOMEM, WRIT_E_CRYPTO
 */
WRIT_RESULT writ_completeness_report(const struct writ_held_set *set, struct writ_arena *arena,
    struct writ_completeness *ret, struct writ_err *err);

/** Appends the report as one canonical JSON object. */
void writ_completeness_put(const struct writ_completeness *report, struct writ_buf *ret);

#endif
