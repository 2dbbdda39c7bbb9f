/* steps.h - the table of steps (step.tbl.h) with its functions, which are in rooms above the
 * driver. */
#ifndef WRIT_GATEWAY_STEPS_H
#define WRIT_GATEWAY_STEPS_H

#include "gateway/request/request.h"

extern const struct writ_steps writ_steps;
extern const struct writ_endpoint_kind writ_steps_mcp; /* of the endpoints of MCP */

#endif
