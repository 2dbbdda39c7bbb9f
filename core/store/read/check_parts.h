/* check_parts.h - what the checks of a record share: the boundaries that are open and the calls
 * without outcome at the present record, and comparisons. Only for check_record.c and the files of
 * the kinds of records; check.h is for all parts of a verification.
 *
 * The record that ends a call or a boundary frees its memory. */
#ifndef WRIT_STORE_CHECK_PARTS_H
#define WRIT_STORE_CHECK_PARTS_H

#include "store/read/check.h"

/** A boundary that is open. */
struct writ_check_run {
    struct writ_map_node by_id;
    uint64_t id, first_leaf;
    bool partial; /* it began before the first record that is read */
    bool seq_known;
    uint64_t next_seq;
    uint64_t seal_leaf; /* as its row says; UINT64_MAX: none */
    size_t calls;       /* without outcome */
    struct writ_seal_hash hash;
    struct writ_view tenant, name;
    char text[];
};

/** The claim of a call. */
struct writ_check_claimed {
    bool is;
    struct writ_tag key;
};

/** A decision without outcome. */
struct writ_check_call {
    struct writ_map_node by_leaf, by_id;
    uint64_t leaf;
    struct writ_check_run *run;
    bool granted;
    struct writ_check_claimed claimed;
};

/** The first record with a decision_id. */
struct writ_check_first {
    uint64_t leaf, seq; /* UINT64_MAX both: there is none */
    bool is_decision;   /* false: of another kind */
};

/* ---- check_parts.c ---- */

/** Separates a record that cannot be read (*ret is false) from a lack of memory: WRIT_E_NOMEM. */
WRIT_RESULT writ_check_parts_readable(struct writ_check *v, writ_result result, bool *ret);
/** Reports a record that a ledger would not write, as `said` found (*ret is false); any other
 * failure is an error. */
WRIT_RESULT writ_check_parts_writable(struct writ_check *v, writ_result said, bool *ret);
/** Runs a statement that counts, whose parameters are bound: an index that must find the present
 * record finds it once; else `what` is reported. WRIT_E_IO, WRIT_E_BUSY. */
WRIT_RESULT writ_check_parts_found(
    struct writ_check *v, enum writ_check_statement which, const char *what);
/** Reports the faults of the present record, if it has any. */
void writ_check_parts_expect_no_faults(struct writ_check *v, const struct writ_faults *faults);
/** Whether a member is equal to a column; an absent text is equal to an empty one. */
bool writ_check_parts_same_text(const struct writ_member_text *member, struct writ_view text);
bool writ_check_parts_same_time(const struct writ_member_text *member, int64_t time_us);
bool writ_check_parts_same_number(const struct writ_member_number *member, uint64_t number);
/** Whether a record was removed, and is not read from an archive. */
bool writ_check_parts_is_unread(const struct writ_check *v, uint64_t leaf);
/** Finds the first record with that decision_id by the index. WRIT_E_IO, WRIT_E_BUSY,
 * WRIT_E_NOMEM. */
WRIT_RESULT writ_check_parts_find_first(
    struct writ_check *v, struct writ_view id, struct writ_check_first *ret);
/** Reads the decision that the present record is about; *ret_read is false when it is not readable,
 * which was reported. WRIT_E_IO, WRIT_E_BUSY, WRIT_E_NOMEM. */
WRIT_RESULT writ_check_parts_read_decision(
    struct writ_check *v, struct writ_decision *ret, bool *ret_read);

/* ---- check_boundary.c ---- */

/** The boundary of the present record; NULL when there is none, which was reported. WRIT_E_LIMIT,
 * WRIT_E_IO, WRIT_E_BUSY, WRIT_E_NOMEM, WRIT_E_CRYPTO. */
WRIT_RESULT writ_check_parts_find_run(struct writ_check *v, struct writ_check_run **ret);
void writ_check_parts_free_run(struct writ_check *v, struct writ_check_run *run);
/** Checks the present record, a seal. As writ_check_record. */
WRIT_RESULT writ_check_parts_seal(struct writ_check *v, const struct writ_json *value);

/* ---- check_decision.c ---- */

/** Checks the present record, a decision. As writ_check_record. */
WRIT_RESULT writ_check_parts_decision(struct writ_check *v, const struct writ_json *value);

/* ---- check_outcome.c ---- */

/** Notes that the present decision must have an outcome, or another decision that follows it.
 * WRIT_E_LIMIT, WRIT_E_NOMEM, WRIT_E_CRYPTO. */
WRIT_RESULT writ_check_parts_await_outcome(
    struct writ_check *v, struct writ_check_run *run, const struct writ_check_claimed *claimed);
/** The decision at that index, when it has no outcome; else NULL. */
struct writ_check_call *writ_check_parts_find_call(struct writ_check *v, uint64_t leaf);
/** The decision of that id, when it has no outcome; only with an archive, else NULL.
 * WRIT_E_CRYPTO. */
WRIT_RESULT writ_check_parts_find_named(
    struct writ_check *v, struct writ_view id, struct writ_check_call **ret);
void writ_check_parts_free_call(struct writ_check *v, struct writ_check_call *call);
/** Checks the present record, an outcome. As writ_check_record. */
WRIT_RESULT writ_check_parts_outcome(struct writ_check *v, const struct writ_json *value);

/* ---- check_fact.c ---- */

/** Checks the present record, a fact. As writ_check_record. */
WRIT_RESULT writ_check_parts_fact(struct writ_check *v, const struct writ_json *value);

#endif
