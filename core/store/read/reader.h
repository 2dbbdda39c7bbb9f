/* reader.h - reads a ledger, also while a gateway writes it, through a read-only connection of its
 * own. Nothing here changes the ledger or delays the writer.
 *
 * One reader is for one thread. Everything blocks on the disk. Views that a callback gets are
 * borrowed until it returns. */
#ifndef WRIT_STORE_READER_H
#define WRIT_STORE_READER_H

#include "evidence/proof/completeness.h"
#include "evidence/proof/detached_record.h"
#include "evidence/record/fact.h"
#include "evidence/record/record.h"
#include "store/read/joined.h"

#define WRIT_READER_EXPORT_MAX (1U << 24) /* decisions of one export */

struct writ_reader;

/**
 * Opens a ledger to read. As writ_ledger_open, but takes no lock and checks no record.
 *
 * @return WRIT_OK
 *         WRIT_E_ABSENT, WRIT_E_INVALID, WRIT_E_PARSE, WRIT_E_BUSY, WRIT_E_IO, WRIT_E_NOMEM
 */
WRIT_RESULT writ_reader_open(const char *path, struct writ_reader **ret, struct writ_err *err);
/** Opens a ledger together with its archive: the records of one run or call, or of all, as
 * joined.h says. It reads as the ledger at the time of the opening. As writ_joined_connect. */
WRIT_RESULT writ_reader_open_joined(
    const struct writ_joined_order *order, struct writ_reader **ret, struct writ_err *err);
/** NULL is permitted. */
void writ_reader_close(struct writ_reader *reader);

/** Frees at the end of the scope: writ_auto_reader x = NULL; */
#define writ_auto_reader WRIT_AUTO(struct writ_reader *, writ_reader_release)

static inline void
writ_reader_release(struct writ_reader **reader)
{
    writ_reader_close(*reader);
}

/** Which decisions. Zeroed: all. A view without ptr does not filter. */
struct writ_reader_filter {
    struct writ_view tenant, boundary_id, agent_id, tool;
    bool has_route; /* false: any verdict */
    enum writ_decision_route route;
    int64_t since_us, until_us;      /* issued at or after, and before; 0: any */
    uint64_t from_leaf, before_leaf; /* index at or after, and before; 0: any */
    size_t limit;                    /* most decisions; 0: all */
};

/** One decision in a list. */
struct writ_reader_item {
    uint64_t leaf;
    struct writ_view decision_id, tenant, boundary_id, agent_id, tool;
    enum writ_decision_route route;
    bool granted;
    uint64_t seq;
    int64_t issued_at_us;
    bool superseded; /* a later round of the same call has the outcome */
    bool has_outcome;
    enum writ_outcome_kind outcome;
    uint64_t outcome_leaf;
    int64_t completed_at_us;
    bool sealed;
};

/** Calls `each` for the decisions that the filter admits, newest first, until it returns false.
 * WRIT_E_IO, WRIT_E_BUSY, WRIT_E_NOMEM. */
WRIT_RESULT writ_reader_list(struct writ_reader *reader, const struct writ_reader_filter *filter,
    bool (*each)(void *ctx, const struct writ_reader_item *item), void *ctx, struct writ_err *err);

/** A decision or an outcome, as sums need it. */
struct writ_reader_record {
    uint64_t leaf;
    bool is_outcome;
    bool granted;     /* its decision */
    unsigned verdict; /* enum writ_decision_route, or enum writ_outcome_kind */
    int64_t time_us;
    struct writ_view tenant, body;
    uint64_t decision_leaf; /* of its decision: writ_reader_record has the text */
    int64_t issued_at_us;   /* of its decision */
};

/** Calls `each` for all decisions and outcomes from index `from_leaf` to before `before_leaf`, in
 * their order, until it returns false. WRIT_E_IO, WRIT_E_BUSY, WRIT_E_NOMEM. */
WRIT_RESULT writ_reader_records(struct writ_reader *reader, uint64_t from_leaf,
    uint64_t before_leaf, bool (*each)(void *ctx, const struct writ_reader_record *record),
    void *ctx, struct writ_err *err);

/** Calls `each` for the decisions that have a record in [from_leaf, before_leaf), their own, their
 * outcome or one of their review, the oldest first, until it returns false. WRIT_E_IO, WRIT_E_BUSY,
 * WRIT_E_NOMEM. */
