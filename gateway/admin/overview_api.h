/* overview_api.h - GET /v1/overview?span=hour|day|week: what the caller may see of the calls, the
 * upstreams, the ledger, reviews and stops (docs/page.md). The work is bounded, whatever the length
 * of the ledger: it reads sums (state/figures.h), on the lookups' thread. */
#ifndef WRIT_GATEWAY_OVERVIEW_API_H
#define WRIT_GATEWAY_OVERVIEW_API_H

#include "gateway/state/gateway.h"

#define WRIT_OVERVIEW_API_ROUTES 1

void writ_overview_api_routes(
    struct writ_gateway *gateway, struct writ_route ret[WRIT_OVERVIEW_API_ROUTES]);

#endif
