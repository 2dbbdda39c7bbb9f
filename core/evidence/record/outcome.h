/* outcome.h - GovernanceOutcome: the record of the result of a call. */
#ifndef WRIT_EVIDENCE_OUTCOME_H
#define WRIT_EVIDENCE_OUTCOME_H

#include "evidence/record/faults.h"
#include "evidence/record/member.h"

struct writ_decision;

/** The word in the member `outcome`. Zero proves nothing: the call may have run. */
enum writ_outcome_kind {
#define KIND(NAME, word) WRIT_OUTCOME_##NAME,
    WRIT_OUTCOME_KINDS(KIND)
#undef KIND
};
#define WRIT_OUTCOME_KINDS_N (0 WRIT_OUTCOME_KINDS(WRIT_RECORD_ONE))

/** Zero-initialised: a record without any member. Fields as in member.tbl.h. */
struct writ_outcome {
    WRIT_OUTCOME_MEMBERS(WRIT_MEMBER_FIELD)
    struct writ_member_others others;
};

/** error_type of an error before the first byte reached the upstream: nothing ran. */
#define WRIT_OUTCOME_NOT_SENT "not_sent"
/** error_type of a call that was in flight when the gateway died: it may have run. */
#define WRIT_OUTCOME_INTERRUPTED "interrupted_execution_unknown"

/** "executed", "blocked", "error", "timeout". Static storage. */
struct writ_view writ_outcome_kind_name(enum writ_outcome_kind kind);

/** The kind of that name. False: not a kind; `ret` is untouched. */
bool writ_outcome_kind_find(struct writ_view name, enum writ_outcome_kind *ret);

/** The kind of a record. False: none, or an unknown one; `ret` is untouched. */
bool writ_outcome_kind_of(const struct writ_outcome *outcome, enum writ_outcome_kind *ret);

/** The member `outcome` of that kind. */
struct writ_member_text writ_outcome_kind_text(enum writ_outcome_kind kind);

/** True when the record is of that kind; an unknown word is of no kind. */
bool writ_outcome_is(const struct writ_outcome *outcome, enum writ_outcome_kind kind);

/** True when it proves that nothing ran: `blocked`, or `error` with error_type `not_sent`. Such an
 * outcome occupies no key and releases its claim. */
bool writ_outcome_nothing_ran(const struct writ_outcome *outcome);

/** As writ_decision_read. */
WRIT_RESULT writ_outcome_read(const struct writ_json *value, struct writ_arena *arena,
    struct writ_outcome *ret, struct writ_err *err);

/** As writ_decision_put. */
WRIT_RESULT writ_outcome_put(
    const struct writ_outcome *outcome, struct writ_buf *ret, struct writ_err *err);

/** As writ_decision_validate. */
void writ_outcome_validate(const struct writ_outcome *outcome, struct writ_faults *ret);

/** A new outcome for a decision: decision_id, intent_ref (null if it has none), idempotency_key,
 * boundary_id and seq are the decision's, and tool_output_hash is null. The views are borrowed from
 * the decision. */
struct writ_outcome writ_outcome_for(
    const struct writ_decision *decision, enum writ_outcome_kind kind);

#endif
