/* server_folder.h - the folders of a tool server's command. */
#ifndef WRIT_CLI_SERVER_FOLDER_H
#define WRIT_CLI_SERVER_FOLDER_H

#include "policy/model/config.h"

/** Sets the directory of a server whose command names something in the current folder: it needs
 * that folder whenever it is started. In the arena. WRIT_E_IO, WRIT_E_NOMEM. */
WRIT_RESULT writ_server_folder_find(
    struct writ_upstream_config *server, struct writ_arena *arena, struct writ_err *err);

/** The word of the command, or the value of a variable, that names a folder around `folder`; empty:
 * there is none. Borrowed from `server`. */
struct writ_view writ_server_folder_around(
    const struct writ_upstream_config *server, const char *folder);

#endif
