/* upstreams.h - `upstreams` and `frameworks` of the configuration: what calls go to. */
#ifndef WRIT_POLICY_UPSTREAMS_H
#define WRIT_POLICY_UPSTREAMS_H

#include "policy/model/config.h"
#include "policy/read/option.h"
#include "policy/read/raw.h"

#define WRIT_UPSTREAMS_NAME_MAX 32 /* bytes of the name of one */

/** Reads `upstreams` of the file (none, and no frameworks, is a warning) into the configuration,
 * whose separator is read already. What is wrong is told in o->findings. */
void writ_upstreams_read(struct writ_options *o, const struct writ_yaml *root,
    const struct writ_raw_top *top, struct writ_config *config);

/** Reads `frameworks` (NULL: there are none), whose names no upstream has. After
 * writ_upstreams_read. */
void writ_upstreams_frameworks(
    struct writ_options *o, const struct writ_yaml *node, struct writ_config *config);

#endif
