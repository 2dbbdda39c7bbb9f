/* telemetry.h - reads `telemetry`: what an OpenTelemetry collector gets. */
#ifndef WRIT_POLICY_TELEMETRY_H
#define WRIT_POLICY_TELEMETRY_H

#include "policy/read/option.h"
#include "policy/read/raw.h"

/** Checks the section that was read, and fills `ret`. Faults become findings. `root`: the file. */
void writ_telemetry_read(struct writ_options *o, const struct writ_yaml *root,
    const struct writ_raw_telemetry *raw, struct writ_telemetry_config *ret);

#endif
