/* client_file.h - the servers that an MCP client's own configuration file starts or connects to.
 *
 * Read are `mcpServers` (most clients), `servers` (VS Code) and `context_servers` (Zed), each
 * {name: {command, args, env, cwd}} or {name: {url, headers}}; the URL is also `serverUrl`
 * (Windsurf) or `httpUrl` (Gemini CLI). A server that cannot be asked is listed with the reason.
 *
 * What a client fills in itself, ${NAME} or ${env:NAME}, is taken where a configuration can say the
 * same: a variable that the server inherits, or the secret of a header. Elsewhere it is a reason.
 */
#ifndef WRIT_GATEWAY_CLIENT_FILE_H
#define WRIT_GATEWAY_CLIENT_FILE_H

#include "gateway/discover/client_text.h"
#include "policy/model/config.h"

/** One entry of the file. */
struct writ_client_file_server {
    struct writ_upstream_config config; /* `name` is the client's own, of any form. The secret of a
                                         * header is `secret` of its `authorization` */
    const struct writ_json *env;        /* as it stands in the file; NULL: none. May have secrets */
    const char *fault;                  /* why it is not asked; NULL: it is. Static storage */
    bool disabled;                      /* that is why: the client does not use it */
};

/** What a file says. All of it lives in the arena. */
struct writ_client_file {
    const struct writ_client_file_server *servers;
    size_t n;
    struct writ_client_path list; /* the object that they are in */
};

/**
 * Reads the text of such a file.
 *
 * @param arena  keeps what is made, also a copy of `text`
 * @param ret    written only on success
 *
 * @return WRIT_OK
 *         WRIT_E_PARSE    not what clients read (client_text.h)
 *         WRIT_E_INVALID  no list of servers
 *         WRIT_E_LIMIT    more servers than WRIT_UPSTREAMS_MAX, or too large a file
 *         WRIT_E_NOMEM
 */
WRIT_RESULT writ_client_file_read(struct writ_view text, struct writ_arena *arena,
    struct writ_client_file *ret, struct writ_err *err);

#endif
