/* The routes of both listeners. */
#include "gateway/service/routes.h"

#include "gateway/auth/resource.h"
#include "gateway/request/request.h"
#include "gateway/service/steps.h"

#define URL_MAX      512
#define METADATA_MAX 65536

static void
serve_jwks(struct writ_exchange *x, void *ctx)
{
    struct writ_gateway *gateway = ctx;
    const struct writ_header headers[] = {
        WRIT_HEADER_JSON,
        {WRIT_LIT("Cache-Control"), WRIT_LIT("public, max-age=60")},
    };

    writ_exchange_reply(x, 200, headers, 2,
        writ_buf_view(&writ_gateway_worker(gateway, x->loop)->generation->jwks));
}

/* The list of revoked credentials, current when it is sent. */
static void
serve_status_list(struct writ_exchange *x, void *ctx)
{
    static const struct writ_header headers[] = {
        {WRIT_LIT("Content-Type"), WRIT_LIT("application/statuslist+jwt")},
        {WRIT_LIT("Cache-Control"), WRIT_LIT("no-store")},
    };
    struct writ_gateway *gateway = ctx;
    const struct writ_generation *generation = writ_gateway_worker(gateway, x->loop)->generation;
    struct writ_view issuer = generation->config->issuer;
    writ_auto_buf uri = writ_buf_make(URL_MAX + 64);
    writ_auto_buf body = writ_buf_make(WRIT_JWS_BYTES_MAX);

    writ_stop_rules_put_uri(&uri, issuer.len > 0 ? issuer : gateway->issuer);
    if (!writ_ledger_is_live(gateway->ledger) || /* others may have revoked more */
        !writ_is_ok(writ_buf_check(&uri, NULL)) ||
        !writ_is_ok(writ_stop_rules_put_list(
            gateway->stop_rules, generation->signer, writ_buf_view(&uri), &body, NULL))) {
        writ_exchange_reply(x, 503, NULL, 0, writ_view(NULL, 0));
        return;
    }
    writ_exchange_reply(x, 200, headers, 2, writ_buf_view(&body));
}

/* These documents are for pages of every origin; browsers send a preflight because of a header of
 * clients. */
static void
serve_resource(struct writ_exchange *x, void *ctx)
{
    static const struct writ_header headers[] = {
        WRIT_HEADER_JSON,
        {WRIT_LIT("Cache-Control"), WRIT_LIT("public, max-age=60")},
        {WRIT_LIT("Access-Control-Allow-Origin"), WRIT_LIT("*")},
        {WRIT_LIT("Access-Control-Allow-Methods"), WRIT_LIT("GET")},
        {WRIT_LIT("Access-Control-Allow-Headers"), WRIT_LIT("MCP-Protocol-Version")},
    };
    const struct writ_routes *routes = ctx;
    const struct writ_config *config =
        writ_gateway_worker(routes->gateway, x->loop)->generation->config;
    writ_auto_buf body = writ_buf_make(METADATA_MAX);

    if (x->method == WRIT_METHOD_OPTIONS) {
        writ_exchange_reply(x, 204, headers + 2, 3, (struct writ_view){NULL, 0});
        return;
    }
    for (size_t i = 0; body.len == 0 && i <= routes->gateway->upstreams_n; i++) {
        const struct writ_resource resource = {
            .config = config,
            .path = routes->endpoints[i].path,
            .upstream =
                i > 0 ? writ_upstream_config(routes->endpoints[i].only)->name : writ_view(NULL, 0),
        };
        if (writ_resource_is_announced(config) &&
            writ_resource_is_asked_for(&resource, x->suffix)) {
            writ_resource_put_metadata(&resource, &body);
        }
    }
    if (body.len == 0 || !writ_is_ok(writ_buf_check(&body, NULL))) {
        writ_exchange_reply(x, body.len == 0 ? 404 : 500, headers + 2, 1, writ_view(NULL, 0));
        return;
    }
    writ_exchange_reply(x, 200, headers, 3, writ_buf_view(&body));
}

