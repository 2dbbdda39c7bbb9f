/* propose.h - a first policy for a tool server, proposed from what it says of its tools.
 *
 * A statement of the server never lets more calls through: its schema, the words of names, and its
 * annotations each only add constraints, a placeholder or an approval, except for readOnlyHint,
 * which lets an identical call run again. As proposed, no call with a path, a URL, a
 * host, an amount of money or a command passes without a value that a person wrote or an approval.
 * Closed coverage of policies refuses every argument that has no constraint. */
#ifndef WRIT_POLICY_PROPOSE_H
#define WRIT_POLICY_PROPOSE_H

#include "policy/propose/proposal.h"

#define WRIT_PROPOSE_TOOLS_MAX 1000 /* tools of one server */
#define WRIT_PROPOSE_NAME_MAX  256  /* bytes of the name of a tool */

/** An empty proposal for the server that the configuration calls `upstream` (borrowed). The arena
 * takes a few KiB for each tool. */
struct writ_proposal writ_propose_start(struct writ_view upstream, struct writ_arena *arena);

/**
 * Adds the rule for one tool.
 *
 * @param definition  its entry in tools/list; borrowed until the proposal is written. Anything is
 *                    accepted: a tool that no rule can be written for is left out, and counted
 *
 * @return WRIT_OK
 *         WRIT_E_LIMIT  more than WRIT_PROPOSE_TOOLS_MAX
 *         WRIT_E_NOMEM  the arena is exhausted
 */
WRIT_RESULT writ_propose_tool(
    struct writ_proposal *proposal, const struct writ_json *definition, struct writ_err *err);

#endif
