/* bridge_session.h - the session of a client of the older revisions: initialize, its stream, its
 * end. Inside of the bridge. */
#ifndef WRIT_GATEWAY_BRIDGE_SESSION_H
#define WRIT_GATEWAY_BRIDGE_SESSION_H

#include "gateway/bridge/bridge_parts.h"

/** The gateway has answered a call of the session's own, or the client's initialize, whole. */
void writ_bridge_session_answered(struct writ_bridge_call *call);

/** The client's initialized has been taken, or a session is open again: opens its stream. */
void writ_bridge_session_listen(struct writ_bridge *bridge);

/** The gateway does not know the session of this call: opens another one. */
void writ_bridge_session_reopen(struct writ_bridge_call *call);

/** The session's stream broke, or there was no way to open it. */
void writ_bridge_session_unheard(struct writ_bridge_call *call);

/** Ends the session, and with its end the bridge. */
void writ_bridge_session_leave(struct writ_bridge *bridge);

#endif
