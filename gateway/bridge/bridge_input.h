/* bridge_input.h - the lines of the client. Inside of the bridge. */
#ifndef WRIT_GATEWAY_BRIDGE_INPUT_H
#define WRIT_GATEWAY_BRIDGE_INPUT_H

#include "gateway/bridge/bridge_parts.h"

/** Takes the lines that may be taken now, reads more, or leaves after the last one. */
void writ_bridge_input_pump(struct writ_bridge *bridge);

#endif
