/* stdio_validate.c - the checks of an MCP server over HTTP on MCP-Protocol-Version and Accept. Only
 * requests of the older family are refused here. */
#include "gateway/upstream/stdio_validate.h"

#include "gateway/upstream/stdio_send.h"

static struct writ_view
next_of(struct writ_view *list)
{
    size_t end = writ_view_find(*list, ',');
    struct writ_view range = writ_view_sub(*list, 0, end);

    *list = writ_view_sub(*list, end < list->len ? end + 1 : end, SIZE_MAX);
    return range;
}

/* `kind`: all types that begin as this one. */
static bool
accepts(struct writ_view list, struct writ_view type, struct writ_view kind)
{
    bool found = list.len == 0;

    while (list.len > 0) {
        struct writ_view range = next_of(&list);
        found = found || writ_header_has_type(range, type) || writ_header_has_type(range, kind) ||
                writ_header_has_type(range, WRIT_LIT("*/*"));
    }
    return found;
}

static bool
accepts_both(struct writ_view list)
{
    return accepts(list, WRIT_LIT("application/json"), WRIT_LIT("application/*")) &&
           accepts(list, WRIT_LIT("text/event-stream"), WRIT_LIT("text/*"));
}

bool
writ_stdio_validate_refuses(struct writ_flight *flight)
{
    const struct writ_upcall_request *request = flight->request;
    bool says_version = request->version.ptr != NULL && flight->name != WRIT_MCP_INITIALIZE;

    if (flight->era != WRIT_MCP_LEGACY) {
        return false;
    }
    if (says_version && !writ_mcp_is_legacy_version(request->version)) {
        writ_stdio_send_error(
            flight, 400, WRIT_RPC_SERVER_ERROR, "Bad Request: Unsupported protocol version");
        return true;
    }
    if (flight->method == WRIT_METHOD_POST && !accepts_both(request->accept)) {
        writ_stdio_send_error(flight, 406, WRIT_RPC_SERVER_ERROR,
            "Not Acceptable: Client must accept both application/json and text/event-stream");
        return true;
    }
    return false;
}
