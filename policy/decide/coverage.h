/* coverage.h - closed coverage: whether a constraint names every leaf of the arguments
 * (evaluate.h). */
#ifndef WRIT_POLICY_COVERAGE_H
#define WRIT_POLICY_COVERAGE_H

#include "policy/model/constraint.h"

/** True when every leaf of `value` is named. On false `unlisted` (may be NULL) gets the JSON
 * Pointer of the first leaf that is not. */
bool writ_coverage_holds(const struct writ_constraint_set *set, const struct writ_json *value,
    struct writ_buf *unlisted);

#endif
