/* tool_name.h - names on the endpoint of all upstreams: "<upstream><separator><name>".
 *
 * SDKs and model APIs take names of 1 to 64 letters, digits, '_', '-' and '.'. A tool with another
 * joined name is shown under a short one: other characters are replaced, the end is cut off, and
 * the first eight hex digits of SHA-256 of the joined name replace it. The short name can be called
 * after its list was seen; policies and records have the tool's own name. */
#ifndef WRIT_GATEWAY_TOOL_NAME_H
#define WRIT_GATEWAY_TOOL_NAME_H

#include "gateway/mcp/catalog.h"

#define WRIT_TOOL_NAME_NAME_MAX 64

/** The upstream's name and the rest of a joined name: split at the first separator. False when
 * there is none. */
bool writ_tool_name_split(struct writ_view separator, struct writ_view name,
    struct writ_view *ret_upstream, struct writ_view *ret_own);

/** Appends a joined name unchanged. */
void writ_tool_name_join(struct writ_view separator, struct writ_view upstream,
    struct writ_view own, struct writ_buf *ret);

/** Appends the name under which a tool is shown. */
void writ_tool_name_put_tool(struct writ_view separator, struct writ_view upstream,
    struct writ_view own, struct writ_buf *ret);

/** The tool's own name for `own`, the part after the separator in the name of a call: a tool of
 * that name, else one that is shown under the joined name, else `own`. `catalog` may be NULL. The
 * view is valid as long as catalog and `own`. */
struct writ_view writ_tool_name_tool(struct writ_view separator, struct writ_view upstream,
    struct writ_view own, const struct writ_catalog *catalog);

#endif
