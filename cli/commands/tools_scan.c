/* tools_scan.c - asks each server, collects what is odd about its texts and, over all servers,
 * about names, and prints both. Every text of a server is made safe before it is printed. */
#include "cli/commands/tools_scan.h"

#include "base/text.h"
#include "cli/commands/command.h"
#include "cli/commands/server_name.h"
#include "evidence/json/write.h"
#include "gateway/discover/client_file.h"
#include "gateway/discover/discover.h"
#include "gateway/mcp/oddity.h"
#include "gateway/state/accepted.h"
#include "policy/decide/approval.h"
#include "policy/model/host.h"
#include "policy/read/load.h"
#include "store/trusted/definitions.h"
#include "store/trusted/keydir.h"

#define OUTPUT_MAX ((size_t)64 << 20)
#define MEMORY_MAX ((size_t)256 << 20)
#define TEXT_MAX   200 /* bytes of one text of a server in a line for people */
#define TOOLS_MAX  16384

/* One scan. */
struct scan {
    const struct writ_cli *cli;
    const struct writ_tools_scan_server *servers;
    size_t n;
    struct writ_discovered **found; /* NULL: not asked, or no answer */
    char (*why)[WRIT_ERR_TEXT];     /* of those */
    struct writ_arena *arena;
    struct writ_oddities odd;
    struct writ_keyring *keys;
    struct writ_definitions *seen, *accepted;
    struct writ_buf output;
};

static void
scan_wipe(struct scan *scan)
{
    for (size_t i = 0; scan->found != NULL && i < scan->n; i++) {
        writ_discover_free(scan->found[i]);
    }
    writ_definitions_free(scan->seen);
    writ_definitions_free(scan->accepted);
    writ_keyring_free(scan->keys);
    writ_arena_free(scan->arena);
    writ_buf_wipe(&scan->output);
}

/* ---- asking */

/* Definitions that are not there, or not to be believed, are not compared. */
static void
read_known(struct scan *scan, const struct writ_config *config)
{
    if (config != NULL && writ_is_ok(writ_keydir_list(config->keys.ptr, &scan->keys, NULL))) {
        WRIT_IGNORE(writ_definitions_load(
            config->files.ptr, WRIT_DEFINITIONS_SEEN, scan->keys, &scan->seen, NULL));
        if (!writ_is_ok(writ_accepted_load(config, scan->keys, NULL, &scan->accepted, NULL))) {
            WRIT_IGNORE(writ_definitions_load(
                config->files.ptr, WRIT_DEFINITIONS_ACCEPTED, scan->keys, &scan->accepted, NULL));
        }
    }
}

static WRIT_RESULT
scan_open(struct scan *scan, struct writ_err *err)
{
    scan->arena = writ_arena_new(MEMORY_MAX);
    if (scan->arena != NULL) {
        scan->found = writ_arena_get(scan->arena, (scan->n + 1) * sizeof *scan->found);
        scan->why = writ_arena_get(scan->arena, (scan->n + 1) * sizeof *scan->why);
    }
    if (scan->arena == NULL || scan->found == NULL || scan->why == NULL) {
        scan->found = NULL;
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory to scan servers");
    }
    for (size_t i = 0; i < scan->n; i++) {
        scan->found[i] = NULL;
        scan->why[i][0] = '\0';
    }
    scan->odd.arena = scan->arena;
    scan->output = writ_buf_make(OUTPUT_MAX);
    return WRIT_DONE;
}

static void
ask(struct scan *scan, size_t i)
{
    const struct writ_tools_scan_server *server = &scan->servers[i];
    const struct writ_discover_options options = {.accepted = scan->accepted};
    struct writ_err err = {{0}, 0, 0};

    if (server->fault != NULL) {
        (void)writ_fail(&err, WRIT_E_INVALID, "%s", server->fault);
    } else if (writ_is_ok(writ_discover_tools(server->server, &options, &scan->found[i], &err))) {
        return;
    }
    (void)writ_view_place(writ_view(err.text, sizeof err.text), scan->why[i]);
}

