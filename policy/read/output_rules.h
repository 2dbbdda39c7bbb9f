/* output_rules.h - reads `result` of a rule, and of `defaults`. */
#ifndef WRIT_POLICY_OUTPUT_RULES_H
#define WRIT_POLICY_OUTPUT_RULES_H

#include "policy/decide/output.h"
#include "policy/read/compile.h"

/**
 * Compiles a section `result`.
 *
 * @param node      the section in the file
 * @param defaults  that of `defaults`, or NULL: its redact and remove come first, the others apply
 *                  where the section says nothing
 *
 * @return the rules, in the arena of `o`; NULL after a fault (in the findings)
 */
const struct writ_output_rules *writ_output_rules_read(struct writ_options *o,
    const struct writ_yaml *node, const struct writ_output_rules *defaults,
    struct writ_pattern_list **patterns);

#endif
