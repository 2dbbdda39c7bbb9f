/* terms.h - the terms of a review for one call. */
#ifndef WRIT_POLICY_TERMS_H
#define WRIT_POLICY_TERMS_H

#include "evidence/record/delegation.h"
#include "evidence/record/review.h"
#include "policy/decide/policy.h"

/**
 * The terms of a review for a call: the electorate is every voter except the subject of its agent,
 * with the delegations that are in force, and the threshold for its arguments. The caller sets the
 * digests and the id.
 *
 * @param now_us  wall time
 *
 * @return WRIT_OK, WRIT_E_INVALID (no other voter can decide), WRIT_E_NOMEM
 */
WRIT_RESULT writ_terms_make(const struct writ_approval *approval,
    const struct writ_policy_call *call, int64_t now_us, struct writ_arena *arena,
    struct writ_review *ret);

/** The delegations that voters may set for a review of this call. Lives as arena, approval and call
 * do. WRIT_E_NOMEM. */
WRIT_RESULT writ_terms_delegable(const struct writ_approval *approval,
    const struct writ_policy_call *call, struct writ_arena *arena, struct writ_delegable *ret);

/** Whether a review lets that voter name that delegate itself. */
bool writ_terms_may_delegate(
    const struct writ_review_config *review, struct writ_view voter, struct writ_view delegate);

/** NULL, or the fault of a pattern of tools, "upstream/tool". */
const char *writ_terms_tool_fault(struct writ_view pattern);

#endif
