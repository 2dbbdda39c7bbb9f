/* decision.h - GovernanceDecision: the record of a verdict, made before the call.
 *
 * To make one, the caller sets the members that describe the call, derive.h adds the identity of
 * the intent, then the idempotency key, and, when the ledger knows position and time, the members
 * that depend on them. */
#ifndef WRIT_EVIDENCE_DECISION_H
#define WRIT_EVIDENCE_DECISION_H

#include "evidence/record/faults.h"
#include "evidence/record/member.h"

/** The seq that no decision reaches: running_count must stay an integer of I-JSON. */
#define WRIT_DECISION_SEQ_MAX (((uint64_t)1 << 53) - 1)

/** The verdict: the word in the member `decision`. */
enum writ_decision_route {
#define ROUTE(NAME, word) WRIT_DECISION_##NAME,
    WRIT_DECISION_ROUTES(ROUTE)
#undef ROUTE
};
#define WRIT_DECISION_ROUTES_N (0 WRIT_DECISION_ROUTES(WRIT_RECORD_ONE))

/** Zero-initialised: a record without any member. Fields as in member.tbl.h. */
struct writ_decision {
    WRIT_DECISION_MEMBERS(WRIT_MEMBER_FIELD)
    struct writ_member_others others;
};

/** "allow", "deny", "require_approval", "revise". Static storage. */
struct writ_view writ_decision_route_name(enum writ_decision_route route);

/** The verdict of that name. False: not a verdict; `ret` is untouched. */
bool writ_decision_route_find(struct writ_view name, enum writ_decision_route *ret);

/** The verdict of a record. False: none, or an unknown one; `ret` is untouched. */
bool writ_decision_route_of(const struct writ_decision *decision, enum writ_decision_route *ret);

/** The member `decision` for that verdict. */
struct writ_member_text writ_decision_route_text(enum writ_decision_route route);

/** True when the record has that verdict; false without a verdict or with an unknown one. */
bool writ_decision_is(const struct writ_decision *decision, enum writ_decision_route route);

/**
 * Reads a decision. Every member is kept; writ_decision_validate reports the wrong ones.
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

/** Checks types, formats and the needs of the route (docs/evidence.md, "The members of a record"),
 * and adds every fault to `ret`. A record with a fault is never emitted and never honoured. */
void writ_decision_validate(const struct writ_decision *decision, struct writ_faults *ret);

#endif
