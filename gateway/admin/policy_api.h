/* policy_api.h - GET /v1/policy, for auditors and administrators: the digest of the present policy,
 * and each rule with its place in the file, its callers and its use: how many decisions of the last
 * hour, day and week it made. A rule without any is dead, or new. */
#ifndef WRIT_GATEWAY_POLICY_API_H
#define WRIT_GATEWAY_POLICY_API_H

#include "gateway/state/gateway.h"

#define WRIT_POLICY_API_ROUTES 1

void writ_policy_api_routes(
    struct writ_gateway *gateway, struct writ_route ret[WRIT_POLICY_API_ROUTES]);

#endif