static void
add_endpoint(struct writ_routes *routes, size_t index, struct writ_upstream *only)
{
    struct writ_endpoint *endpoint = &routes->endpoints[index];
    writ_auto_buf path = writ_buf_make(WRIT_ROUTES_PATH_MAX - 1);

    writ_buf_str(&path, "/mcp");
    if (only != NULL) {
        writ_buf_byte(&path, '/');
        writ_buf_put(&path, writ_upstream_config(only)->name);
    }
    WRIT_INVARIANT(writ_is_ok(writ_buf_check(&path, NULL))); /* names have at most 32 bytes */
    for (size_t i = 0; i < path.len; i++) {
        routes->paths[index][i] = path.ptr[i];
    }
    *endpoint = (struct writ_endpoint){.gateway = routes->gateway,
        .kind = &writ_steps_mcp,
        .path = writ_view(routes->paths[index], path.len),
        .only = only};
    routes->list[routes->n++] = (struct writ_route){
        .path = endpoint->path,
        .slash = true,
        .methods = WRIT_ROUTE_POST | WRIT_ROUTE_GET | WRIT_ROUTE_DELETE,
        .json = true,
        .max_body_bytes = (size_t)routes->gateway->config->limits.body_bytes,
        .handler = writ_request_start,
        .ctx = endpoint,
    };
}

void
writ_routes_make(struct writ_routes *routes, struct writ_gateway *gateway)
{
    routes->gateway = gateway;
    add_endpoint(routes, 0, NULL);
    for (size_t i = 0; i < gateway->upstreams_n; i++) {
        add_endpoint(routes, i + 1, gateway->upstreams[i]);
    }
    writ_hook_routes(gateway, (size_t)gateway->config->limits.body_bytes, routes->hooks,
        routes->list + routes->n);
    routes->n += WRIT_HOOK_ROUTES;
    routes->list[routes->n++] = (struct writ_route){
        .path = WRIT_LIT("/.well-known/jwks.json"),
        .methods = WRIT_ROUTE_GET,
        .handler = serve_jwks,
        .ctx = gateway,
    };
    routes->list[routes->n++] = (struct writ_route){
        .path = WRIT_LIT(WRIT_STOP_RULES_WELL_KNOWN),
        .methods = WRIT_ROUTE_GET,
        .any_origin = true,
        .handler = serve_status_list,
        .ctx = gateway,
    };
    routes->list[routes->n++] = (struct writ_route){
        .path = WRIT_LIT(WRIT_RESOURCE_WELL_KNOWN),
        .prefix = true,
        .methods = WRIT_ROUTE_GET | WRIT_ROUTE_OPTIONS,
        .any_origin = true,
        .handler = serve_resource,
        .ctx = routes,
    };
}

void
writ_routes_make_admin(struct writ_routes *ret, struct writ_gateway *gateway)
{
    struct writ_route *routes = ret->admin;

    writ_admin_routes(&gateway->admin, routes);
    routes += WRIT_ADMIN_ROUTES;
    writ_review_api_routes(gateway, routes);
    routes += WRIT_REVIEW_API_ROUTES;
    writ_login_routes(gateway, routes);
    routes += WRIT_LOGIN_ROUTES;
    writ_ledger_api_routes(gateway, routes);
    routes += WRIT_LEDGER_API_ROUTES;
    writ_page_routes(routes);
    routes += WRIT_PAGE_ROUTES;
    writ_kill_api_routes(gateway, routes);
    routes += WRIT_KILL_API_ROUTES;
    writ_contents_looks_routes(gateway, routes);
    routes += WRIT_CONTENTS_LOOKS_ROUTES;
    writ_overview_api_routes(gateway, routes);
    routes += WRIT_OVERVIEW_API_ROUTES;
    writ_tools_api_routes(gateway, routes);
    routes += WRIT_TOOLS_API_ROUTES;
    writ_policy_api_routes(gateway, routes);
    routes += WRIT_POLICY_API_ROUTES;
    writ_policy_history_routes(gateway, routes);
    routes += WRIT_POLICY_HISTORY_ROUTES;
    writ_policy_replay_routes(gateway, routes);
    routes += WRIT_POLICY_REPLAY_ROUTES;
    writ_budgets_api_routes(gateway, routes);
    routes += WRIT_BUDGETS_API_ROUTES;
    writ_contents_api_routes(gateway, routes);
    routes += WRIT_CONTENTS_API_ROUTES;
    writ_archive_api_routes(gateway, routes);
    routes += WRIT_ARCHIVE_API_ROUTES;
    writ_delegation_api_routes(gateway, routes);
    writ_login_guard_routes(gateway, ret->admin, WRIT_ROUTES_ADMIN, ret->guards);
    for (size_t i = 0; i < WRIT_ROUTES_ADMIN; i++) {
        ret->admin[i].problems = true; /* none of them speaks JSON-RPC */
    }
}
