/* doubts.h - doubts about a configuration as a whole: listeners without protection, rules for
 * impossible agents, rules that an earlier one hides, voters that cannot exist. Each is a warning,
 * but a voter that no agent, reviewer or issuer can be is an error. */
#ifndef WRIT_POLICY_DOUBTS_H
#define WRIT_POLICY_DOUBTS_H

#include "policy/model/rule.h"
#include "policy/read/option.h"
#include "policy/read/raw.h"

/** Warns about listeners, and refuses impossible voters. `config` is read whole. */
void writ_doubts_warn(struct writ_options *o, const struct writ_yaml *root,
    const struct writ_raw_top *top, const struct writ_config *config);

/** Warns about the rules of one tool: `rules` are those of `node`, a list or a single rule.
 */
void writ_doubts_rules(struct writ_options *o, const struct writ_yaml *node,
    const struct writ_config *config, const struct writ_tool_entry *entry);

/** Warns about a pattern of tools that an earlier one hides. `entries` are the ones before it. */
void writ_doubts_pattern(struct writ_options *o, const struct writ_yaml *node,
    const struct writ_tool_entry *entries, size_t n, const struct writ_tool_entry *entry);

#endif
