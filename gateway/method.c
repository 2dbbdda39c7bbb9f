#include "gateway/method.h"

struct row {
    struct writ_view name;
    enum writ_mcp_route route;
};

static const struct row rows[WRIT_MCP_METHOD_COUNT] = {
#define METHOD_ROW(NAME, wire, to) [WRIT_MCP_##NAME] = {{wire, sizeof wire - 1}, WRIT_ROUTE_##to},
    WRIT_METHODS(METHOD_ROW)
#undef METHOD_ROW
};

enum writ_mcp_method
writ_method_find(struct writ_view name)
{
    for (unsigned i = WRIT_MCP_UNKNOWN + 1; i < WRIT_MCP_METHOD_COUNT; i++) {
        if (writ_view_equal(rows[i].name, name)) {
            return (enum writ_mcp_method)i;
        }
    }
    return WRIT_MCP_UNKNOWN;
}

enum writ_mcp_route
writ_method_route(enum writ_mcp_method method)
{
    return (unsigned)method < WRIT_MCP_METHOD_COUNT ? rows[method].route : WRIT_ROUTE_UNKNOWN;
}

struct writ_view
writ_method_name(enum writ_mcp_method method)
{
    return (unsigned)method < WRIT_MCP_METHOD_COUNT ? rows[method].name : rows[0].name;
}
