/* A configuration that takes PATH from clients names its programs by whole paths. */
#include "cli/commands/server_program.h"

#include "base/text.h"
#include "gateway/io/spawn.h"

#include <stdlib.h>

static struct writ_view
path_for(const struct writ_upstream_config *server)
{
    for (size_t i = 0; i < server->environment.n; i++) {
        if (writ_view_is(server->environment.items[i].name, "PATH")) {
            return server->environment.items[i].value;
        }
    }
    return writ_view_str(getenv("PATH"));
}

static struct writ_view
without_slash(struct writ_view folder)
{
    bool slash = writ_view_has_suffix(folder, WRIT_LIT("/"));

    return writ_view_sub(folder, 0, folder.len - (slash ? 1 : 0));
}

/* With its NUL. */
static WRIT_RESULT
find(const struct writ_upstream_config *server, struct writ_view word, struct writ_buf *ret,
    struct writ_err *err)
{
    if (writ_view_find(word, '/') == word.len) {
        if (!writ_spawn_find(word, path_for(server), ret)) {
            WRIT_FAIL(
                err, WRIT_E_ABSENT, WRIT_VIEW_FMT ": no such program in PATH", WRIT_VIEW_ARG(word));
        }
        return WRIT_DONE;
    }
    if (server->directory.len > 0) {
        writ_buf_put(ret, without_slash(server->directory));
        writ_buf_byte(ret, '/');
    } else {
        WRIT_TRY(writ_text_folder("x", ret, err));
    }
    writ_buf_put(ret, word);
    writ_buf_byte(ret, '\0');
    return writ_buf_check(ret, err);
}

WRIT_RESULT
writ_server_program_find(
    struct writ_upstream_config *server, struct writ_arena *arena, struct writ_err *err)
{
    struct writ_buf path = writ_buf_in(arena, WRIT_TEXT_PATH_MAX);
    struct writ_view *words;

    if (server->kind != WRIT_UPSTREAM_STDIO ||
        writ_view_has_prefix(server->stdio.items[0], WRIT_LIT("/"))) {
        return WRIT_DONE;
    }
    WRIT_TRY(find(server, server->stdio.items[0], &path, err));
    words = writ_arena_get(arena, server->stdio.n * sizeof *words);
    if (words == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for a command");
    }
    for (size_t i = 0; i < server->stdio.n; i++) {
        words[i] = server->stdio.items[i];
    }
    words[0] = writ_view(path.ptr, path.len - 1);
    server->stdio.items = words;
    return WRIT_DONE;
}

bool
writ_server_program_is(const struct writ_upstream_config *server, struct writ_view word)
{
    struct writ_view program = server->stdio.items[0], rest;

    if (writ_view_equal(word, program)) {
        return true;
    }
    if (word.len == 0 || word.ptr[0] == '/' || word.len >= program.len) {
        return false;
    }
    rest = writ_view_sub(program, 0, program.len - word.len);
    if (!writ_view_has_suffix(program, word) || !writ_view_has_suffix(rest, WRIT_LIT("/"))) {
        return false;
    }
    return writ_view_find(word, '/') == word.len ||
           writ_view_equal(without_slash(rest), without_slash(server->directory));
}
