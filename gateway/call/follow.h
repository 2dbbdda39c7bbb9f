/* follow.h - FOLLOW: where the arguments of a call came from, by what its run has seen
 * (policy/decide/flow.h); and what its records add to that. Does nothing when no rule of the policy
 * asks for it.
 *
 * The state of a run is brought up to date before a call is judged, and gets each decision before
 * the call is sent, so that labels count from the moment of sending. Where several gateways share
 * the ledger, the state is read from it for each call, and none is kept. */
#ifndef WRIT_GATEWAY_FOLLOW_H
#define WRIT_GATEWAY_FOLLOW_H

#include "gateway/request/request.h"

/** Adds the decision, as the ledger has it, to the state of its run. BIND. */
void writ_follow_decided(struct writ_request *request);

/** `flow` of an outcome; an empty text: none is recorded. Without memory for it the run's state
 * becomes unknown to later calls, which are then refused. `result` and `unseen` as in
 * policy/decide/labels.h.
 */
struct writ_run_flow writ_follow_result(const struct writ_generation *generation,
    const struct writ_tool_rule *rule, const unsigned *hints, const struct writ_json *result,
    bool unseen, struct writ_arena *arena);

/** Adds an outcome that is about to be recorded, with its `flow`, to the state of its run. */
void writ_follow_ended(struct writ_gateway *gateway, const struct writ_generation *generation,
    struct writ_view tenant, const struct writ_decision *decision,
    const struct writ_outcome *outcome, const struct writ_run_flow *flow);

#endif
