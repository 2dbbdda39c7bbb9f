/* policy_history.h - the versions of the policy, for auditors and administrators, on the admin
 * listener.
 *
 *   GET /v1/policy/history                  which policies decided calls, from when to when and how
 *                                           many, and which of them are kept
 *   GET /v1/policy/difference?from=&to=     the rules that differ between two that are kept
 *
 * The uses are those of the figures (figures_feed.h), the texts those beside the ledger
 * (policies.h). A caller with a tenant gets the decisions of its tenant, and of each rule what
 * policy_difference.h shows it. */
#ifndef WRIT_GATEWAY_POLICY_HISTORY_H
#define WRIT_GATEWAY_POLICY_HISTORY_H

#include "gateway/state/gateway.h"

#define WRIT_POLICY_HISTORY_ROUTES 2

void writ_policy_history_routes(
    struct writ_gateway *gateway, struct writ_route ret[WRIT_POLICY_HISTORY_ROUTES]);

#endif
