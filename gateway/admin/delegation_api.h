/* delegation_api.h - delegations that voters set, over HTTP, on the admin listener.
 *
 *   GET  /v1/delegations            those of the caller and to it, and whom it may name; an
 *                                   administrator sees all
 *   POST /v1/delegations            {"delegate", "until", "from"?, "tools"?}, or {"signed"}
 *   POST /v1/delegations/ID/revoke  by its voter, its delegate, or an administrator */
#ifndef WRIT_GATEWAY_DELEGATION_API_H
#define WRIT_GATEWAY_DELEGATION_API_H

#include "gateway/state/gateway.h"

#define WRIT_DELEGATION_API_ROUTES   2
#define WRIT_DELEGATION_API_BODY_MAX 65536

/** Fills the routes of a listener that serves the reviews of `gateway`. */
void writ_delegation_api_routes(
    struct writ_gateway *gateway, struct writ_route ret[WRIT_DELEGATION_API_ROUTES]);

#endif
