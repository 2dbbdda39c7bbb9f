/* reviewers.h - reads `reviewers` of the configuration: how the gateway asks the voters of
 * reviews. */
#ifndef WRIT_POLICY_REVIEWERS_H
#define WRIT_POLICY_REVIEWERS_H

#include "policy/decide/opinion.h"
#include "policy/read/compile.h"

#define WRIT_REVIEWERS_MAX 256 /* entries of `reviewers` */
#define WRIT_OPINIONS_MAX  64  /* of one reviewer */

/** Reads `reviewers` into the configuration; faults become findings. NULL: none. WRIT_E_NOMEM. */
WRIT_RESULT writ_reviewers_read(struct writ_options *o, const struct writ_yaml *node,
    struct writ_config *config, struct writ_pattern_list **patterns);

#endif
