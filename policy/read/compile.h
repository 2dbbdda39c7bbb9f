/* compile.h - makes constraint sets of the configuration's `arguments` lists. */
#ifndef WRIT_POLICY_COMPILE_H
#define WRIT_POLICY_COMPILE_H

#include "policy/model/constraint.h"
#include "policy/read/option.h"

/**
 * Compiles a list of constraints.
 *
 * @param node      the list in the file; NULL: an empty one, which covers no argument
 * @param patterns  the list of patterns that the set refers to; freed later by the caller
 *
 * @return the set, in the arena of `o`; NULL after a fault (in the findings)
 */
const struct writ_constraint_set *writ_compile_constraints(
    struct writ_options *o, const struct writ_yaml *node, struct writ_pattern_list **patterns);

/** As writ_compile_constraints, for conditions such as `when`: they have no `secret`. */
const struct writ_constraint_set *writ_compile_conditions(
    struct writ_options *o, const struct writ_yaml *node, struct writ_pattern_list **patterns);

/** The tokens of an `arg`: a name, or a JSON Pointer when it begins with a slash. A finding when it
 * is neither. */
bool writ_compile_arg(struct writ_options *o, const struct writ_yaml *node, struct writ_view arg,
    struct writ_views *ret);

#endif
