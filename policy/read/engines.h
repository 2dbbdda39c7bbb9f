/* engines.h - reads the plug-ins that reviews name as their engine. */
#ifndef WRIT_POLICY_ENGINES_H
#define WRIT_POLICY_ENGINES_H

#include "policy/read/option.h"

#define WRIT_ENGINES_FILE_MAX ((size_t)16 << 20) /* bytes of a plug-in */

/**
 * The plug-in that a review names, from the folder `engines`; each file is read once. Whether it
 * can be loaded is checked above this layer (gateway/reviewers/review_counts.h).
 *
 * @param node  option `engine` of the review
 * @param name  of the file: writ_review_is_plugin
 *
 * @return NULL: there is a finding, or no memory
 */
const struct writ_engine_config *writ_engines_read(struct writ_options *o,
    const struct writ_yaml *node, struct writ_view name, struct writ_config *config);

#endif
