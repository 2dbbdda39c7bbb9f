/* Opinions are tried in the order of the file, and the first that holds is the vote. Approving is
 * the strict side: every constraint must hold. Rejecting needs only that none clearly fails. */
#include "policy/decide/opinion.h"

#include "policy/decide/evaluate.h"

static bool
all_hold(const struct writ_constraint_set *when, const struct writ_json *arguments,
    struct writ_arena *arena)
{
    for (size_t i = 0; when != NULL && i < when->n; i++) {
        if (writ_evaluate_one(when, &when->items[i], arguments, arena, NULL) != WRIT_HOLDS_YES) {
            return false;
        }
    }
    return true;
}

const struct writ_opinion *
writ_opinion_of(const struct writ_reviewer_config *reviewer, const struct writ_json *arguments,
    struct writ_arena *arena)
{
    for (size_t i = 0; i < reviewer->opinions_n; i++) {
        const struct writ_opinion *opinion = &reviewer->opinions[i];

        if (opinion->vote == WRIT_REVIEW_APPROVE
                ? all_hold(opinion->when, arguments, arena)
                : writ_approval_may_hold(opinion->when, arguments, arena)) {
            return opinion;
        }
    }
    return NULL;
}
