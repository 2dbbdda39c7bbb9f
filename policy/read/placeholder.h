/* placeholder.h - values that a proposed configuration leaves to its reader: texts that begin with
 * REPLACE_. A file is not used before each is replaced. */
#ifndef WRIT_POLICY_PLACEHOLDER_H
#define WRIT_POLICY_PLACEHOLDER_H

#include "policy/read/option.h"

#define WRIT_PLACEHOLDER_PREFIX "REPLACE_" /* how a placeholder begins */

/** True for a scalar that is a placeholder. */
bool writ_placeholder_is(const struct writ_yaml *node);

/** True when the node is or holds a placeholder. */
bool writ_placeholder_any(const struct writ_yaml *node);

/** Adds a warning for each placeholder in `node`. */
void writ_placeholder_warn(struct writ_options *o, const struct writ_yaml *node);

/** Adds an error for each placeholder below `node` and makes it a refused node, so that its reader
 * adds no second one. */
void writ_placeholder_refuse(struct writ_options *o, const struct writ_yaml *node);

#endif
