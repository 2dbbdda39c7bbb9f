/* opinion.h - the reviewer that is a policy itself: `opinions` of `reviewers`. */
#ifndef WRIT_POLICY_OPINION_H
#define WRIT_POLICY_OPINION_H

#include "evidence/record/review.h"
#include "policy/decide/approval.h"

/** A vote by a rule. */
struct writ_opinion {
    enum writ_review_vote vote;
    const struct writ_constraint_set *when; /* NULL: every call */
    struct writ_view feedback;              /* ptr NULL: none */
};

/**
 * The first opinion that holds for a call, or NULL: no vote.
 *
 * To approve, every one of its constraints must hold; to reject or modify it is enough that none
 * clearly fails (a value that is missing or of another type is not clear).
 */
const struct writ_opinion *writ_opinion_of(const struct writ_reviewer_config *reviewer,
    const struct writ_json *arguments, struct writ_arena *arena);

#endif
