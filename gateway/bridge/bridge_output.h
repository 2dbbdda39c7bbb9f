/* bridge_output.h - lines to the client and words to people. Inside of the bridge. */
#ifndef WRIT_GATEWAY_BRIDGE_OUTPUT_H
#define WRIT_GATEWAY_BRIDGE_OUTPUT_H

#include "gateway/bridge/bridge_parts.h"

/** Writes a message in one line. keeps (4) */
void writ_bridge_output_put(struct writ_bridge *bridge, struct writ_view message);

/** Says something to people: one line of the log, on standard error. */
void writ_bridge_output_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/** Ends the bridge: its reader is gone, or a line is lost that its client would wait for. */
void writ_bridge_output_give_up(struct writ_bridge *bridge);

#endif
