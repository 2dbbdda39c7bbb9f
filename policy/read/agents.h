/* agents.h - `agents` of the configuration: the callers, and how each is identified. */
#ifndef WRIT_POLICY_AGENTS_H
#define WRIT_POLICY_AGENTS_H

#include "policy/model/config.h"
#include "policy/read/option.h"
#include "policy/read/raw.h"

#define WRIT_AGENTS_MAX 4096 /* entries of `agents` */

/** Reads the list `node` (NULL: absent, which is a warning) into the configuration, whose listeners
 * and public_url are already read. Adds faults to o->findings. */
void writ_agents_read(struct writ_options *o, const struct writ_yaml *root,
    const struct writ_yaml *node, struct writ_config *config);

#endif
