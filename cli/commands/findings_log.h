/* findings_log.h - what is wrong with a configuration, as lines of the log. */
#ifndef WRIT_CLI_FINDINGS_LOG_H
#define WRIT_CLI_FINDINGS_LOG_H

#include "base/log.h"
#include "policy/read/findings.h"

/** Writes a line for each finding. `file`: the configuration, for findings that name no other. */
void writ_findings_log_write(
    struct writ_log *log, const struct writ_findings *findings, struct writ_view file);

#endif
