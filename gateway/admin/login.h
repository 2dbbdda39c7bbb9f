/* login.h - login to the page, and logout (logins.h defines a login).
 *
 *   POST   /v1/session   {"token"}, or {"certificate": true} for that of the connection: a cookie,
 *                        and its key in the answer
 *   GET    /v1/session   the agent that is logged in; else the name in the client certificate, if
 *                        any
 *   DELETE /v1/session   ends it
 *
 * Only pages of the gateway's own origin may send these requests (api.h). */
#ifndef WRIT_GATEWAY_LOGIN_H
#define WRIT_GATEWAY_LOGIN_H

#include "gateway/state/gateway.h"

#define WRIT_LOGIN_ROUTES   1
#define WRIT_LOGIN_BODY_MAX 16384 /* bytes of a request to log in */

/** Fills the routes of a listener on which people log in. */
void writ_login_routes(struct writ_gateway *gateway, struct writ_route ret[WRIT_LOGIN_ROUTES]);

#endif