/* ---- what is odd */

/* Against the definition that was accepted, else the last one seen. */
static void
compare_known(struct scan *scan, struct writ_view server, const struct writ_catalog_tool *tool)
{
    writ_auto_buf name = writ_buf_make(server.len + tool->name.len + 1);
    const struct writ_definition *before;
    struct writ_oddity oddity = {.server = server, .tool = tool->name};

    writ_buf_put(&name, server);
    writ_buf_byte(&name, '/');
    writ_buf_put(&name, tool->name);
    before = writ_definitions_find(scan->accepted, writ_buf_view(&name));
    before = before != NULL ? before : writ_definitions_find(scan->seen, writ_buf_view(&name));
    if (before == NULL) {
        oddity.kind = WRIT_ODDITY_NEW;
    } else if (!writ_digest_equal(&before->digest, &tool->digest)) {
        oddity.kind = WRIT_ODDITY_CHANGED;
    } else {
        return;
    }
    writ_oddity_add(&scan->odd, &oddity);
}

/* A server of which nothing was seen has no new tools. */
static bool
is_known(const struct scan *scan, struct writ_view server)
{
    const struct writ_definitions *all[] = {scan->seen, scan->accepted};

    for (size_t d = 0; d < 2; d++) {
        for (size_t i = 0; all[d] != NULL && i < all[d]->n; i++) {
            struct writ_view name = all[d]->items[i].name;
            if (writ_view_equal(writ_view_sub(name, 0, writ_view_find(name, '/')), server)) {
                return true;
            }
        }
    }
    return false;
}

static void
look_at_server(struct scan *scan, size_t i, struct writ_oddity_tool *tools, size_t *n)
{
    const struct writ_discovered *found = scan->found[i];
    struct writ_view server = scan->servers[i].server->name;
    bool known = is_known(scan, server);

    writ_oddity_of_text(&scan->odd, server, WRIT_LIT("/instructions"), found->instructions);
    for (size_t t = 0; t < found->catalog->n; t++) {
        const struct writ_catalog_tool *tool = &found->catalog->tools[t];
        const struct writ_oddity_tool one = {
            server, tool->name, found->definitions[t], &tool->digest};
        const struct writ_oddity doubled = {
            .kind = WRIT_ODDITY_DOUBLED, .server = server, .tool = tool->name};

        if (tool->doubled) {
            writ_oddity_add(&scan->odd, &doubled);
        }
        if (known) {
            compare_known(scan, server, tool);
        }
        writ_oddity_of_tool(&scan->odd, &one);
        if (*n < TOOLS_MAX) {
            tools[(*n)++] = one;
        }
    }
}

static WRIT_RESULT
look(struct scan *scan, struct writ_err *err)
{
    struct writ_oddity_tool *tools = writ_arena_get(scan->arena, TOOLS_MAX * sizeof *tools);
    size_t n = 0;

    if (tools == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory to compare names of tools");
    }
    for (size_t i = 0; i < scan->n; i++) {
        if (scan->found[i] != NULL) {
            look_at_server(scan, i, tools, &n);
        }
    }
    writ_oddity_of_names(&scan->odd, tools, n);
    return WRIT_DONE;
}

/* ---- output */

static void
put_safe(struct scan *scan, struct writ_view text)
{
    writ_text_safe(&scan->output, text, TEXT_MAX);
}

static bool
is_of(const struct writ_oddity *oddity, struct writ_view server, struct writ_view tool)
{
    return writ_view_equal(oddity->server, server) && writ_view_equal(oddity->tool, tool);
}

