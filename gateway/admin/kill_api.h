/* kill_api.h - stops (stop_rules.h) and introspection over HTTP, on the admin listener.
 *
 *   GET  /v1/kills            lists those in force
 *   POST /v1/kills            {"by", "value", "tenant"?, "reason"}: pulls one
 *   POST /v1/kills/preview    the same members, without a reason: what it would stop
 *   POST /v1/kills/ID/lift    {"reason"?}: lifts it
 *   POST /v1/introspect       token=...: RFC 7662, of a credential
 *
 * Stops are for `administrators` of the configuration, by subject: for calls of their own tenant,
 * or of all when they have none; stops by policy are for the latter alone. Auditors see the list.
 * Every authenticated agent may introspect credentials of its own tenant, or of all when it has
 * none: the request contains the credential, so the agent has seen its contents. */
#ifndef WRIT_GATEWAY_KILL_API_H
#define WRIT_GATEWAY_KILL_API_H

#include "gateway/state/gateway.h"

#define WRIT_KILL_API_ROUTES   3
#define WRIT_KILL_API_BODY_MAX 32768

/** Fills the routes of a listener. */
void writ_kill_api_routes(
    struct writ_gateway *gateway, struct writ_route ret[WRIT_KILL_API_ROUTES]);

#endif
