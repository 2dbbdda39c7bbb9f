/* rules.h - reads `tools` of the configuration. */
#ifndef WRIT_POLICY_RULES_H
#define WRIT_POLICY_RULES_H

#include "policy/model/rule.h"
#include "policy/read/compile.h"

/**
 * Compiles `tools`.
 *
 * @param tools      the map in the file; NULL: no tool may be called
 * @param defaults   for rules that leave an option out
 * @param upstreams  the configured ones, for names
 * @param patterns   as in writ_compile_constraints
 *
 * @return the policy, in the arena of `o`; NULL after a fault (in the findings)
 */
const struct writ_policy *writ_rules_read(struct writ_options *o, const struct writ_yaml *tools,
    const struct writ_raw_defaults *defaults, const struct writ_config *upstreams,
    struct writ_pattern_list **patterns);

#endif
