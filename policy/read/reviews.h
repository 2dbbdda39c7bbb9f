/* reviews.h - reads `reviews` of the configuration, and `approval` of a rule. */
#ifndef WRIT_POLICY_REVIEWS_H
#define WRIT_POLICY_REVIEWS_H

#include "policy/decide/approval.h"
#include "policy/read/compile.h"

#define WRIT_REVIEWS_MAX 256 /* entries of `reviews` */

/** Reads `reviews` into the configuration; faults become findings. NULL: none. WRIT_E_NOMEM,
 * WRIT_E_CRYPTO. */
WRIT_RESULT writ_reviews_read(
    struct writ_options *o, const struct writ_yaml *node, struct writ_config *config);

/**
 * Compiles the `approval` of a rule.
 *
 * @param entry     the rules of the tool in the file
 * @param patterns  as in writ_compile_constraints
 *
 * @return NULL after a fault (in the findings)
 */
const struct writ_approval *writ_reviews_approval(struct writ_options *o,
    const struct writ_yaml *node, const struct writ_yaml *entry, const struct writ_config *config,
    struct writ_pattern_list **patterns);

#endif
