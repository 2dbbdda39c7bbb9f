/* decision.h - GovernanceDecision: the record of a verdict, made before the call (contract 3).
 *
 * The life of one of ours: the members that describe the call are set, writ_decision_derive adds
 * the identity of the intent, writ_decision_identify the idempotency key, and when the ledger knows
 * position and time, writ_decision_place adds what depends on them. */
#ifndef WRIT_EVIDENCE_DECISION_H
#define WRIT_EVIDENCE_DECISION_H

#include "evidence/digest.h"
#include "evidence/faults.h"
#include "evidence/member.h"

struct writ_profile;

/** The seq that no decision reaches: running_count must stay an integer of I-JSON. */
#define WRIT_DECISION_SEQ_MAX (((uint64_t)1 << 53) - 1)

/** The verdict: the word in the member `decision`. */
enum writ_decision_route {
#define ROUTE(NAME, word) WRIT_DECISION_##NAME,
    WRIT_DECISION_ROUTES(ROUTE)
#undef ROUTE
};
#define WRIT_DECISION_ROUTES_N (0 WRIT_DECISION_ROUTES(WRIT_RECORD_ONE))

/** Zero-initialised: a record without any member. Fields as in record.tbl.h. */
struct writ_decision {
    WRIT_DECISION_MEMBERS(WRIT_MEMBER_FIELD)
    struct writ_member_others others;
};

/** "allow", "deny", "require_approval", "revise". Static storage. */
struct writ_view writ_decision_route_name(enum writ_decision_route route);

/** The verdict of that name. False: there is none; `ret` is untouched. */
bool writ_decision_route_find(struct writ_view name, enum writ_decision_route *ret);

/** The verdict of a record. False: it has none, or an unknown one; `ret` is untouched. */
bool writ_decision_route_of(const struct writ_decision *decision, enum writ_decision_route *ret);

/** The member `decision` for that verdict. */
struct writ_member_text writ_decision_route_text(enum writ_decision_route route);

/** True when the record has that verdict; a record with no verdict or an unknown one has none. */
bool writ_decision_is(const struct writ_decision *decision, enum writ_decision_route route);

/**
 * Reads a decision. Every member is kept; wrong ones are told by writ_decision_validate.
 *
 * @param value  borrowed as long as the record is used
 * @param ret    written only on success
 *
 * @return WRIT_OK
 *         WRIT_E_PARSE  not a JSON object
 *         WRIT_E_LIMIT  over WRIT_RECORD_MAX_OTHERS or WRIT_RECORD_MAX_ITEMS
 *         WRIT_E_NOMEM
 */
WRIT_RESULT writ_decision_read(const struct writ_json *value, struct writ_arena *arena,
    struct writ_decision *ret, struct writ_err *err);

/**
 * Appends the canonical form (RFC 8785), members of unknown names included.
 *
 * @return WRIT_OK
 *         WRIT_E_PARSE  a kept number has no canonical form
 *         WRIT_E_LIMIT, WRIT_E_NOMEM  of the buffer
 */
WRIT_RESULT writ_decision_put(
    const struct writ_decision *decision, struct writ_buf *ret, struct writ_err *err);

/** Checks types, formats and what the route needs (contract 3), and adds every fault to `ret`. A
 * record with a fault is never emitted and never honoured. */
void writ_decision_validate(const struct writ_decision *decision, struct writ_faults *ret);

/**
 * Fills intent_digest and intent_ref, and normalization_id where absent. A field whose preimage
 * lacks a value it cannot do without stays absent (a deny without scope has no intent_ref).
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
 * normalized_scope, params_hash}) (contract 6). A member without value and an empty view enter
 * as null. WRIT_E_LIMIT, WRIT_E_NOMEM, WRIT_E_CRYPTO.
 */
WRIT_RESULT writ_decision_state_free(const struct writ_decision *decision, struct writ_view tenant,
    struct writ_view upstream, struct writ_digest *ret, struct writ_err *err);

/** The idempotency key of a call that states none: "auto:" + H({boundary_id, state_free}), with
 * state_free as its text (contract 6). WRIT_E_LIMIT, WRIT_E_NOMEM, WRIT_E_CRYPTO. */
WRIT_RESULT writ_decision_auto_key(struct writ_view boundary_id,
    const struct writ_digest *state_free, struct writ_arena *arena, struct writ_member_text *ret,
    struct writ_err *err);

/**
 * Gives the record its place: seq, running_count, issued_at, expires_at (null for a lifetime of
 * 0), then receipt_ref and decision_context_hash, which contain them. Changes nothing on failure.
 *
 * @param seq          position in the boundary, below WRIT_DECISION_SEQ_MAX
 * @param issued_at_us wall time
 * @param lifetime_us  0, or how long an authorization lives
 *
 * @return as writ_decision_derive
 */
WRIT_RESULT writ_decision_place(struct writ_decision *decision, const struct writ_profile *profile,
    uint64_t seq, int64_t issued_at_us, int64_t lifetime_us, struct writ_arena *arena,
    struct writ_err *err);

/**
 * The intent_ref that follows from the record's own members, whatever it states itself.
 *
 * @param ret           its text; untouched when not complete
 * @param ret_complete  false: a member that it cannot do without is not there
 *
 * @return as writ_decision_derive
 */
WRIT_RESULT writ_decision_intent_ref(const struct writ_decision *decision,
    const struct writ_profile *profile, char ret[WRIT_DIGEST_TEXT], bool *ret_complete,
    struct writ_err *err);

/**
 * Derives every digest of the record anew and adds a fault for each that says something else. A
 * digest that is absent is no fault here. params_hash is taken as it is: the arguments are not in
 * the record. For records from outside and from the ledger.
 *
 * @return as writ_decision_derive
 */
WRIT_RESULT writ_decision_recompute(const struct writ_decision *decision,
    const struct writ_profile *profile, struct writ_faults *ret, struct writ_err *err);

#endif
