/* budgets_api.h - GET /v1/budgets, for auditors and administrators: what is used and left of each
 * budget of the present configuration, and when it is free again. A caller with a tenant gets those
 * of its tenant. */
#ifndef WRIT_GATEWAY_BUDGETS_API_H
#define WRIT_GATEWAY_BUDGETS_API_H

#include "gateway/state/gateway.h"

#define WRIT_BUDGETS_API_ROUTES 1
#define WRIT_BUDGETS_API_ROWS   5000 /* in one answer; `others` counts the rest */

void writ_budgets_api_routes(
    struct writ_gateway *gateway, struct writ_route ret[WRIT_BUDGETS_API_ROUTES]);

#endif
