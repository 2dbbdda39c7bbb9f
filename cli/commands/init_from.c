/* init_from.c - a server has the same name in the configuration on every run over the same file:
 * the names are made from all entries, also from those that are left. */
#include "cli/commands/init_from.h"

#include "base/text.h"
#include "cli/base/cli.h"
#include "cli/commands/server_folder.h"
#include "cli/commands/server_name.h"

#define NAME_ROOM   40
#define NAME_MAX    32 /* as a configuration has it */
#define SHOWN_MAX   80 /* bytes of a client's name in an error */
#define NUMBERS_MAX 300

/* One run. */
struct reading {
    const struct writ_init_from_options *options;
    struct writ_arena *arena;
    struct writ_init_from *ret;
    struct writ_client_file file;
    struct writ_view *names; /* of all its servers, in the configuration */
    struct writ_view *left;
};

static WRIT_RESULT
no_memory(struct writ_err *err)
{
    WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for the servers of a client");
}

/* ---- names */

static bool
is_taken(const struct reading *r, size_t n, struct writ_view name)
{
    for (size_t i = 0; i < n; i++) {
        if (writ_view_equal(r->names[i], name)) {
            return true;
        }
    }
    return false;
}

/* The client's name if a configuration takes it, else one that is near. */
static WRIT_RESULT
name_server(const struct reading *r, size_t i, struct writ_err *err)
{
    struct writ_view given = r->file.servers[i].config.name, name = given;

    if (!writ_is_ok(writ_server_name_check(given, NULL))) {
        WRIT_TRY(writ_server_name_of_text(given, r->arena, &name, err));
    }
    r->names[i] = name;
    for (int number = 2; is_taken(r, i, r->names[i]) && number < NUMBERS_MAX; number++) {
        struct writ_buf other = writ_buf_in(r->arena, NAME_ROOM);

        writ_buf_put(&other, writ_view_sub(name, 0, NAME_MAX - 4));
        while (
            other.len > 0 && (other.ptr[other.len - 1] == '-' || other.ptr[other.len - 1] == '_')) {
            other.len--;
        }
        writ_buf_fmt(&other, "-%d", number);
        WRIT_TRY(writ_buf_check(&other, err));
        r->names[i] = writ_buf_view(&other);
    }
    return WRIT_DONE;
}

/* ---- servers that are left */

static bool
is_skipped(const struct reading *r, size_t i)
{
    struct writ_view rest = r->options->skip;

    while (rest.len > 0) {
        struct writ_view name = writ_view_sub(rest, 0, writ_view_find(rest, ','));

        if (writ_view_equal(name, r->file.servers[i].config.name) ||
            writ_view_equal(name, r->names[i])) {
            return true;
        }
        rest = writ_view_sub(rest, name.len + 1, rest.len);
    }
    return false;
}

/* Each name of --skip is that of a server. */
static WRIT_RESULT
check_skip(const struct reading *r, struct writ_err *err)
{
    struct writ_view rest = r->options->skip;

    while (rest.len > 0) {
        struct writ_view name = writ_view_sub(rest, 0, writ_view_find(rest, ','));
        bool there = is_taken(r, r->file.n, name);

        for (size_t i = 0; i < r->file.n; i++) {
            there = there || writ_view_equal(name, r->file.servers[i].config.name);
        }
        if (!there) {
            WRIT_FAIL(err, WRIT_E_INVALID, "--skip: the file has no server " WRIT_VIEW_FMT,
                WRIT_VIEW_ARG(name));
        }
        rest = writ_view_sub(rest, name.len + 1, rest.len);
    }
    return WRIT_DONE;
}

static bool
is_faulty(const struct reading *r, size_t i)
{
    return r->file.servers[i].fault != NULL && !r->file.servers[i].disabled && !is_skipped(r, i);
}

/* The first one with its reason, and all in the hint. */
static WRIT_RESULT
check_faults(const struct reading *r, struct writ_err *err)
{
    writ_auto_buf names = writ_buf_make(WRIT_ERR_TEXT), name = writ_buf_make(16 * SHOWN_MAX);
    const char *why = NULL;

    for (size_t i = 0; i < r->file.n; i++) {
        if (!is_faulty(r, i)) {
            continue;
        }
        if (why == NULL) {
            writ_text_safe(&name, r->file.servers[i].config.name, SHOWN_MAX);
            why = r->file.servers[i].fault;
        }
        writ_buf_str(&names, names.len > 0 ? "," : "");
        writ_buf_put(&names, r->names[i]);
    }
    if (why != NULL) {
        WRIT_FAIL(err, WRIT_E_INVALID,
            WRIT_VIEW_FMT ": %s. Or take the others alone: --skip " WRIT_VIEW_FMT,
            WRIT_VIEW_ARG(writ_buf_view(&name)), why, WRIT_VIEW_ARG(writ_buf_view(&names)));
    }
    return WRIT_DONE;
}

