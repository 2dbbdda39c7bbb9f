/* login_guard.h - where several gateways share the ledger, each request with a login first looks at
 * its row (login_look.h): a login at one gateway holds at all of them, and a logout as well. */
#ifndef WRIT_GATEWAY_LOGIN_GUARD_H
#define WRIT_GATEWAY_LOGIN_GUARD_H

#include "gateway/state/gateway.h"

/** A route behind its guard. */
struct writ_login_guard {
    struct writ_gateway *gateway;
    writ_exchange_handler *handler;
    void *ctx;
};

/** Puts a guard before each of the routes under /v1; of a ledger of one gateway none. `guards`:
 * room for `n`, as long as the routes. */
void writ_login_guard_routes(struct writ_gateway *gateway, struct writ_route *routes, size_t n,
    struct writ_login_guard *guards);

#endif
