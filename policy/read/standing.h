/* standing.h - where the rule and the constraint of a recorded verdict stand in a configuration, by
 * file and line. Pure; safe from any thread. */
#ifndef WRIT_POLICY_STANDING_H
#define WRIT_POLICY_STANDING_H

#include "policy/model/constraint.h"
#include "policy/model/rule.h"
#include "policy/read/yaml.h"

#define WRIT_STANDING_BOUND_MAX 300 /* bytes after which no further value of a list is added */

/** The constraint of a recorded name, such as "items each, count le"; NULL when there is none. */
const struct writ_constraint *writ_standing_named(
    const struct writ_constraint_set *set, struct writ_view name);

/** The file that a node of the configuration stands in. NUL-terminated. */
struct writ_view writ_standing_file(const struct writ_config *config, const struct writ_yaml *node);

/** Appends the value of a constraint as the file has it, without hidden characters; nothing for a
 * map. */
void writ_standing_bound(const struct writ_constraint *constraint, struct writ_buf *ret);

#endif
