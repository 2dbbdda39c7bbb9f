/* upstreams.h - `upstreams` and `frameworks` of the configuration: the targets of calls. */
#ifndef WRIT_POLICY_UPSTREAMS_H
#define WRIT_POLICY_UPSTREAMS_H

#include "policy/model/config.h"
#include "policy/read/option.h"
#include "policy/read/raw.h"

#define WRIT_UPSTREAMS_NAME_MAX 32 /* bytes of the name of one */

/** Reads `upstreams` of the file (none, and no frameworks, is a warning) into the configuration,
 * whose separator is already read. Adds faults to o->findings. */
void writ_upstreams_read(struct writ_options *o, const struct writ_yaml *root,
    const struct writ_raw_top *top, struct writ_config *config);

/** Reads `frameworks` (NULL: none), whose names differ from those of upstreams. Call it after
 * writ_upstreams_read. */
void writ_upstreams_frameworks(
    struct writ_options *o, const struct writ_yaml *node, struct writ_config *config);

#endif
