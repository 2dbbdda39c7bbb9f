/* init_token.c - the configuration names the user's own file by its whole path; the secret is never
 * copied. */
#include "cli/commands/init_token.h"

#include "policy/read/authorization.h"
#include "store/trusted/trusted.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

static WRIT_RESULT
read_header(
    const struct writ_init *init, struct writ_authorization_config *ret, struct writ_err *err)
{
    struct writ_view header = writ_cli_get(init->cli, "token-header");

    *ret = (struct writ_authorization_config){
        .header = WRIT_LIT("Authorization"), .scheme = WRIT_LIT("Bearer")};
    if (header.ptr == NULL) {
        return WRIT_DONE;
    }
    if (!writ_authorization_is_header(header)) {
        WRIT_FAIL(err, WRIT_E_INVALID,
            "--token-header: give the name of a header that Writ does not set itself");
    }
    *ret = (struct writ_authorization_config){.header = header, .scheme = WRIT_LIT("")};
    return WRIT_DONE;
}

/* The server of that name, or without a name the only one with a URL. */
static WRIT_RESULT
find_server(struct writ_init *init, struct writ_view name, struct writ_upstream_config **ret,
    struct writ_err *err)
{
    struct writ_upstream_config *found = NULL;
    size_t n = 0;

    for (size_t i = 0; i < init->n; i++) {
        if (init->servers[i].kind == WRIT_UPSTREAM_HTTP &&
            (name.len == 0 || writ_view_equal(name, init->servers[i].name))) {
            found = &init->servers[i];
            n++;
        }
    }
    if (n != 1) {
        WRIT_FAIL(err, WRIT_E_INVALID,
            "--token-file: %s: of several servers say NAME=FILE, with the NAME of a URL",
            n == 0 ? "no server with a URL has this name" : "it does not say which URL it is for");
    }
    *ret = found;
    return WRIT_DONE;
}

static WRIT_RESULT
add_file(struct writ_init *init, struct writ_view item,
    const struct writ_authorization_config *shown, struct writ_err *err)
{
    struct writ_authorization_config *authorization =
        writ_arena_get(init->arena, sizeof *authorization);
    size_t equals = writ_view_find(item, '=');
    bool named = equals < item.len;
    struct writ_view path =
        writ_view_copy(named ? writ_view_sub(item, equals + 1, item.len) : item, init->arena);
    struct writ_upstream_config *server = NULL;
    char real[PATH_MAX];

    if (authorization == NULL || path.ptr == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for a secret");
    }
    WRIT_TRY(
        find_server(init, named ? writ_view_sub(item, 0, equals) : WRIT_LIT(""), &server, err));
    if (realpath(path.ptr, real) == NULL) {
        return writ_trusted_fail(err, errno, path.ptr, "cannot be opened");
    }
    *authorization = *shown;
    authorization->file = writ_view_copy(writ_view_str(real), init->arena);
    if (authorization->file.ptr == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for a secret");
    }
    server->authorization = authorization;
    return WRIT_DONE;
}

WRIT_RESULT
writ_init_token_read(struct writ_init *init, struct writ_err *err)
{
    struct writ_view rest = writ_cli_get(init->cli, "token-file");
    struct writ_authorization_config shown;

    WRIT_TRY(read_header(init, &shown, err));
    while (rest.len > 0) {
        struct writ_view item = writ_view_sub(rest, 0, writ_view_find(rest, ','));

        WRIT_TRY(add_file(init, item, &shown, err));
        rest = writ_view_sub(rest, item.len + 1, rest.len);
    }
    return WRIT_DONE;
}
