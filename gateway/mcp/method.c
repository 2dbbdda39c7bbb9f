/* method.c - looks methods up by exact name. A method without a row may pass only when no row
 * equals it after folding, so that a lenient server cannot take it for a governed one. */
#include "gateway/mcp/method.h"

#define NAME_MAX 128 /* bytes of a method's name */

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

/* Letters in lower case, and digits, without the separators between them. False: other
 * characters. */
static bool
fold(struct writ_view name, struct writ_buf *ret)
{
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        if (c >= 'A' && c <= 'Z') {
            c = (char)(c - 'A' + 'a');
        }
        if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) {
            writ_buf_byte(ret, c);
        } else if (writ_view_find(WRIT_LIT("/._-:$"), c) == sizeof "/._-:$" - 1) {
            return false;
        }
    }
    return writ_is_ok(writ_buf_check(ret, NULL));
}

bool
writ_method_may_pass(struct writ_view name)
{
    writ_auto_buf folded = writ_buf_make(NAME_MAX), row = writ_buf_make(NAME_MAX);

    if (name.len > NAME_MAX || !fold(name, &folded) || folded.len == 0 ||
        writ_view_search(writ_buf_view(&folded), WRIT_LIT("tool")) < folded.len) {
        return false;
    }
    for (unsigned i = WRIT_MCP_UNKNOWN + 1; i < WRIT_MCP_METHOD_COUNT; i++) {
        writ_buf_clear(&row);
        if (!fold(rows[i].name, &row) ||
            writ_view_equal(writ_buf_view(&row), writ_buf_view(&folded))) {
            return false;
        }
    }
    return true;
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