void
writ_tools_scan_put(struct writ_buf *ret, const struct writ_oddity *oddity)
{
    writ_buf_str(ret, writ_oddity_name(oddity->kind));
    if (oddity->place.len > 0) {
        writ_buf_byte(ret, ' ');
        writ_text_safe(ret, oddity->place, TEXT_MAX);
    }
    if (oddity->sign.len > 0) {
        writ_buf_fmt(ret, ": " WRIT_VIEW_FMT, WRIT_VIEW_ARG(oddity->sign));
    }
    if (oddity->quote.len > 0) {
        writ_buf_fmt(ret, ": " WRIT_VIEW_FMT, WRIT_VIEW_ARG(oddity->quote));
    }
    writ_buf_byte(ret, '\n');
}

static void
put_oddities(struct scan *scan, struct writ_view server, struct writ_view tool)
{
    for (size_t i = 0; i < scan->odd.n; i++) {
        if (is_of(&scan->odd.items[i], server, tool)) {
            writ_buf_str(&scan->output, "      ! ");
            writ_tools_scan_put(&scan->output, &scan->odd.items[i]);
        }
    }
}

static const char *
hints_word(unsigned hints)
{
    return (hints & WRIT_HINT_READ_ONLY) != 0     ? "reads"
           : (hints & WRIT_HINT_DESTRUCTIVE) != 0 ? "destroys"
                                                  : "changes";
}

static void
put_server(struct scan *scan, size_t i)
{
    const struct writ_discovered *found = scan->found[i];
    struct writ_view name = scan->servers[i].server->name;

    put_safe(scan, name);
    if (found == NULL) {
        writ_buf_fmt(&scan->output, ": not asked, or no answer\n      ! %s\n", scan->why[i]);
        return;
    }
    writ_buf_str(&scan->output, ": ");
    put_safe(scan, found->server);
    writ_buf_byte(&scan->output, ' ');
    put_safe(scan, found->version);
    writ_buf_fmt(&scan->output, ", MCP " WRIT_VIEW_FMT ", tools: %zu\n",
        WRIT_VIEW_ARG(found->revision), found->catalog->n);
    put_oddities(scan, name, writ_view(NULL, 0));
    for (size_t t = 0; t < found->catalog->n; t++) {
        const struct writ_catalog_tool *tool = &found->catalog->tools[t];
        writ_buf_fmt(&scan->output, "  %-8s  ", hints_word(tool->hints));
        put_safe(scan, tool->name);
        writ_buf_byte(&scan->output, '\n');
        put_oddities(scan, name, tool->name);
    }
}

static void
write_oddities(
    struct scan *scan, struct writ_write *w, struct writ_view server, struct writ_view tool)
{
    writ_write_name(w, WRIT_LIT("oddities"));
    writ_write_array_begin(w);
    for (size_t i = 0; i < scan->odd.n; i++) {
        const struct writ_oddity *oddity = &scan->odd.items[i];
        if (!is_of(oddity, server, tool)) {
            continue;
        }
        writ_write_object_begin(w);
        writ_write_text(w, "kind", writ_view_str(writ_oddity_name(oddity->kind)));
        writ_write_text(w, "sentence", writ_view_str(writ_oddity_sentence(oddity->kind)));
        writ_write_text(w, "place", oddity->place);
        writ_write_text(w, "sign", oddity->sign);
        writ_write_text(w, "quote", oddity->quote);
        writ_write_object_end(w);
    }
    writ_write_array_end(w);
}

static void
write_tool(struct scan *scan, struct writ_write *w, struct writ_view server,
    const struct writ_catalog_tool *tool)
{
    char digest[WRIT_DIGEST_TEXT];

    writ_digest_text(&tool->digest, digest);
    writ_write_object_begin(w);
    writ_write_text(w, "tool", tool->name);
    writ_write_text(w, "digest", writ_view_str(digest));
    writ_write_flag(w, "read_only", (tool->hints & WRIT_HINT_READ_ONLY) != 0);
    writ_write_flag(w, "destructive",
        (tool->hints & WRIT_HINT_READ_ONLY) == 0 && (tool->hints & WRIT_HINT_DESTRUCTIVE) != 0);
    write_oddities(scan, w, server, tool->name);
    writ_write_object_end(w);
}