WRIT_RESULT writ_reader_changed(struct writ_reader *reader, uint64_t from_leaf,
    uint64_t before_leaf, bool (*each)(void *ctx, const struct writ_reader_item *item), void *ctx,
    struct writ_err *err);

/** The text of the record at that place of the log, in the arena; also from the callback of a list.
 * WRIT_E_MISMATCH when it is not there; WRIT_E_IO, WRIT_E_BUSY, WRIT_E_NOMEM. */
WRIT_RESULT writ_reader_record(struct writ_reader *reader, uint64_t leaf, struct writ_arena *arena,
    struct writ_view *ret, struct writ_err *err);

/** A call in the ledger. Texts are canonical records, in the arena. */
struct writ_reader_call {
    uint64_t leaf;
    struct writ_view tenant, boundary_id, decision;
    struct writ_view superseded_by; /* decision_id of the next round; empty: none */
    bool has_outcome;
    uint64_t outcome_leaf;
    struct writ_view outcome;
    bool sealed;
    uint64_t seal_leaf;
    struct writ_view seal;
};

/** The call with that decision_id. WRIT_E_ABSENT when there is none; WRIT_E_IO, WRIT_E_BUSY,
 * WRIT_E_NOMEM. */
WRIT_RESULT writ_reader_show(struct writ_reader *reader, struct writ_view decision_id,
    struct writ_arena *arena, struct writ_reader_call *ret, struct writ_err *err);

#define WRIT_READER_STORY_MAX 1024 /* decisions of one call */

/**
 * Calls `each` for all records of the call that a decision belongs to: from the first decision that
 * it supersedes, over several, to the last round that follows it; of each the decision first, then
 * the records about it, in the order of the log. Stops when `each` returns false.
 *
 * @return WRIT_OK
 *         WRIT_E_ABSENT    no decision of that id
 *         WRIT_E_LIMIT     more than WRIT_READER_STORY_MAX decisions
 *         WRIT_E_MISMATCH  a record is not readable: see writ_verify_ledger
 *         WRIT_E_IO, WRIT_E_BUSY, WRIT_E_NOMEM
 */
WRIT_RESULT writ_reader_story(struct writ_reader *reader, struct writ_view decision_id,
    bool (*each)(
        void *ctx, uint64_t leaf, enum writ_detached_record_kind kind, struct writ_view record),
    void *ctx, struct writ_err *err);

/**
 * Calls `each` for all facts (evidence/record/fact.h), in their order.
 *
 * @param each  its failure stops the reading; its arguments are borrowed for the call
 *
 * WRIT_E_MISMATCH: one is missing, or not readable; WRIT_E_IO, WRIT_E_BUSY, WRIT_E_NOMEM, and the
 * failure of `each`.
 */
WRIT_RESULT writ_reader_facts(struct writ_reader *reader,
    WRIT_RESULT (*each)(void *ctx, const struct writ_fact *fact, struct writ_err *err), void *ctx,
    struct writ_err *err);

/** A session's row (entry.h), expired or not; its value in the arena. WRIT_E_ABSENT: there is none;
 * WRIT_E_IO, WRIT_E_BUSY, WRIT_E_NOMEM. */
WRIT_RESULT writ_reader_session(struct writ_reader *reader, const struct writ_digest *hash,
    struct writ_arena *arena, struct writ_view *ret_value, int64_t *ret_expires_us,
    struct writ_err *err);

/** Calls `each` with the names of the live gateways of a shared ledger, without the one that has
 * that epoch, which do not say yet that they know the fact at index `leaf`, until it returns false.
 * A gateway whose lease is over sends no call before it knows. A ledger that one process writes has
 * none. WRIT_E_IO, WRIT_E_BUSY, WRIT_E_NOMEM. */
WRIT_RESULT writ_reader_unheard(struct writ_reader *reader, uint64_t leaf, uint64_t but_epoch,
    bool (*each)(void *ctx, struct writ_view gateway), void *ctx, struct writ_err *err);

/** How much a ledger holds. */
struct writ_reader_extent {
    uint64_t records;
    int64_t last_us; /* the time of the last record; 0 without records */
    uint64_t recent; /* records at or after the time that was asked for; 0: all */
};

