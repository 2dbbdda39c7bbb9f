/* agents.h - `agents` of the configuration: who may call, and how each is known. */
#ifndef WRIT_POLICY_AGENTS_H
#define WRIT_POLICY_AGENTS_H

#include "policy/model/config.h"
#include "policy/read/option.h"
#include "policy/read/raw.h"

#define WRIT_AGENTS_MAX 4096 /* entries of `agents` */

/** Reads the list `node` (NULL: there is none, which is a warning) into the configuration, whose
 * listeners and public_url are read already. What is wrong is told in o->findings. */
void writ_agents_read(struct writ_options *o, const struct writ_yaml *root,
    const struct writ_yaml *node, struct writ_config *config);

#endif
