/* Hosts, origins and routes of a listener. A request is served only for a host that the listener
 * has and an origin that is permitted. */
#include "support/unit.h"

#include "gateway/listener/site.h"

static const struct writ_view hosts[] = {
    WRIT_LIT("gateway.example"), WRIT_LIT("other.example:8443")};
static const struct writ_view origins[] = {WRIT_LIT("https://app.example")};

static struct writ_site
site_of(const char *name, bool loopback, bool wildcard)
{
    struct writ_site site = {
        .hosts = hosts, .host_count = 2, .origins = origins, .origin_count = 1};

    writ_site_name(&site, writ_view_str(name), loopback, wildcard);
    return site;
}

static bool
host_ok(const struct writ_site *site, const char *host, const char *local, bool near)
{
    return writ_site_host_allowed(site, writ_view_str(host), writ_view_str(local), near);
}

static bool
origin_ok(const struct writ_site *site, const char *origin)
{
    return writ_site_origin_allowed(site, writ_view_str(origin), WRIT_LIT(""), true);
}

START_TEST(site_of_loopback_accepts_the_names_of_loopback)
{
    struct writ_site site = site_of("127.0.0.1", true, false);

    ck_assert(host_ok(&site, "127.0.0.1", "", true));
    ck_assert(host_ok(&site, "127.0.0.1:9999", "", true));
    ck_assert(host_ok(&site, "localhost:8700", "", true));
    ck_assert(host_ok(&site, "LocalHost", "", true));
    ck_assert(host_ok(&site, "[::1]:80", "", true));
    ck_assert(!host_ok(&site, "evil.example", "", true));
    ck_assert(!host_ok(&site, "localhost.evil.example", "", true));
    ck_assert(!host_ok(&site, "127.0.0.1.evil.example:8700", "", true));
    ck_assert(!host_ok(&site, "10.0.0.1", "", true));
}
END_TEST

START_TEST(site_accepts_a_configured_host_with_its_port)
{
    struct writ_site site = site_of("10.0.0.1", false, false);

    ck_assert(host_ok(&site, "10.0.0.1:1", "", false));
    ck_assert(host_ok(&site, "gateway.example", "", false));
    ck_assert(host_ok(&site, "GATEWAY.example:1", "", false));
    ck_assert(host_ok(&site, "other.example:8443", "", false));
    ck_assert(!host_ok(&site, "other.example", "", false));
    ck_assert(!host_ok(&site, "other.example:8444", "", false));
    ck_assert(!host_ok(&site, "localhost", "", true));
}
END_TEST

START_TEST(site_of_a_wildcard_accepts_the_reached_address)
{
    struct writ_site site = site_of("0.0.0.0", false, true);

    ck_assert(host_ok(&site, "10.0.0.7:80", "10.0.0.7", false));
    ck_assert(!host_ok(&site, "10.0.0.8", "10.0.0.7", false));
    ck_assert(!host_ok(&site, "0.0.0.0", "10.0.0.7", false));
    ck_assert(host_ok(&site, "localhost:80", "127.0.0.1", true));
    ck_assert(!host_ok(&site, "localhost", "10.0.0.7", false));
    ck_assert(!host_ok(&site, "evil.example", "127.0.0.1", true));
}
END_TEST

START_TEST(site_accepts_listed_origins_and_those_of_its_hosts)
{
    struct writ_site site = site_of("127.0.0.1", true, false);

    ck_assert(origin_ok(&site, "https://app.example"));
    ck_assert(origin_ok(&site, "http://localhost:3000"));
    ck_assert(origin_ok(&site, "https://gateway.example"));
    ck_assert(!origin_ok(&site, "http://app.example"));
    ck_assert(!origin_ok(&site, "https://app.example:444"));
    ck_assert(!origin_ok(&site, "https://evil.example"));
    ck_assert(!origin_ok(&site, "null"));
    ck_assert(!origin_ok(&site, ""));
    ck_assert(!origin_ok(&site, "localhost"));
    ck_assert(!origin_ok(&site, "ftp://localhost"));
    ck_assert(!origin_ok(&site, "http://localhost/path"));
    ck_assert(!origin_ok(&site, "http://localhost@evil.example"));
    ck_assert(!origin_ok(&site, "http://"));
}
END_TEST

START_TEST(site_route_accepts_a_final_slash_where_the_route_says_so)
{
    static const struct writ_route routes[] = {
        {.path = WRIT_LIT("/mcp"), .slash = true},
        {.path = WRIT_LIT("/metrics")},
    };
    struct writ_site site = {.routes = routes, .route_count = 2};

    ck_assert_ptr_eq(writ_site_route(&site, WRIT_LIT("/mcp")), &routes[0]);
    ck_assert_ptr_eq(writ_site_route(&site, WRIT_LIT("/mcp/")), &routes[0]);
    ck_assert_ptr_null(writ_site_route(&site, WRIT_LIT("/mcp//")));
    ck_assert_ptr_null(writ_site_route(&site, WRIT_LIT("/mcp/x")));
    ck_assert_ptr_null(writ_site_route(&site, WRIT_LIT("/metrics/")));
}
END_TEST

START_TEST(site_route_takes_the_first_match)
{
    static const struct writ_route routes[] = {
        {.path = WRIT_LIT("/mcp")},
        {.path = WRIT_LIT("/mcp/"), .prefix = true},
    };
    struct writ_site site = {.routes = routes, .route_count = 2};

    ck_assert_ptr_eq(writ_site_route(&site, WRIT_LIT("/mcp")), &routes[0]);
    ck_assert_ptr_eq(writ_site_route(&site, WRIT_LIT("/mcp/fs")), &routes[1]);
    ck_assert_ptr_null(writ_site_route(&site, WRIT_LIT("/mcpx")));
    ck_assert_ptr_null(writ_site_route(&site, WRIT_LIT("/MCP")));
    ck_assert_ptr_null(writ_site_route(&site, WRIT_LIT("/")));
}
END_TEST

WRIT_UNIT_MAIN("site", site_of_loopback_accepts_the_names_of_loopback,
    site_accepts_a_configured_host_with_its_port, site_of_a_wildcard_accepts_the_reached_address,
    site_accepts_listed_origins_and_those_of_its_hosts,
    site_route_accepts_a_final_slash_where_the_route_says_so, site_route_takes_the_first_match)