/** Counts the records. Takes as many reads as the number of records has digits in base 2.
 * WRIT_E_MISMATCH when a record is missing; WRIT_E_IO, WRIT_E_BUSY, WRIT_E_NOMEM. */
WRIT_RESULT writ_reader_extent(struct writ_reader *reader, int64_t since_us,
    struct writ_reader_extent *ret, struct writ_err *err);

/** A review in the ledger. Texts are canonical records, in the arena. */
struct writ_reader_review {
    struct writ_view decision;       /* that opened it */
    const struct writ_view *records; /* its own, in their order; at least one */
    size_t records_n;
    struct writ_view arguments;  /* of the call; ptr NULL: no longer kept */
    struct writ_view conditions; /* conditions of the policy that need the approval, as JSON; empty:
                                    none, or no longer kept */
    struct writ_view candidates; /* what voters see of each, as JSON; as conditions */
};

/** The review of that id. WRIT_E_ABSENT when there is none; WRIT_E_MISMATCH when the arguments do
 * not have the digest of its first record; WRIT_E_LIMIT, WRIT_E_IO, WRIT_E_BUSY, WRIT_E_NOMEM. */
WRIT_RESULT writ_reader_review(struct writ_reader *reader, struct writ_view id,
    struct writ_arena *arena, struct writ_reader_review *ret, struct writ_err *err);

/** Calls `each` with the ids of the reviews that are open or have just ended, the oldest first,
 * until it returns false; it may read from the same reader. WRIT_E_LIMIT, WRIT_E_IO, WRIT_E_BUSY,
 * WRIT_E_NOMEM. */
WRIT_RESULT writ_reader_reviews(struct writ_reader *reader,
    bool (*each)(void *ctx, struct writ_view id), void *ctx, struct writ_err *err);

/** How many reviews are open or approved; of that tenant and agent, where ptr is not NULL.
 * WRIT_E_IO, WRIT_E_BUSY, WRIT_E_NOMEM. */
WRIT_RESULT writ_reader_reviews_waiting(struct writ_reader *reader, struct writ_view tenant,
    struct writ_view agent_id, uint64_t *ret, struct writ_err *err);

/**
 * Calls `each` for all records of a boundary in the order of the log, and judges whether its
 * decisions are whole (completeness.h).
 *
 * @param tenant  ptr NULL: the only tenant that has a boundary of that name
 * @param each    ends the export when it returns false; `ret` then covers the records so far
 * @param arena   holds the ids of all decisions and the report
 *
 * @return WRIT_OK
 *         WRIT_E_ABSENT    no such boundary
 *         WRIT_E_INVALID   several tenants have a boundary of that name
 *         WRIT_E_MISMATCH  a record is not readable: see writ_verify_ledger; or its first records
 *                          were removed
 *         WRIT_E_LIMIT     more decisions than a completeness set takes
 *         WRIT_E_IO, WRIT_E_BUSY, WRIT_E_NOMEM, WRIT_E_CRYPTO
 */
WRIT_RESULT writ_reader_export(struct writ_reader *reader, struct writ_view tenant,
    struct writ_view boundary_id,
    bool (*each)(
        void *ctx, uint64_t leaf, enum writ_detached_record_kind kind, struct writ_view record),
    void *ctx, struct writ_arena *arena, struct writ_completeness *ret, struct writ_err *err);

/**
 * Calls `each` for the records of a boundary from index `from` on, in the order of the log, until
 * it returns false. What was read before needs no second reading: the log only grows.
 *
 * @param from       0: all of the boundary; else the `until` of an earlier call
 * @param ret_until  how many records the ledger had then; written only on success
 *
 * A boundary that has no records yet gives none.
 *
 * @return WRIT_OK
 *         WRIT_E_MISMATCH  records from `from` on were removed, or the ledger has fewer than that
 *         WRIT_E_IO, WRIT_E_BUSY, WRIT_E_NOMEM
 */
WRIT_RESULT writ_reader_since(struct writ_reader *reader, struct writ_view tenant,
    struct writ_view boundary_id, uint64_t from,
    bool (*each)(
        void *ctx, uint64_t leaf, enum writ_detached_record_kind kind, struct writ_view record),
    void *ctx, uint64_t *ret_until, struct writ_err *err);

#endif
