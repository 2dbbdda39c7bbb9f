/* crew_roster.h - the crew of a reviewer, from the texts of the configuration. Voting engines are
 * the built-in ones: a plug-in would run inside the gateway. */
#ifndef WRIT_GATEWAY_CREW_ROSTER_H
#define WRIT_GATEWAY_CREW_ROSTER_H

#include "gateway/crews/roster.h"
#include "policy/model/config.h"
#include "policy/read/findings.h"

#define WRIT_CREW_ROSTER_PROCESSES 32 /* of one crew that runs */

/** Makes the crew, with its graph. Wipe `ret` in any case. WRIT_E_PARSE, WRIT_E_INVALID;
 * WRIT_E_LIMIT: also for more than WRIT_CREW_ROSTER_PROCESSES; WRIT_E_NOMEM. */
WRIT_RESULT writ_crew_roster_open(
    const struct writ_crew_config *config, struct writ_roster *ret, struct writ_err *err);

/** Checks all crews of a configuration: errors, and members without effect as warnings. */
void writ_crew_roster_find(const struct writ_config *config, struct writ_findings *findings);

/** Makes all crews of a configuration once; the first that fails names its reviewer. */
WRIT_RESULT writ_crew_roster_check(const struct writ_config *config, struct writ_err *err);

#endif
