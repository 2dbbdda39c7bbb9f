/* server_name.h - a name for a tool server that its user did not name: from its URL or command. */
#ifndef WRIT_CLI_SERVER_NAME_H
#define WRIT_CLI_SERVER_NAME_H

#include "policy/model/config.h"

/** Whether an operand is a URL, or NAME=URL; else it is a word of a command. */
bool writ_server_name_is_url(struct writ_view operand);

/** Whether the text has 1 to `most` letters, digits, `-` and `_`. */
bool writ_server_name_is_plain(struct writ_view text, size_t most);

/** WRIT_E_INVALID for what a configuration does not take as a name of an upstream. */
WRIT_RESULT writ_server_name_check(struct writ_view name, struct writ_err *err);

/** The first label of the host, or "tools" for a number or localhost. WRIT_E_NOMEM. */
WRIT_RESULT writ_server_name_of_url(const struct writ_upstream_config *server,
    struct writ_arena *arena, struct writ_view *ret, struct writ_err *err);

/** What the program or package is called, without launchers (npx, uvx, node, ...) and without
 * "mcp" and "server": "filesystem" of `npx -y @modelcontextprotocol/server-filesystem@1 /srv`.
 * WRIT_E_NOMEM. */
WRIT_RESULT writ_server_name_of_command(const struct writ_upstream_config *server,
    struct writ_arena *arena, struct writ_view *ret, struct writ_err *err);

/** The text, cut, with a hyphen for what a name cannot have; "tools" for nothing. WRIT_E_NOMEM. */
WRIT_RESULT writ_server_name_of_text(
    struct writ_view text, struct writ_arena *arena, struct writ_view *ret, struct writ_err *err);

#endif
