/* derive.h - the members of records that a profile gives: the digests of a decision and of an
 * outcome, the identity of a call beside them, and the check that a record's own digests
 * recompute. */
#ifndef WRIT_EVIDENCE_DERIVE_H
#define WRIT_EVIDENCE_DERIVE_H

#include "base/clock.h"
#include "evidence/json/digest.h"
#include "evidence/record/decision.h"
#include "evidence/record/outcome.h"

struct writ_profile;

/**
 * Fills intent_digest and intent_ref, and normalization_id where absent. A field whose preimage
 * lacks a required value stays absent (a deny without scope has no intent_ref).
 *
 * @param decision  agent_id, tool, params_hash, normalized_scope, target_state_digest (and, for
 *                  algovoi-v1, idempotency_key) are set before
 *
 * @return WRIT_OK
 *         WRIT_E_LIMIT   a preimage is longer than WRIT_PROFILE_MAX_PREIMAGE
 *         WRIT_E_NOMEM, WRIT_E_CRYPTO
 */
WRIT_RESULT writ_decision_derive(struct writ_decision *decision, const struct writ_profile *profile,
    struct writ_arena *arena, struct writ_err *err);

/**
 * The identity of a call without the target's state: H({tenant, agent_id, upstream, tool,
 * normalized_scope, params_hash}). A member without value and an empty view become null.
 * WRIT_E_LIMIT, WRIT_E_NOMEM, WRIT_E_CRYPTO.
 */
WRIT_RESULT writ_decision_state_free(const struct writ_decision *decision, struct writ_view tenant,
    struct writ_view upstream, struct writ_digest *ret, struct writ_err *err);

/** The idempotency key of a call without its own: "auto:" + H({boundary_id, state_free}), with
 * state_free as its text. WRIT_E_LIMIT, WRIT_E_NOMEM, WRIT_E_CRYPTO. */
WRIT_RESULT writ_decision_auto_key(struct writ_view boundary_id,
    const struct writ_digest *state_free, struct writ_arena *arena, struct writ_member_text *ret,
    struct writ_err *err);

/**
 * Places the record: sets seq, running_count, issued_at, expires_at (null for a lifetime of 0),
 * then receipt_ref and decision_context_hash, which contain them. Changes nothing on failure.
 *
 * @param seq          position in the boundary, below WRIT_DECISION_SEQ_MAX
 * @param issued_at_us wall time
 * @param lifetime_us  0, or the lifetime of an authorization
 *
 * @return as writ_decision_derive
 */
WRIT_RESULT writ_decision_place(struct writ_decision *decision, const struct writ_profile *profile,
    uint64_t seq, int64_t issued_at_us, int64_t lifetime_us, struct writ_arena *arena,
    struct writ_err *err);

/**
 * The intent_ref from the record's own members, whatever the record states.
 *
 * @param ret           its text; untouched when not complete
 * @param ret_complete  false: a required member is absent
 *
 * @return as writ_decision_derive
 */
WRIT_RESULT writ_decision_intent_ref(const struct writ_decision *decision,
    const struct writ_profile *profile, char ret[WRIT_DIGEST_TEXT], bool *ret_complete,
    struct writ_err *err);

/**
 * Derives every digest of the record again and adds a fault for each that differs. An absent digest
 * is not a fault here. params_hash is not checked: the arguments are not in the record. For records
 * from outside and from the ledger.
 *
 * @return as writ_decision_derive
 */
WRIT_RESULT writ_decision_recompute(const struct writ_decision *decision,
    const struct writ_profile *profile, struct writ_faults *ret, struct writ_err *err);

/** The members that the ledger gives an outcome. A call that ran has its outcome whatever memory is
 * left for its request. */
struct writ_outcome_texts {
    char completed_at[WRIT_TIME_TEXT], receipt_ref[WRIT_DIGEST_TEXT];
};

/**
 * Sets completed_at, then receipt_ref (null when the decision has no intent_ref). Changes nothing
 * on failure.
 *
 * @param texts  must live as long as the outcome
 *
 * @return as writ_decision_place
 */
WRIT_RESULT writ_outcome_place(struct writ_outcome *outcome, const struct writ_decision *decision,
    const struct writ_profile *profile, int64_t completed_at_us, struct writ_outcome_texts *texts,
    struct writ_err *err);

/**
 * Joins an outcome with its decision: the same decision_id, and an intent_ref that recomputes from
 * the decision's own members. Where both records have idempotency_key, boundary_id or seq, these
 * must be equal too. A decision without intent_ref joins by decision_id, with an outcome without
 * one.
 *
 * @return WRIT_OK        they belong together
 *         WRIT_E_MISMATCH  they do not; err names the member
 *         WRIT_E_LIMIT, WRIT_E_NOMEM, WRIT_E_CRYPTO
 */
WRIT_RESULT writ_outcome_join(const struct writ_outcome *outcome,
    const struct writ_decision *decision, const struct writ_profile *profile, struct writ_err *err);

/** As writ_outcome_join, with an intent_ref that was derived from the decision: nothing is
 * recomputed, and both records must state it. WRIT_E_MISMATCH. */
WRIT_RESULT writ_outcome_join_known(const struct writ_outcome *outcome,
    const struct writ_decision *decision, struct writ_view intent_ref, struct writ_err *err);

#endif
