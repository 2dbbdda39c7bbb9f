/* site.h - the requests that a listener serves: their paths, their Host, and the Origin of their
 * pages.
 *
 * A page of the web can make a browser send requests to this machine, also under a name that it has
 * rebound to this machine's address (DNS rebinding). Such a request carries the page's Origin and
 * the rebound name as Host, so neither is accepted unless it is known (MCP basic/transports).
 * Pure; read-only after it is filled. */
#ifndef WRIT_GATEWAY_SITE_H
#define WRIT_GATEWAY_SITE_H

#include "gateway/listener/listener_types.h"

#define WRIT_SITE_NAMES_MAX 4

struct writ_site {
    const struct writ_route *routes;
    size_t route_count;
    const struct writ_view *hosts, *origins; /* as in the options of the listener */
    size_t host_count, origin_count;
    struct writ_view names[WRIT_SITE_NAMES_MAX]; /* names of the address itself, any port */
    size_t name_count;
    bool wildcard; /* the listener has 0.0.0.0 or :: */
};

/** Adds the names of an address.
 * @param name  as written: "127.0.0.1", "[::1]"; borrowed as long as the site is used */
void writ_site_name(struct writ_site *site, struct writ_view name, bool loopback, bool wildcard);

/** The first route that fits the path, or NULL. */
const struct writ_route *writ_site_route(const struct writ_site *site, struct writ_view path);

/**
 * Whether this Host is served.
 *
 * @param local          the local address of the connection, without a port; used when the listener
 *                       has a wildcard
 * @param peer_loopback  the client is on this machine
 */
bool writ_site_host_allowed(const struct writ_site *site, struct writ_view host,
    struct writ_view local, bool peer_loopback);

/** Whether a page of this Origin is served. Always true for the gateway's own origin. */
bool writ_site_origin_allowed(const struct writ_site *site, struct writ_view origin,
    struct writ_view local, bool peer_loopback);

#endif
