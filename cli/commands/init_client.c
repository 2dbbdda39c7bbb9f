/* init_client.c - a client that connects to a URL gets one entry for all servers; one that starts
 * programs gets `writ wrap` for each. With --from every server keeps its name, and is led to Writ.
 */
#include "cli/commands/init_client.h"

#include "base/text.h"
#include "cli/base/print.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define SELF        "/proc/self/exe"
#define ENTRY       "writ" /* the name of one entry for all servers */
#define WORDS       8      /* of a program: room */
#define ANSWER_MAX  ((size_t)1 << 20)
#define VALUE_MAX   ((size_t)65536)
#define CLIENTS_MAX 1024

static WRIT_RESULT
no_memory(struct writ_err *err)
{
    WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for the file of a client");
}

/* ---- options */

bool
writ_init_client_is_named(const struct writ_cli *cli)
{
    struct writ_view name = writ_cli_get(cli, "client");
    writ_auto_buf known = writ_buf_make(CLIENTS_MAX);

    if (name.ptr == NULL || writ_client_find(name) != NULL) {
        return true;
    }
    writ_client_put_names(&known);
    (void)writ_cli_usage(
        cli, "--client: give one of " WRIT_VIEW_FMT, WRIT_VIEW_ARG(writ_buf_view(&known)));
    return false;
}

/* The file of --from, of --file, or the user's own. */
static WRIT_RESULT
find_path(struct writ_init *init, struct writ_err *err)
{
    struct writ_init_client *client = &init->client;
    struct writ_view file = writ_cli_get(init->cli, "file"), from = writ_cli_get(init->cli, "from");
    struct writ_view name = writ_cli_get(init->cli, "client");
    bool writes = writ_cli_has(init->cli, "apply") || writ_cli_has(init->cli, "undo");
    writ_result result;

    client->path = from.ptr != NULL ? from : file;
    client->row = name.ptr != NULL ? writ_client_find(name) : writ_client_of_path(client->path);
    if (client->path.len > 0 || client->row == NULL) {
        return WRIT_DONE;
    }
    result = writ_client_place_find(client->row, init->arena, &client->path, writes ? err : NULL);
    return writes ? result : WRIT_DONE; /* what is only shown needs no path */
}

static WRIT_RESULT
find_list(struct writ_init *init, struct writ_err *err)
{
    struct writ_init_client *client = &init->client;
    struct writ_view *name = writ_arena_get(init->arena, sizeof *name);

    if (name == NULL) {
        return no_memory(err);
    }
    *name = writ_view_str(client->row != NULL ? client->row->member : "mcpServers");
    client->list = init->from.n > 0 ? init->from.list : (struct writ_client_path){name, 1};
    return WRIT_DONE;
}

static WRIT_RESULT
open_place(struct writ_init *init, bool make, struct writ_err *err)
{
    struct writ_client_place *place = &init->client.place;

    init->client.open = true;
    return writ_client_place_open(init->client.path, make, init->arena, place, err);
}

WRIT_RESULT
writ_init_client_read(struct writ_init *init, struct writ_err *err)
{
    struct writ_err why = {{0}, 0, 0};
    writ_result result;

    WRIT_TRY(find_path(init, err));
    WRIT_TRY(find_list(init, err));
    init->client.apply = writ_cli_has(init->cli, "apply");
    if (!init->client.apply) {
        return WRIT_DONE;
    }
    result = open_place(init, true, &why);
    if (!writ_is_ok(result)) {
        WRIT_FAIL(err, result.code, "%s. Without --apply, `writ init` shows what to add by hand",
            why.text);
    }
    return WRIT_DONE;
}

bool
writ_init_client_starts(const struct writ_init *init)
{
    const struct writ_client *row = init->client.row;

    return writ_cli_has(init->cli, "socket") || (row != NULL && row->url[0] == '\0');
}

/* ---- blocks */

static WRIT_RESULT
whole_path(
    struct writ_init *init, struct writ_view path, struct writ_view *ret, struct writ_err *err)
{
    char real[PATH_MAX];

    if (realpath(path.ptr, real) == NULL) {
        WRIT_FAIL(err, WRIT_E_IO, "%s: %s", path.ptr, strerrordesc_np(errno));
    }
    *ret = writ_view_copy(writ_view_str(real), init->arena);
    return ret->ptr != NULL ? WRIT_DONE : no_memory(err);
}

