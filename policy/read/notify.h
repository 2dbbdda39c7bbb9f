/* notify.h - reads `notify` of the configuration: where messages for people go. */
#ifndef WRIT_POLICY_NOTIFY_H
#define WRIT_POLICY_NOTIFY_H

#include "policy/read/option.h"

/** Reads `notify` into the configuration; faults become findings. NULL: none. */
void writ_notify_read(
    struct writ_options *o, const struct writ_yaml *node, struct writ_config *config);

#endif