static void
write_server(struct scan *scan, struct writ_write *w, size_t i)
{
    const struct writ_discovered *found = scan->found[i];
    struct writ_view name = scan->servers[i].server->name;

    writ_write_object_begin(w);
    writ_write_text(w, "name", name);
    writ_write_flag(w, "answered", found != NULL);
    if (found == NULL) {
        writ_write_text(w, "why", writ_view_str(scan->why[i]));
    } else {
        writ_write_text(w, "server", found->server);
        writ_write_text(w, "version", found->version);
        writ_write_text(w, "revision", found->revision);
        write_oddities(scan, w, name, writ_view(NULL, 0));
        writ_write_name(w, WRIT_LIT("tools"));
        writ_write_array_begin(w);
        for (size_t t = 0; t < found->catalog->n; t++) {
            write_tool(scan, w, name, &found->catalog->tools[t]);
        }
        writ_write_array_end(w);
    }
    writ_write_object_end(w);
}

static void
put_all(struct scan *scan)
{
    struct writ_write w = writ_write_to(&scan->output);

    if (!scan->cli->json) {
        for (size_t i = 0; i < scan->n; i++) {
            put_server(scan, i);
        }
        writ_buf_fmt(&scan->output, "oddities: %zu\n", scan->odd.total);
        return;
    }
    writ_write_object_begin(&w);
    writ_write_count(&w, "oddities", scan->odd.total);
    writ_write_name(&w, WRIT_LIT("servers"));
    writ_write_array_begin(&w);
    for (size_t i = 0; i < scan->n; i++) {
        write_server(scan, &w, i);
    }
    writ_write_array_end(&w);
    writ_write_object_end(&w);
    WRIT_IGNORE(writ_write_end(&w, NULL)); /* the buffer keeps the failure */
    writ_buf_byte(&scan->output, '\n');
}

static WRIT_RESULT
scan_all(struct scan *scan, const struct writ_config *config, struct writ_err *err)
{
    WRIT_TRY(scan_open(scan, err));
    read_known(scan, config);
    for (size_t i = 0; i < scan->n; i++) {
        ask(scan, i);
    }
    WRIT_TRY(look(scan, err));
    put_all(scan);
    return writ_buf_check(&scan->output, err);
}

enum writ_exit
writ_tools_scan_run(const struct writ_cli *cli, const struct writ_tools_scan_server *servers,
    size_t n, const struct writ_config *config)
{
    WRIT_AUTO(struct scan, scan_wipe) scan = {.cli = cli, .servers = servers, .n = n};
    struct writ_err err = {0};
    writ_result result = scan_all(&scan, config, &err);
    bool good = scan.odd.total == 0;

    if (!writ_is_ok(result)) {
        return writ_cli_fail(cli, result, &err);
    }
    writ_cli_put(writ_buf_view(&scan.output));
    for (size_t i = 0; i < n; i++) {
        good = good && scan.found[i] != NULL;
    }
    return good ? WRIT_EXIT_OK : WRIT_EXIT_NEGATIVE;
}

/* ---- writ tools scan */

/* The servers of one command line. */
struct wanted {
    const struct writ_cli *cli;
    struct writ_arena *arena;
    struct writ_config *config;
    struct writ_tools_scan_server *servers;
    size_t n;
};

static void
wanted_wipe(struct wanted *wanted)
{
    writ_config_drop(wanted->config);
    writ_arena_free(wanted->arena);
}

static WRIT_RESULT
make_room(struct wanted *wanted, size_t n, struct writ_err *err)
{
    wanted->servers = writ_arena_get(wanted->arena, (n + 1) * sizeof *wanted->servers);
    if (wanted->servers == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for a list of servers");
    }
    return WRIT_DONE;
}

static WRIT_RESULT
want_configured(struct wanted *wanted, struct writ_view file, struct writ_err *err)
{
    WRIT_TRY(writ_load_file(file.ptr, NULL, &wanted->config, err));
    WRIT_TRY(make_room(wanted, wanted->config->upstreams_n, err));
    for (; wanted->n < wanted->config->upstreams_n; wanted->n++) {
        wanted->servers[wanted->n] =
            (struct writ_tools_scan_server){.server = &wanted->config->upstreams[wanted->n]};
    }
    return WRIT_DONE;
}

