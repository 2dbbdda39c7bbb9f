/* A word that is a path from the current folder is one that exists there: options and names of
 * packages are none. */
#include "cli/commands/server_folder.h"

#include "base/text.h"

#include <unistd.h>

/* Whether the word names something by a path from the current folder. */
static bool
is_relative(struct writ_view word, bool program)
{
    bool path = word.len > 0 && word.ptr[0] != '/' && word.ptr[0] != '-';

    if (program && writ_view_find(word, '/') == word.len) {
        return false; /* found by PATH */
    }
    return path && access(word.ptr, F_OK) == 0;
}

WRIT_RESULT
writ_server_folder_find(
    struct writ_upstream_config *server, struct writ_arena *arena, struct writ_err *err)
{
    struct writ_buf folder = writ_buf_in(arena, WRIT_TEXT_PATH_MAX);
    bool relative = false;

    for (size_t i = 0; i < server->stdio.n; i++) {
        relative = relative || is_relative(server->stdio.items[i], i == 0);
    }
    if (!relative) {
        return WRIT_DONE;
    }
    WRIT_TRY(writ_text_folder("x", &folder, err));
    writ_buf_byte(&folder, '\0');
    WRIT_TRY(writ_buf_check(&folder, err));
    server->directory = writ_view(folder.ptr, folder.len - 1);
    return WRIT_DONE;
}
