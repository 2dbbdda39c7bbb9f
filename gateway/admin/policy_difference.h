/* policy_difference.h - what differs between two policies (policies.h), rule by rule.
 *
 * A viewer of one tenant among several gets the rules that are for every caller, or for its tenant
 * or agents of it, without the names of others, and of an approval only that there is one. What it
 * does not see does not differ for it. */
#ifndef WRIT_GATEWAY_POLICY_DIFFERENCE_H
#define WRIT_GATEWAY_POLICY_DIFFERENCE_H

#include "evidence/json/write.h"
#include "gateway/admin/ledger_viewer.h"

struct writ_policy_difference {
    const struct writ_json *before, *after;
    const struct writ_review_viewer *viewer;
    struct writ_arena *arena;
};

/**
 * Writes {"rules": [{"tool", "change", "before"?, "after"?}], "sections": [{"name", "before"?,
 * "after"?}]}: `change` is "added", "removed" or "changed"; sections are defaults, reviews,
 * reviewers and files that are not agreed, for viewers that may know the rules of every tenant.
 *
 * WRIT_E_NOMEM. */
WRIT_RESULT writ_policy_difference_put(
    const struct writ_policy_difference *difference, struct writ_write *w);

#endif
