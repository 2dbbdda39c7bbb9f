/* bridge_output.h - lines to the client and words to people. Inside of the bridge. */
#ifndef WRIT_GATEWAY_BRIDGE_OUTPUT_H
#define WRIT_GATEWAY_BRIDGE_OUTPUT_H

#include "gateway/bridge/bridge_parts.h"

/** Standard output has room, nothing waits for it any more, or its reader has left. */
void writ_bridge_output_changed(struct writ_bridge *bridge);

/** Writes a message in one line, now or when the client takes it. keeps (4) and (5) */
void writ_bridge_output_put(struct writ_bridge *bridge, struct writ_view message);

/** Pauses a call while the client does not take its lines. */
void writ_bridge_output_hold(struct writ_bridge_call *call);

/** Ends the bridge when the client has taken its last lines, or after a moment. */
void writ_bridge_output_finish(struct writ_bridge *bridge);

/** Says something to people: one line of the log, on standard error. */
void writ_bridge_output_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/** Ends the bridge: its reader is gone, or a line is lost that its client would wait for. */
void writ_bridge_output_give_up(struct writ_bridge *bridge);

#endif
