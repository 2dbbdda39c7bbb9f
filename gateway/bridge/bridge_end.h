/* bridge_end.h - what becomes of a call that has ended. Inside of the bridge. */
#ifndef WRIT_GATEWAY_BRIDGE_END_H
#define WRIT_GATEWAY_BRIDGE_END_H

#include "gateway/bridge/bridge_parts.h"

/** Takes a call over whose exchange has ended: frees it, or lets it wait to be sent again. */
void writ_bridge_end_take(struct writ_bridge_call *call, const struct writ_http_end *end);

#endif
