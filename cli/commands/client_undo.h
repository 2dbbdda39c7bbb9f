/* client_undo.h - takes back what was written into an MCP client's own file. */
#ifndef WRIT_CLI_CLIENT_UNDO_H
#define WRIT_CLI_CLIENT_UNDO_H

#include "cli/commands/client_place.h"

enum writ_client_undo {
    WRIT_CLIENT_UNDO_NOTHING = 0, /* Writ wrote nothing, or it is undone */
    WRIT_CLIENT_UNDO_FILE,        /* the file has its bytes of before */
    WRIT_CLIENT_UNDO_REMOVED,     /* the file was not there before, and is not now */
    WRIT_CLIENT_UNDO_ENTRIES,     /* the file changed since: Writ's entries alone were put back */
};

/** What an undo did. */
struct writ_client_undone {
    enum writ_client_undo what;
    size_t entries;          /* put back */
    struct writ_views left;  /* names of entries that were changed since, left as they are */
    struct writ_view backup; /* of ENTRIES: name of the file that stays; empty: there is none */
};

/** Takes back what Writ wrote into an open file. With entries that are left the record stays.
 * WRIT_E_ABSENT: the backup is needed, and not there; as writ_client_place_write. */
WRIT_RESULT writ_client_undo_run(
    struct writ_client_place *place, struct writ_client_undone *ret, struct writ_err *err);

#endif
