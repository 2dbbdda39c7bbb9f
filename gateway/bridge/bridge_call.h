/* bridge_call.h - one request to the gateway. Inside of the bridge. */
#ifndef WRIT_GATEWAY_BRIDGE_CALL_H
#define WRIT_GATEWAY_BRIDGE_CALL_H

#include "gateway/bridge/bridge_parts.h"

/** A new call in the list; `line` is copied. NULL: no memory. */
struct writ_bridge_call *writ_bridge_call_new(
    struct writ_bridge *bridge, enum writ_bridge_kind kind, struct writ_view line);
void writ_bridge_call_free(struct writ_bridge_call *call);

/** Sends it now, or lets it wait for the gateway or the session. */
void writ_bridge_call_send(struct writ_bridge_call *call);

/** Sends every call that waits and may be sent. */
void writ_bridge_call_send_all(struct writ_bridge *bridge);

/** Answers each request of the line that has no answer yet with this error, and ends the call. */
void writ_bridge_call_refuse(
    struct writ_bridge_call *call, enum writ_reason reason, struct writ_view text);

/** The same with the error that says that the call may have run. */
void writ_bridge_call_lose(struct writ_bridge_call *call);

/** Whether each request of the line has its answer. */
bool writ_bridge_call_is_answered(const struct writ_bridge_call *call);

/** Makes it as if it had not been sent: it waits to be sent. */
void writ_bridge_call_again(struct writ_bridge_call *call);

/** The gateway is gone, or may be: asks for it, once. */
void writ_bridge_call_unlink(struct writ_bridge *bridge);

#endif
