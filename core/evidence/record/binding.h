/* binding.h - the check right before the side effect (docs/evidence.md, "Right before the call").
 *
 * An authorization binds the exact action, the exact target state, the exact continuation, one
 * idempotency key, one run, and one outcome. writ_binding_check compares it with the call that is
 * about to be made, row by row in a fixed order; the first row that fails gives verdict and reason.
 * Only an allow makes a permit, and only a permit lets the sender send.
 *
 * Pure: no I/O, no clock of its own. */
#ifndef WRIT_EVIDENCE_BINDING_H
#define WRIT_EVIDENCE_BINDING_H

#include "evidence/record/decision.h"
#include "evidence/record/outcome.h"
#include "evidence/record/reason.h"

struct writ_profile;

/** Zero means no. */
enum writ_binding_verdict {
    WRIT_BINDING_DENY = 0,
    WRIT_BINDING_ALLOW,
    WRIT_BINDING_REVALIDATE, /* the same intent, another state: decide again */
};

/** "deny", "allow", "revalidate". Static storage. */
struct writ_view writ_binding_verdict_name(enum writ_binding_verdict verdict);

/** The call that is about to be made, as it is now. */
struct writ_candidate {
    struct writ_member_text agent_id;
    struct writ_member_text tool;
    struct writ_member_text target;
    struct writ_member_text normalized_scope;
    struct writ_member_text params_hash;
    struct writ_member_text intent_digest; /* see writ_candidate_derive */
    struct writ_member_text intent_ref;
    struct writ_member_text continuation_id;
    struct writ_member_text idempotency_key;
    struct writ_member_text target_state_digest; /* as observed now */
};

/** Whether (intent_ref, idempotency_key) is spent. Zero means yes. */
enum writ_binding_claim {
    WRIT_BINDING_TAKEN = 0, /* a terminal outcome or a live claim exists, or the lookup failed */
    WRIT_BINDING_FREE,
};

/** Looks outcomes and claims up, of every decision_id. */
struct writ_binding_lookup {
    enum writ_binding_claim (*find)(
        void *ctx, struct writ_view intent_ref, struct writ_view idempotency_key);
    void *ctx;
};

/** The permit for one call, once. Only writ_binding_check makes a valid one. */
struct writ_permit {
    uint64_t mark;
    struct writ_view decision_id; /* borrowed from the authorization */
};

struct writ_binding {
    enum writ_binding_verdict verdict;
    enum writ_reason reason; /* WRIT_REASON_CONTRACT_BINDING_OK with ALLOW, else the failed row's */
    struct writ_permit permit;
};

/**
 * Recomputes the candidate's intent_digest and intent_ref from its other members, with the
 * target_state_digest that the authorization carries, so that a changed state appears as drift and
 * not as another intent.
 *
 * @return WRIT_OK
 *         WRIT_E_LIMIT, WRIT_E_NOMEM, WRIT_E_CRYPTO
 */
WRIT_RESULT writ_binding_derive(struct writ_candidate *candidate,
    const struct writ_decision *authorization, const struct writ_profile *profile,
    struct writ_arena *arena, struct writ_err *err);

/**
 * Compares an authorization with the candidate.
 *
 * @param now_us  wall time; must lie within issued_at .. expires_at (both ends included; an
 *                authorization without expires_at has no end). A ledger makes its times strictly
 *                increasing and can be a little ahead of the clock: for a record that was just
 *                placed, pass the later of the clock and issued_at
 * @param lookup  used last; without a function every call counts as a duplicate
 *
 * A member that both lack is equal for target, continuation_id and target_state_digest; for every
 * other one a missing value fails its row. Digests are compared in constant time. Allocates
 * nothing and cannot fail.
 */
struct writ_binding writ_binding_check(const struct writ_decision *authorization,
    const struct writ_candidate *candidate, int64_t now_us, struct writ_binding_lookup lookup);

/** Spends the permit: true once for a permit that writ_binding_check made, then and for any other
 * false. On true, `ret_decision_id` (may be NULL) is its decision. */
bool writ_binding_spend(struct writ_permit *permit, struct writ_view *ret_decision_id);

/** A set of outcomes from outside, for writ_binding_outcomes. */
struct writ_binding_set {
    const struct writ_outcome *outcomes;
    size_t count;
};

/** A lookup over outcomes from outside: every one of them is terminal. An outcome of the same
 * intent without a key counts too. `set` is borrowed as long as the lookup is used. */
struct writ_binding_lookup writ_binding_outcomes(struct writ_binding_set *set);

#endif
