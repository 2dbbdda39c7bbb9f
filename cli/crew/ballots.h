/* ballots.h - a file of votes or rankings, counted. */
#ifndef WRIT_CLI_BALLOTS_H
#define WRIT_CLI_BALLOTS_H

#include "evidence/json/json.h"
#include "writ/crew.h"

/** The result of a count. Wipe `value` and `why`. */
struct writ_ballots_result {
    bool resolved;
    struct writ_crew_value *value; /* NULL with `resolved`: the absent output */
    struct writ_crew_text why;
};

/**
 * Counts.
 *
 * @param ballots  an array of votes {agentId, roleId, output, fault, stalled}; or {votes, voting,
 *                 electorate}, where `voting` has the members of a voting object except the mode;
 *                 or {candidates, rankings: {voter: [name, ...]}}
 * @param engine   a mode of voting; for rankings "majority", "borda" or the name of an engine
 * @param engines  NULL: the built-in ones
 *
 * @return WRIT_OK; WRIT_E_PARSE (not of these forms), WRIT_E_INVALID, WRIT_E_NOMEM
 */
WRIT_RESULT writ_ballots_count(const struct writ_json *ballots, struct writ_view engine,
    const struct writ_crew_engines *engines, struct writ_ballots_result *ret, struct writ_err *err);

#endif
