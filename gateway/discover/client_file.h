/* client_file.h - the servers that an MCP client's own configuration file starts or connects to.
 *
 * Read are `mcpServers` (Claude Desktop, Claude Code, Cursor, Windsurf and most others) and
 * `servers` (VS Code), each {name: {command, args, env, cwd}} or {name: {url}}. The file is
 * strict JSON. A server that cannot be asked is listed with the reason. */
#ifndef WRIT_GATEWAY_CLIENT_FILE_H
#define WRIT_GATEWAY_CLIENT_FILE_H

#include "policy/model/config.h"

#define WRIT_CLIENT_FILE_MAX ((size_t)1 << 20) /* bytes of the file */

/** One entry of the file. */
struct writ_client_file_server {
    struct writ_upstream_config config; /* `name` is the client's own, of any form */
    const char *fault;                  /* why it is not asked; NULL: it is. Static storage */
};

/**
 * Reads the text of such a file.
 *
 * @param arena  keeps what is made, also a copy of `text`
 * @param ret    written only on success
 *
 * @return WRIT_OK
 *         WRIT_E_PARSE    not JSON
 *         WRIT_E_INVALID  no list of servers
 *         WRIT_E_LIMIT    more servers than WRIT_UPSTREAMS_MAX
 *         WRIT_E_NOMEM
 */
WRIT_RESULT writ_client_file_read(struct writ_view text, struct writ_arena *arena,
    const struct writ_client_file_server **ret, size_t *ret_n, struct writ_err *err);

#endif
