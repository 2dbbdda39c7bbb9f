/* placeholder.h - values that a proposed configuration leaves to its reader: texts that begin with
 * REPLACE_. A file is not used before each is replaced. */
#ifndef WRIT_POLICY_PLACEHOLDER_H
#define WRIT_POLICY_PLACEHOLDER_H

#include "policy/read/option.h"

#define WRIT_PLACEHOLDER_PREFIX "REPLACE_" /* how a placeholder begins */

/** True for a scalar that is a placeholder. */
bool writ_placeholder_is(const struct writ_yaml *node);

/** Adds an error for each placeholder in the file and makes it a refused node, so that its reader
 * adds no second one. */
void writ_placeholder_refuse(struct writ_options *o, const struct writ_yaml *root);

#endif
