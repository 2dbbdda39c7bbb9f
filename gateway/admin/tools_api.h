/* tools_api.h - definitions of tools over HTTP, on the admin listener.
 *
 *   GET  /v1/tools                    every tool: seen, accepted, listed and pinned by a rule
 *   GET  /v1/tools/difference?tool=   the lines from the accepted definition to the last one seen
 *   POST /v1/tools/accept             {"tool", "digest"}: accepts the definition of that digest
 *
 * Auditors and administrators read; administrators without a tenant accept, because a definition is
 * the same for all tenants. An acceptance goes the way of `writ tools accept`: into the signed file
 * beside the ledger, from which the gateway records it within a second. */
#ifndef WRIT_GATEWAY_TOOLS_API_H
#define WRIT_GATEWAY_TOOLS_API_H

#include "gateway/state/gateway.h"

#define WRIT_TOOLS_API_ROUTES   3
#define WRIT_TOOLS_API_BODY_MAX 4096

void writ_tools_api_routes(
    struct writ_gateway *gateway, struct writ_route ret[WRIT_TOOLS_API_ROUTES]);

#endif
