/* check_tools.h - writ check --tools: asks the servers of a configuration for their tools, and
 * compares. */
#ifndef WRIT_CLI_COMMANDS_CHECK_TOOLS_H
#define WRIT_CLI_COMMANDS_CHECK_TOOLS_H

#include "evidence/json/write.h"
#include "policy/model/config.h"
#include "policy/read/findings.h"

/** What was asked, for the summary. */
struct writ_check_tools {
    size_t servers, answered, tools;
};

/** Starts or connects to every server of the configuration, one after the other, and adds what is
 * found to `findings`. A server that does not answer is an error among them. WRIT_E_NOMEM. Blocks.
 */
WRIT_RESULT writ_check_tools_run(const struct writ_config *config, struct writ_findings *findings,
    struct writ_check_tools *ret, struct writ_err *err);

#endif
