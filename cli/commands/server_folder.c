/* A word that is a path from the current folder is one that exists there: options and names of
 * packages are none. */
#include "cli/commands/server_folder.h"

#include "base/text.h"
#include "policy/model/path.h"

#include <limits.h>
#include <stdlib.h>
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

/* The path without links and dots; {NULL, 0} for what is not there. */
static struct writ_view
real_path(const char *path, char *memory)
{
    return writ_view_str(realpath(path, memory));
}

/* Whether the text names a folder around ours; a relative one begins at the server's folder. */
static bool
is_around(const struct writ_upstream_config *server, struct writ_view ours, struct writ_view text)
{
    writ_auto_buf path = writ_buf_make(PATH_MAX);
    char memory[PATH_MAX];
    struct writ_view given;

    if (server->directory.len > 0 && !writ_view_has_prefix(text, WRIT_LIT("/"))) {
        writ_buf_put(&path, server->directory);
        writ_buf_byte(&path, '/');
    }
    writ_buf_put(&path, text);
    writ_buf_byte(&path, '\0');
    if (text.len == 0 || !writ_is_ok(writ_buf_check(&path, NULL))) {
        return false;
    }
    given = real_path(path.ptr, memory);
    return given.len > 0 && writ_path_is_normal(given) && writ_path_is_under(ours, &given, 1);
}

struct writ_view
writ_server_folder_around(const struct writ_upstream_config *server, const char *folder)
{
    char memory[PATH_MAX];
    struct writ_view ours = real_path(folder, memory);

    for (size_t i = 1; i < server->stdio.n; i++) {
        struct writ_view word = server->stdio.items[i];
        size_t equals = writ_view_find(word, '='); /* --root=/srv */

        if (is_around(server, ours, word) ||
            is_around(server, ours, writ_view_sub(word, equals + 1, word.len))) {
            return word;
        }
    }
    for (size_t i = 0; i < server->environment.n; i++) {
        if (is_around(server, ours, server->environment.items[i].value)) {
            return server->environment.items[i].value;
        }
    }
    return writ_view(NULL, 0);
}
