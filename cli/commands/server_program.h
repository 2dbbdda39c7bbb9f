/* server_program.h - the program of a tool server's command, as a path that no PATH changes. */
#ifndef WRIT_CLI_SERVER_PROGRAM_H
#define WRIT_CLI_SERVER_PROGRAM_H

#include "policy/model/config.h"

/** Replaces the program of a command by its whole path: a name is searched in PATH of the server's
 * environment or else of our own, a path begins at the server's directory or else at the current
 * folder. A server with a URL stays. In the arena. WRIT_E_ABSENT, WRIT_E_IO, WRIT_E_NOMEM. */
WRIT_RESULT writ_server_program_find(
    struct writ_upstream_config *server, struct writ_arena *arena, struct writ_err *err);

/** Whether the first word of a command means the program of the server: it is the same, the last
 * part of its path, or the path from the server's directory. */
bool writ_server_program_is(const struct writ_upstream_config *server, struct writ_view word);

#endif
