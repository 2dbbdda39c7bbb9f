/* method.h - the table of MCP methods (method.tbl.h) and the route of each. */
#ifndef WRIT_GATEWAY_METHOD_H
#define WRIT_GATEWAY_METHOD_H

#include "base/bytes.h"
#include "gateway/mcp/method.tbl.h"

enum writ_mcp_method {
    WRIT_MCP_UNKNOWN = 0, /* no row: an extension, or nothing (writ_method_may_pass) */
#define WRIT_METHOD_ENUM(NAME, wire, route) WRIT_MCP_##NAME,
    WRIT_METHODS(WRIT_METHOD_ENUM)
#undef WRIT_METHOD_ENUM
        WRIT_MCP_METHOD_COUNT
};

enum writ_mcp_route {
    WRIT_ROUTE_UNKNOWN = 0,
    WRIT_ROUTE_LOCAL,
    WRIT_ROUTE_HANDSHAKE,
    WRIT_ROUTE_CALL,
    WRIT_ROUTE_NAMED,
    WRIT_ROUTE_LIST,
    WRIT_ROUTE_URI,
    WRIT_ROUTE_ALL,
    WRIT_ROUTE_COMPLETE,
    WRIT_ROUTE_CANCEL,
    WRIT_ROUTE_SINGLE,
    WRIT_ROUTE_STREAM,
    WRIT_ROUTE_TASK,
};

/** The method of that name, compared byte by byte. */
enum writ_mcp_method writ_method_find(struct writ_view name);

/** Whether a method without a row may go to an upstream. Refused: a name that equals one of a row
 * except for case or separators, one that concerns tools, and one with unusual characters. */
bool writ_method_may_pass(struct writ_view name);

/** The route of a method. */
enum writ_mcp_route writ_method_route(enum writ_mcp_method method);

/** Its name on the wire. Static storage. */
struct writ_view writ_method_name(enum writ_mcp_method method);

#endif
