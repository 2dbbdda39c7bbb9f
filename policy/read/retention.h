/* retention.h - reads what is kept of calls, and checks the places of secret arguments. */
#ifndef WRIT_POLICY_RETENTION_H
#define WRIT_POLICY_RETENTION_H

#include "policy/model/rule.h"
#include "policy/read/option.h"

/** Reads `contents` at `node` (NULL: absent). Each of its options that is absent there has the
 * value of `defaults` (NULL: its own default). Without `node` all of them do. */
void writ_retention_read(struct writ_options *o, const struct writ_yaml *node,
    const struct writ_retention *defaults, struct writ_retention *ret);

/** Checks that nothing of the rule puts a secret argument into a record: scope, target, budgets.
 * False after a fault (in the findings). Warns of a review, which keeps arguments for voters. */
bool writ_retention_check(struct writ_options *o, const struct writ_tool_rule *rule);

/** Whether a rule has secret arguments, or is a draft, whose arguments are not agreed. */
bool writ_retention_hide(const struct writ_policy *policy);

/** Marks the patterns beside rules of their upstream with secret arguments, and warns of those that
 * would keep contents otherwise. */
void writ_retention_doubt(struct writ_options *o, struct writ_tool_entry *entries, size_t n);

#endif