/* writ wrap --config FILE --name SERVER --token FILE, with whole paths: a client runs anywhere. */
static WRIT_RESULT
put_program(struct writ_init *init, struct writ_view server, struct writ_client_block *ret,
    struct writ_err *err)
{
    struct writ_view *words = writ_arena_get(init->arena, WORDS * sizeof *words);

    if (words == NULL) {
        return no_memory(err);
    }
    WRIT_TRY(whole_path(init, WRIT_LIT(SELF), &words[0], err));
    words[1] = WRIT_LIT("wrap");
    words[2] = WRIT_LIT("--config");
    WRIT_TRY(whole_path(init, init->made.config, &words[3], err));
    words[4] = WRIT_LIT("--name");
    words[5] = server;
    words[6] = WRIT_LIT("--token");
    WRIT_TRY(whole_path(init, init->made.agent_token_file, &words[7], err));
    ret->program = (struct writ_views){words, WORDS};
    return WRIT_DONE;
}

static WRIT_RESULT
put_url(struct writ_init *init, struct writ_view server, struct writ_client_block *ret,
    struct writ_err *err)
{
    struct writ_buf url = writ_buf_in(init->arena, WRIT_INIT_ADDRESS_MAX);

    writ_buf_put(&url, init->address);
    if (server.len > 0) {
        writ_buf_byte(&url, '/');
        writ_buf_put(&url, server);
    }
    WRIT_TRY(writ_buf_check(&url, err));
    ret->url = writ_buf_view(&url);
    ret->token = writ_buf_view(&init->made.token);
    return WRIT_DONE;
}

/* Names alone: what is written is not known before the servers have answered. */
static WRIT_RESULT
name_blocks(struct writ_init *init, bool programs, struct writ_err *err)
{
    struct writ_init_client *client = &init->client;
    bool one = init->from.n == 0 && !programs;

    client->n = one ? 1 : init->n;
    client->blocks = writ_arena_get(init->arena, (client->n + 1) * sizeof *client->blocks);
    if (client->blocks == NULL) {
        return no_memory(err);
    }
    for (size_t i = 0; i < client->n; i++) {
        client->blocks[i] =
            (struct writ_client_block){.name = one ? WRIT_LIT(ENTRY) : init->servers[i].name};
        if (init->from.n > 0) {
            client->blocks[i].name = init->from.servers[i].client;
            client->blocks[i].env = programs ? init->from.servers[i].env : NULL;
        }
    }
    return WRIT_DONE;
}

static WRIT_RESULT
make_blocks(struct writ_init *init, struct writ_err *err)
{
    const struct writ_client *row = init->client.row;
    bool each = init->from.n > 0 || init->address.len == 0;

    if (init->address.len > 0 && row != NULL && row->url[0] == '\0') {
        WRIT_FAIL(err, WRIT_E_INVALID,
            "%s starts programs, and the documentation of it names no way to a URL: its gateway "
            "needs `listen: unix:writ.sock`",
            row->title);
    }
    WRIT_TRY(name_blocks(init, init->address.len == 0, err));
    for (size_t i = 0; i < init->client.n; i++) {
        struct writ_client_block *block = &init->client.blocks[i];
        struct writ_view server = each ? init->servers[i].name : WRIT_LIT("");

        WRIT_TRY(init->address.len > 0 ? put_url(init, server, block, err)
                                       : put_program(init, server, block, err));
    }
    return WRIT_DONE;
}

/* ---- writing */

static WRIT_RESULT
list_entries(struct writ_init *init, struct writ_client_place_entry **ret, struct writ_err *err)
{
    struct writ_client_place_entry *entries =
        writ_arena_get(init->arena, (init->client.n + 1) * sizeof *entries);

    if (entries == NULL) {
        return no_memory(err);
    }
    for (size_t i = 0; i < init->client.n; i++) {
        entries[i] = (struct writ_client_place_entry){
            .name = init->client.blocks[i].name, .replaces = init->from.n > 0};
    }
    *ret = entries;
    return WRIT_DONE;
}

WRIT_RESULT
writ_init_client_check(struct writ_init *init, struct writ_err *err)
{
    struct writ_client_place_entry *entries;

    if (!init->client.apply) {
        return WRIT_DONE;
    }
    WRIT_TRY(name_blocks(init, writ_init_client_starts(init), err));
    WRIT_TRY(list_entries(init, &entries, err));
    return writ_client_place_check(
        &init->client.place, &init->client.list, entries, init->client.n, err);
}

