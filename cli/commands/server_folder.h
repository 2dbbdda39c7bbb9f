/* server_folder.h - the working directory that a command of a tool server needs. */
#ifndef WRIT_CLI_SERVER_FOLDER_H
#define WRIT_CLI_SERVER_FOLDER_H

#include "policy/model/config.h"

/** Sets the directory of a server whose command names something in the current folder: it needs
 * that folder whenever it is started. In the arena. WRIT_E_IO, WRIT_E_NOMEM. */
WRIT_RESULT writ_server_folder_find(
    struct writ_upstream_config *server, struct writ_arena *arena, struct writ_err *err);

#endif
