/* flows.h - reads what says where values of a run may come from: approvals of the op `from`,
 * `labels` of a rule, `flows` and `tasks` (policy/model/flow.h). */
#ifndef WRIT_POLICY_FLOWS_H
#define WRIT_POLICY_FLOWS_H

#include "policy/model/flow.h"
#include "policy/model/rule.h"
#include "policy/read/sources.h"

struct writ_pattern_list;

/** Reads the approvals of the values of `from` of one rule. False with a finding. */
bool writ_flows_approvals(struct writ_options *o, const struct writ_sources_pending *pending,
    const struct writ_yaml *tool, const struct writ_config *config,
    struct writ_pattern_list **patterns);

/** `labels` of a rule, else those of the defaults. False with a finding. */
bool writ_flows_labels(struct writ_options *o, const struct writ_yaml *node,
    const struct writ_yaml *defaults, struct writ_tool_rule *ret);

/** `flows` and `tasks`, after the rules of tools; and whether any rule needs the state of runs. */
void writ_flows_read(struct writ_options *o, const struct writ_raw_top *top,
    struct writ_config *config, struct writ_pattern_list **patterns);

#endif