static WRIT_RESULT
write_file(struct writ_init *init, struct writ_buf *values, struct writ_err *err)
{
    struct writ_init_client *client = &init->client;
    struct writ_client_place_entry *entries;

    WRIT_TRY(list_entries(init, &entries, err));
    for (size_t i = 0; i < client->n; i++) {
        struct writ_write w = writ_write_to(&values[i]);

        writ_client_block_write(&w, client->row, &client->blocks[i]);
        WRIT_TRY(writ_write_end(&w, err));
        entries[i].value = writ_buf_view(&values[i]);
    }
    return writ_client_place_write(
        &client->place, &client->list, entries, client->n, &client->backup, err);
}

WRIT_RESULT
writ_init_client_make(struct writ_init *init, struct writ_err *err)
{
    struct writ_init_client *client = &init->client;
    struct writ_buf *values;
    writ_result result;

    WRIT_TRY(make_blocks(init, err));
    if (!client->apply) {
        return WRIT_DONE;
    }
    values = writ_arena_get(init->arena, (client->n + 1) * sizeof *values);
    if (values == NULL) {
        return no_memory(err);
    }
    for (size_t i = 0; i < client->n; i++) {
        values[i] = writ_buf_make(VALUE_MAX);
    }
    result = write_file(init, values, err);
    for (size_t i = 0; i < client->n; i++) {
        writ_buf_wipe_secret(&values[i]);
    }
    return result;
}

/* ---- undo */

static void
put_undone(const struct writ_client_place *place, const struct writ_client_undone *undone,
    struct writ_buf *ret)
{
    writ_print_plain(ret, place->path);
    switch (undone->what) {
    case WRIT_CLIENT_UNDO_NOTHING:
        writ_buf_str(ret, ": nothing to undo, Writ has no entries there\n");
        return;
    case WRIT_CLIENT_UNDO_FILE:
        writ_buf_str(ret, ": as it was before `writ init --apply`\n");
        return;
    case WRIT_CLIENT_UNDO_REMOVED:
        writ_buf_str(ret, ": removed, as it was not there before `writ init --apply`\n");
        return;
    case WRIT_CLIENT_UNDO_ENTRIES:
        break;
    }
    writ_buf_fmt(
        ret, ": changed since `writ init --apply`; entries put back: %zu\n", undone->entries);
    for (size_t i = 0; i < undone->left.n; i++) {
        writ_buf_str(ret, "left, because it changed: ");
        writ_print_plain(ret, undone->left.items[i]);
        writ_buf_byte(ret, '\n');
    }
    if (undone->backup.len > 0) {
        writ_buf_str(ret, "the file of before stays beside it: ");
        writ_print_plain(ret, undone->backup);
        writ_buf_byte(ret, '\n');
    }
}

static void
write_undone(const struct writ_client_place *place, const struct writ_client_undone *undone,
    struct writ_write *w)
{
    static const char *const words[] = {[WRIT_CLIENT_UNDO_NOTHING] = "nothing",
        [WRIT_CLIENT_UNDO_FILE] = "file",
        [WRIT_CLIENT_UNDO_REMOVED] = "removed",
        [WRIT_CLIENT_UNDO_ENTRIES] = "entries"};

    writ_write_object_begin(w);
    writ_write_text(w, "client_file", place->path);
    writ_write_text(w, "undone", writ_view_str(words[undone->what]));
    writ_write_text_if(w, "backup", undone->backup);
    writ_write_name(w, WRIT_LIT("left"));
    writ_write_array_begin(w);
    for (size_t i = 0; i < undone->left.n; i++) {
        writ_write_string(w, undone->left.items[i]);
    }
    writ_write_array_end(w);
    writ_write_object_end(w);
}

WRIT_RESULT
writ_init_client_undo(struct writ_init *init, enum writ_client_undo *ret, struct writ_err *err)
{
    writ_auto_buf answer = writ_buf_make(ANSWER_MAX);
    struct writ_write w = writ_write_to(&answer);
    struct writ_client_undone undone = {.what = WRIT_CLIENT_UNDO_NOTHING};

    WRIT_TRY(find_path(init, err));
    WRIT_TRY(open_place(init, false, err));
    WRIT_TRY(writ_client_undo_run(&init->client.place, &undone, err));
    if (init->cli->json) {
        write_undone(&init->client.place, &undone, &w);
        WRIT_TRY(writ_write_end(&w, err));
        writ_buf_byte(&answer, '\n');
    } else {
        put_undone(&init->client.place, &undone, &answer);
    }
    WRIT_TRY(writ_buf_check(&answer, err));
    writ_cli_put(writ_buf_view(&answer));
    *ret = undone.what;
    return WRIT_DONE;
}
