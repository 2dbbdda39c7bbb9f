/* http_pool.h - which connections an HTTP client has: addresses, connecting, idle ones, and who
 * gets the next. Invariants are in http_parts.h. */
#ifndef WRIT_GATEWAY_HTTP_POOL_H
#define WRIT_GATEWAY_HTTP_POOL_H

#include "gateway/http/http_parts.h"

/** An idle connection for a call that is alive as far as can be seen, the last one that was used;
 * it stays among the idle ones until it is attached. NULL: there is none that is fresh enough. */
struct writ_http_conn *writ_http_pool_take(
    struct writ_http_client *client, const struct writ_http_call *call);

/** Gives idle connections to calls that wait, and connects for the rest, up to connections_max. */
void writ_http_pool_dispatch(struct writ_http_client *client);

/** Gives up asking for addresses and connecting. */
void writ_http_pool_close(struct writ_http_client *client);

#endif