static WRIT_RESULT
want_clients(struct wanted *wanted, struct writ_view file, struct writ_err *err)
{
    writ_auto_buf text = writ_buf_make(WRIT_CLIENT_TEXT_MAX);
    struct writ_client_file read;

    WRIT_TRY(writ_cli_read(file.ptr, WRIT_CLIENT_TEXT_MAX, &text, err));
    WRIT_TRY(writ_fail_in(
        err, writ_client_file_read(writ_buf_view(&text), wanted->arena, &read, err), file.ptr));
    WRIT_TRY(make_room(wanted, read.n, err));
    for (; wanted->n < read.n; wanted->n++) {
        wanted->servers[wanted->n] = (struct writ_tools_scan_server){
            .server = &read.servers[wanted->n].config, .fault = read.servers[wanted->n].fault};
    }
    return WRIT_DONE;
}

/* Operands: URLs, or the words of one command. */
static WRIT_RESULT
want_named(struct wanted *wanted, struct writ_err *err)
{
    size_t count = (size_t)wanted->cli->operand_count;
    bool urls = writ_host_is_url(writ_cli_operand(wanted->cli, 0));
    struct writ_upstream_config *servers =
        writ_arena_get(wanted->arena, (count + 1) * sizeof *servers);
    struct writ_view *words = writ_arena_get(wanted->arena, (count + 1) * sizeof *words);

    if (servers == NULL || words == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for a list of servers");
    }
    WRIT_TRY(make_room(wanted, count, err));
    for (size_t i = 0; i < count; i++) {
        words[i] = writ_cli_operand(wanted->cli, (int)i);
    }
    if (!urls) {
        WRIT_TRY(writ_discover_command(words, count, servers, err));
        WRIT_TRY(writ_server_name_of_command(servers, wanted->arena, &servers->name, err));
        wanted->servers[wanted->n++] = (struct writ_tools_scan_server){.server = servers};
        return WRIT_DONE;
    }
    for (; wanted->n < count; wanted->n++) {
        WRIT_TRY(writ_discover_url(words[wanted->n], wanted->arena, &servers[wanted->n], err));
        servers[wanted->n].name = writ_view_sub(/* the rest may be a secret */
            servers[wanted->n].http, 0, writ_view_find(servers[wanted->n].http, '?'));
        wanted->servers[wanted->n] = (struct writ_tools_scan_server){.server = &servers[wanted->n]};
    }
    return WRIT_DONE;
}

static WRIT_RESULT
find_wanted(struct wanted *wanted, struct writ_err *err)
{
    struct writ_view config = writ_cli_get(wanted->cli, "config");
    struct writ_view client = writ_cli_get(wanted->cli, "client-config");

    wanted->arena = writ_arena_new(MEMORY_MAX);
    if (wanted->arena == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for a list of servers");
    }
    if (config.ptr != NULL) {
        return want_configured(wanted, config, err);
    }
    return client.ptr != NULL ? want_clients(wanted, client, err) : want_named(wanted, err);
}

enum writ_exit
writ_command_tools_scan(const struct writ_cli *cli)
{
    WRIT_AUTO(struct wanted, wanted_wipe) wanted = {.cli = cli};
    struct writ_err err = {0};
    writ_result result;

    if (writ_cli_has(cli, "config") + writ_cli_has(cli, "client-config") +
            (cli->operand_count > 0) !=
        1) {
        return writ_cli_usage(
            cli, "one of --config, --client-config, URL and -- COMMAND is needed");
    }
    result = find_wanted(&wanted, &err);
    if (!writ_is_ok(result)) {
        return writ_cli_fail(cli, result, &err);
    }
    return writ_tools_scan_run(cli, wanted.servers, wanted.n, wanted.config);
}
