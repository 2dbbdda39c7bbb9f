/* site.c - an unknown Host or Origin is refused. The configured ones are known, the listener's own
 * names, and on a wildcard address the address to which the client connected. */
#include "gateway/listener/site.h"

#include "gateway/http/framing.h"

void
writ_site_name(struct writ_site *site, struct writ_view name, bool loopback, bool wildcard)
{
    site->wildcard = wildcard;
    site->name_count = 0;
    if (!wildcard) {
        site->names[site->name_count++] = name;
    }
    if (loopback) {
        site->names[site->name_count++] = WRIT_LIT("localhost");
        site->names[site->name_count++] = WRIT_LIT("127.0.0.1");
        site->names[site->name_count++] = WRIT_LIT("[::1]");
    }
}

const struct writ_route *
writ_site_route(const struct writ_site *site, struct writ_view path)
{
    for (size_t i = 0; i < site->route_count; i++) {
        const struct writ_route *route = &site->routes[i];
        bool begins = writ_view_has_prefix(path, route->path);
        struct writ_view rest = writ_view_sub(path, route->path.len, path.len);
        if (begins &&
            (route->prefix || rest.len == 0 || (route->slash && writ_view_is(rest, "/")))) {
            return route;
        }
    }
    return NULL;
}

/* A Host with a port in the options requires that port; one without accepts any. */
static bool
host_matches(struct writ_view allowed, struct writ_view host, struct writ_view name)
{
    struct writ_view allowed_name, allowed_port;

    writ_framing_split_host(allowed, &allowed_name, &allowed_port);
    return writ_view_equal_nocase(allowed, allowed_port.len > 0 ? host : name);
}

bool
writ_site_host_allowed(
    const struct writ_site *site, struct writ_view host, struct writ_view local, bool peer_loopback)
{
    struct writ_view name, port;

    writ_framing_split_host(host, &name, &port);
    for (size_t i = 0; i < site->name_count; i++) {
        if (writ_view_equal_nocase(name, site->names[i])) {
            return true;
        }
    }
    for (size_t i = 0; i < site->host_count; i++) {
        if (host_matches(site->hosts[i], host, name)) {
            return true;
        }
    }
    if (!site->wildcard) {
        return false;
    }
    /* an attacker who rebinds a name to this machine makes the browser send the name, not the
     * address */
    return (local.len > 0 && writ_view_equal_nocase(name, local)) ||
           (peer_loopback && writ_view_equal_nocase(name, WRIT_LIT("localhost")));
}

bool
writ_site_origin_allowed(const struct writ_site *site, struct writ_view origin,
    struct writ_view local, bool peer_loopback)
{
    static const struct writ_view schemes[] = {WRIT_LIT("http://"), WRIT_LIT("https://")};

    for (size_t i = 0; i < site->origin_count; i++) {
        if (writ_view_equal_nocase(site->origins[i], origin)) {
            return true;
        }
    }
    for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++) {
        struct writ_view start = writ_view_sub(origin, 0, schemes[i].len);
        struct writ_view host = writ_view_sub(origin, schemes[i].len, origin.len);
        if (writ_view_equal_nocase(start, schemes[i]) && writ_framing_is_host(host)) {
            return writ_site_host_allowed(site, host, local, peer_loopback);
        }
    }
    return false;
}
