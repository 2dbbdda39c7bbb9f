/* conditions.h - why a rule wanted an approval, for those who decide. A caller is not told: who
 * knows the conditions stays below them. */
#ifndef WRIT_POLICY_CONDITIONS_H
#define WRIT_POLICY_CONDITIONS_H

#include "evidence/write.h"
#include "policy/config.h"

/**
 * The member `conditions` of an object that is open: each entry of the rule's `approval.when`, and
 * whether it holds or could not be told. Nothing when the rule has none, or is not the same any
 * more.
 *
 * @param ref           the rule: policy_refs of the decision
 * @param rules_digest  of the terms of the review
 * @param arguments     of the call
 */
void writ_conditions_put(struct writ_write *w, const struct writ_config *config,
    struct writ_view ref, struct writ_view rules_digest, const struct writ_json *arguments,
    struct writ_arena *arena);

#endif
