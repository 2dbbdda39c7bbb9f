/* reviewer.h - how those are asked who vote in reviews: `reviewers` of the configuration; and the
 * reviewer that is a policy itself (`opinions`). */
#ifndef WRIT_POLICY_REVIEWER_H
#define WRIT_POLICY_REVIEWER_H

#include "evidence/review.h"
#include "policy/compile.h"
#include "policy/config.h"

#define WRIT_REVIEWERS_MAX 256 /* entries of `reviewers` */
#define WRIT_OPINIONS_MAX  64  /* of one reviewer */

/** A vote by a rule. */
struct writ_opinion {
    enum writ_review_vote vote;
    const struct writ_constraint_set *when; /* NULL: every call */
    struct writ_view feedback;              /* ptr NULL: none */
};

/** Reads `reviewers` into the configuration; what is wrong is told. NULL: there are none.
 * WRIT_E_NOMEM. */
WRIT_RESULT writ_reviewer_read(struct writ_options *o, const struct writ_yaml *node,
    struct writ_config *config, struct writ_compile_pattern **patterns);

/** The entry of that subject, or NULL. */
const struct writ_reviewer_config *writ_reviewer_find(
    const struct writ_config *config, struct writ_view id);

/**
 * The first opinion that holds for a call, or NULL: no vote.
 *
 * To approve, every one of its constraints has to hold; to reject or modify it is enough that none
 * of them clearly does not (a value that is missing or of another type is not clear).
 */
const struct writ_opinion *writ_reviewer_opinion(const struct writ_reviewer_config *reviewer,
    const struct writ_json *arguments, struct writ_arena *arena);

#endif
