/* login.h - logging in to the page, and out (logins.h says what a login is).
 *
 *   POST   /v1/session   {"token"}, or {"certificate": true} for that of the connection: a cookie,
 * and in the answer the key that goes with it GET    /v1/session   who is logged in; else, where
 * one is there, the name in the certificate DELETE /v1/session   ends it
 *
 * Only pages of the gateway's own origin may do any of it (api.h). */
#ifndef WRIT_GATEWAY_LOGIN_H
#define WRIT_GATEWAY_LOGIN_H

#include "gateway/state/gateway.h"

#define WRIT_LOGIN_ROUTES   1
#define WRIT_LOGIN_BODY_MAX 16384 /* bytes of a request to log in */

/** Fills the routes of a listener on which people log in. */
void writ_login_routes(struct writ_gateway *gateway, struct writ_route ret[WRIT_LOGIN_ROUTES]);

#endif