/* ---- servers that are taken */

/* The working directory as a whole path. */
static WRIT_RESULT
find_folder(const struct reading *r, struct writ_upstream_config *server, struct writ_err *err)
{
    struct writ_buf folder = writ_buf_in(r->arena, WRIT_TEXT_PATH_MAX);

    if (server->kind != WRIT_UPSTREAM_STDIO) {
        return WRIT_DONE;
    }
    if (server->directory.len == 0) {
        return writ_server_folder_find(server, r->arena, err);
    }
    if (server->directory.ptr[0] == '/') {
        return WRIT_DONE;
    }
    WRIT_TRY(writ_text_folder("x", &folder, err));
    writ_buf_put(&folder, server->directory);
    writ_buf_byte(&folder, '\0');
    WRIT_TRY(writ_buf_check(&folder, err));
    server->directory = writ_view(folder.ptr, folder.len - 1);
    return WRIT_DONE;
}

static WRIT_RESULT
take_server(const struct reading *r, size_t i, struct writ_err *err)
{
    const struct writ_client_file_server *server = &r->file.servers[i];
    struct writ_init_from_server *ret = &r->ret->servers[r->ret->n];

    if (server->disabled || is_skipped(r, i)) {
        r->left[r->ret->left.n++] = server->config.name;
        return WRIT_DONE;
    }
    *ret = (struct writ_init_from_server){server->config.name, server->env, server->config};
    ret->config.name = r->names[i];
    WRIT_TRY(find_folder(r, &ret->config, err));
    r->ret->n++;
    return WRIT_DONE;
}

static WRIT_RESULT
take_servers(struct reading *r, struct writ_err *err)
{
    size_t n = r->file.n;

    r->names = writ_arena_get(r->arena, (n + 1) * sizeof *r->names);
    r->left = writ_arena_get(r->arena, (n + 1) * sizeof *r->left);
    r->ret->servers = writ_arena_get(r->arena, (n + 1) * sizeof *r->ret->servers);
    if (r->names == NULL || r->left == NULL || r->ret->servers == NULL) {
        return no_memory(err);
    }
    r->ret->left.items = r->left;
    r->ret->list = r->file.list;
    for (size_t i = 0; i < n; i++) {
        WRIT_TRY(name_server(r, i, err));
    }
    WRIT_TRY(check_skip(r, err));
    WRIT_TRY(check_faults(r, err));
    for (size_t i = 0; i < n; i++) {
        WRIT_TRY(take_server(r, i, err));
    }
    if (r->ret->n == 0) {
        WRIT_FAIL(err, WRIT_E_INVALID, "it has no server to put behind Writ");
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_init_from_read(const struct writ_init_from_options *options, struct writ_arena *arena,
    struct writ_init_from *ret, struct writ_err *err)
{
    struct writ_buf text = writ_buf_make(WRIT_CLIENT_TEXT_MAX);
    struct reading r = {.options = options, .arena = arena, .ret = ret};
    writ_result result = writ_cli_read(options->file.ptr, WRIT_CLIENT_TEXT_MAX, &text, err);

    *ret = (struct writ_init_from){.n = 0};
    if (writ_is_ok(result)) {
        result = writ_client_file_read(writ_buf_view(&text), arena, &r.file, err);
        if (writ_is_ok(result)) {
            result = take_servers(&r, err);
        }
        result = writ_fail_in(err, result, options->file.ptr);
    }
    writ_buf_wipe_secret(&text);
    return result;
}

bool
writ_init_from_is_same(const struct writ_upstream_config *a, const struct writ_upstream_config *b)
{
    bool same = a->kind == b->kind && writ_view_equal(a->http, b->http) && a->stdio.n == b->stdio.n;

    for (size_t i = 0; same && i < a->stdio.n; i++) {
        same = writ_view_equal(a->stdio.items[i], b->stdio.items[i]);
    }
    return same;
}
