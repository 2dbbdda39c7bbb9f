/* writ init: a first configuration. The operands become a list of servers; setup.h makes the rest;
 * the answer says what was proposed, what is left to do, and what the client needs. */
#include "base/text.h"
#include "cli/commands/free_port.h"
#include "cli/commands/init_answer.h"
#include "cli/commands/init_client.h"
#include "cli/commands/init_present.h"
#include "cli/commands/init_token.h"
#include "cli/commands/server_folder.h"
#include "cli/commands/server_name.h"
#include "cli/commands/setup_text.h"
#include "gateway/discover/discover.h"

#include <sys/stat.h>
#include <unistd.h>

#define ARENA_MAX   ((size_t)1 << 30)
#define ID_MAX      64
#define FILE_NAME   "writ.yaml"
#define INHERIT_MAX 64
#define LINE_MAX    2048

/* ---- the list of servers */

static struct writ_upstream_config *
add_server(struct writ_init *init, struct writ_err *err)
{
    if (init->n == WRIT_SETUP_SERVERS_MAX) {
        (void)writ_fail(err, WRIT_E_LIMIT, "more than %d servers", WRIT_SETUP_SERVERS_MAX);
        return NULL;
    }
    return &init->servers[init->n++];
}

/* URL, or NAME=URL. */
static WRIT_RESULT
add_url(struct writ_init *init, struct writ_view operand, struct writ_err *err)
{
    struct writ_upstream_config *server = add_server(init, err);
    size_t equals = writ_view_find(operand, '=');
    bool named = equals < writ_view_search(operand, WRIT_LIT("://"));
    struct writ_view url = named ? writ_view_sub(operand, equals + 1, operand.len) : operand;

    if (server == NULL) {
        return (writ_result){WRIT_E_LIMIT};
    }
    WRIT_TRY(writ_discover_url(url, init->arena, server, err));
    if (named) {
        server->name = writ_view_sub(operand, 0, equals);
        return writ_server_name_check(server->name, err);
    }
    return writ_server_name_of_url(server, init->arena, &server->name, err);
}

/* NAME,NAME */
static WRIT_RESULT
read_inherit(struct writ_init *init, struct writ_upstream_config *server, struct writ_err *err)
{
    struct writ_view rest = writ_cli_get(init->cli, "inherit");
    struct writ_view *names = writ_arena_get(init->arena, INHERIT_MAX * sizeof *names);
    size_t n = 0;

    while (rest.len > 0) {
        size_t comma = writ_view_find(rest, ',');

        if (names == NULL || n == INHERIT_MAX) {
            WRIT_FAIL(err, WRIT_E_LIMIT, "--inherit: more than %d names", INHERIT_MAX);
        }
        names[n] = writ_view_copy(writ_view_sub(rest, 0, comma), init->arena);
        if (names[n++].ptr == NULL) {
            WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for names of variables");
        }
        rest = writ_view_sub(rest, comma + 1, rest.len);
    }
    server->inherit = (struct writ_views){names, n};
    return WRIT_DONE;
}

static WRIT_RESULT
add_command(struct writ_init *init, const struct writ_view *argv, size_t n, struct writ_err *err)
{
    struct writ_upstream_config *server = add_server(init, err);

    if (server == NULL) {
        return (writ_result){WRIT_E_LIMIT};
    }
    WRIT_TRY(writ_discover_command(argv, n, server, err));
    WRIT_TRY(read_inherit(init, server, err));
    WRIT_TRY(writ_server_folder_find(server, init->arena, err));
    return writ_server_name_of_command(server, init->arena, &server->name, err);
}

/* URLs come first; what is not one begins a command. */
static WRIT_RESULT
read_servers(struct writ_init *init, struct writ_err *err)
{
    const struct writ_cli *cli = init->cli;
    size_t count = (size_t)cli->operand_count, at = 0;
    struct writ_view *words = writ_arena_get(init->arena, (count + 1) * sizeof *words);

    if (words == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for a command");
    }
    for (size_t i = 0; i < count; i++) {
        words[i] = writ_cli_operand(cli, (int)i);
    }
    while (at < count && writ_server_name_is_url(words[at])) {
        WRIT_TRY(add_url(init, words[at], err));
        at++;
    }
    if (at < count) {
        WRIT_TRY(add_command(init, words + at, count - at, err));
    }
    if (writ_cli_has(cli, "name")) {
        if (init->n != 1) {
            WRIT_FAIL(err, WRIT_E_INVALID, "--name names one server; of several say NAME=URL");
        }
        init->servers[0].name = writ_cli_get(cli, "name");
        WRIT_TRY(writ_server_name_check(init->servers[0].name, err));
    }
    return WRIT_DONE;
}

/* ---- options */

/* --out: a folder, or a file that ends in .yaml or .yml. */
static WRIT_RESULT
read_out(struct writ_init *init, struct writ_err *err)
{
    struct writ_view out = writ_cli_get(init->cli, "out");
    bool file =
        writ_view_has_suffix(out, WRIT_LIT(".yaml")) || writ_view_has_suffix(out, WRIT_LIT(".yml"));
    struct writ_buf folder = writ_buf_in(init->arena, WRIT_SETUP_PATH_MAX);
    size_t slash = out.len;

    while (file && slash > 0 && out.ptr[slash - 1] != '/') {
        slash--;
    }
    init->setup.file = file ? writ_view_sub(out, slash, out.len) : WRIT_LIT(FILE_NAME);
    writ_buf_put(&folder, writ_view_sub(out, 0, slash));
    if (folder.len > 0 && folder.ptr[folder.len - 1] != '/') {
        writ_buf_byte(&folder, '/');
    }
    WRIT_TRY(writ_buf_check(&folder, err));
    init->setup.folder = writ_buf_view(&folder);
    return WRIT_DONE;
}

static WRIT_RESULT
read_options(struct writ_init *init, struct writ_err *err)
{
    struct writ_view agent = writ_cli_get(init->cli, "agent"),
                     port = writ_cli_get(init->cli, "port");
    uint64_t number = 0;

    init->setup.agent = agent.ptr != NULL ? agent : WRIT_LIT("agent");
    if (!writ_server_name_is_plain(init->setup.agent, ID_MAX) ||
        writ_view_is(init->setup.agent, WRIT_SETUP_OWNER)) {
        WRIT_FAIL(err, WRIT_E_INVALID,
            "--agent: give 1 to %d letters, digits, - and _, and not " WRIT_SETUP_OWNER
            ", which is you",
            ID_MAX);
    }
    if (port.ptr != NULL && !writ_is_ok(writ_text_u64(port, 1, 65534, &number))) {
        WRIT_FAIL(err, WRIT_E_INVALID, "--port: give a number from 1 to 65534");
    }
    init->setup.port = port.ptr != NULL ? (uint16_t)number : writ_free_port_pair(WRIT_PORT_USUAL);
    init->setup.clock = init->cli->clock;
    return read_out(init, err);
}

/* ---- files */

static WRIT_RESULT
find_files(struct writ_init *init, struct writ_err *err)
{
    struct writ_buf config = writ_buf_in(init->arena, WRIT_SETUP_PATH_MAX);
    struct writ_buf token = writ_buf_in(init->arena, WRIT_SETUP_PATH_MAX);
    struct stat there;

    writ_buf_put(&config, init->setup.folder);
    writ_buf_put(&config, init->setup.file);
    writ_buf_byte(&config, '\0');
    WRIT_TRY(writ_buf_check(&config, err));
    writ_buf_put(&token, init->setup.folder);
    writ_buf_put(&token, init->setup.agent);
    writ_buf_str(&token, ".token");
    writ_buf_byte(&token, '\0');
    WRIT_TRY(writ_buf_check(&token, err));
    init->made.config = writ_view(config.ptr, config.len - 1);
    init->made.agent_token_file = writ_view(token.ptr, token.len - 1);
    init->present = init->cli->operand_count == 0 && lstat(config.ptr, &there) == 0;
    return WRIT_DONE;
}

/* ---- all of it */

static WRIT_RESULT
read_from(struct writ_init *init, struct writ_err *err)
{
    const struct writ_init_from_options options = {
        writ_cli_get(init->cli, "from"), writ_cli_get(init->cli, "skip")};

    if (options.file.ptr == NULL) {
        return WRIT_DONE;
    }
    WRIT_TRY(writ_init_from_read(&options, init->arena, &init->from, err));
    for (size_t i = 0; i < init->from.n; i++) {
        struct writ_upstream_config *server = add_server(init, err);

        if (server == NULL) {
            return (writ_result){WRIT_E_LIMIT};
        }
        *server = init->from.servers[i].config;
    }
    return WRIT_DONE;
}

/* With --from: what was led to Writ has no other server to ask. */
static WRIT_RESULT
check_origin(const struct writ_init *init, struct writ_err *err)
{
    for (size_t i = 0; init->client.open && i < init->from.n; i++) {
        if (writ_client_place_is_ours(
                &init->client.place, &init->client.list, init->from.servers[i].client)) {
            WRIT_FAIL(err, WRIT_E_INVALID,
                "%s: has servers that Writ wrote: take them back with --undo first, or name their "
                "configuration with --out",
                init->client.place.path.ptr);
        }
    }
    return WRIT_DONE;
}

/* Those of several that failed, each with its reason; of --from, what leaves them out. */
static void
say_failed(const struct writ_init *init, struct writ_err *err)
{
    writ_auto_buf line = writ_buf_make(LINE_MAX), text = writ_buf_make(WRIT_ERR_TEXT);

    for (size_t i = 0; init->made.failed_n > 1 && i < init->made.failed_n; i++) {
        writ_buf_clear(&line);
        writ_buf_fmt(&line, "%s\n", init->made.failed[i].why);
        (void)writ_cli_write_all(STDERR_FILENO, writ_buf_view(&line));
    }
    if (init->from.n == 0 || init->made.failed_n == 0) {
        return;
    }
    writ_buf_str(&text, err->text);
    writ_buf_clear(&line);
    for (size_t i = 0; i < init->made.failed_n; i++) {
        writ_buf_str(&line, i > 0 ? "," : "");
        writ_buf_put(&line, init->made.failed[i].name);
    }
    (void)writ_fail(err, WRIT_E_IO,
        WRIT_VIEW_FMT ". Or take the others alone: --skip " WRIT_VIEW_FMT,
        WRIT_VIEW_ARG(writ_buf_view(&text)), WRIT_VIEW_ARG(writ_buf_view(&line)));
}

static WRIT_RESULT
make(struct writ_init *init, struct writ_err *err)
{
    struct writ_buf address = writ_buf_in(init->arena, WRIT_INIT_ADDRESS_MAX);
    writ_result result;

    if (init->n == 0) {
        WRIT_FAIL(err, WRIT_E_ABSENT,
            "%s: does not exist: name the tool servers, or its folder with --out",
            init->made.config.ptr);
    }
    init->setup.servers = init->servers;
    init->setup.servers_n = init->n;
    init->setup.socket = writ_init_client_starts(init);
    if (init->setup.socket && !writ_cli_has(init->cli, "port")) {
        init->setup.port = 0; /* several gateways start on demand */
    }
    WRIT_TRY(check_origin(init, err));
    WRIT_TRY(writ_init_client_check(init, err));
    result = writ_setup_make(&init->setup, init->arena, &init->made, err);
    if (!writ_is_ok(result)) {
        say_failed(init, err);
        return result;
    }
    if (!init->setup.socket) {
        writ_buf_fmt(&address, "http://127.0.0.1:%u/mcp", init->setup.port);
    }
    init->address = writ_buf_view(&address);
    return writ_buf_check(&address, err);
}

static WRIT_RESULT
run(struct writ_init *init, struct writ_err *err)
{
    WRIT_TRY(read_options(init, err));
    WRIT_TRY(find_files(init, err));
    WRIT_TRY(read_from(init, err));
    WRIT_TRY(writ_init_client_read(init, err));
    if (init->present) {
        WRIT_TRY(writ_init_present_use(init, err));
    } else {
        WRIT_TRY(read_servers(init, err));
        WRIT_TRY(writ_init_token_read(init, err));
        WRIT_TRY(make(init, err));
    }
    WRIT_TRY(writ_init_client_make(init, err));
    return writ_init_answer_put(init, err);
}

static void
init_freep(struct writ_init **init)
{
    if (*init != NULL) {
        writ_setup_wipe(&(*init)->made);
        if ((*init)->client.open) {
            writ_client_place_close(&(*init)->client.place);
        }
        writ_free(*init);
    }
}

/* What names the servers: operands, --from, or a configuration that is there. */
static const char *
check_words(const struct writ_cli *cli)
{
    bool undo = writ_cli_has(cli, "undo"), from = writ_cli_has(cli, "from");

    if (undo && (writ_cli_has(cli, "apply") || cli->operand_count > 0)) {
        return "--undo names no servers, and does not go with --apply";
    }
    if (from && cli->operand_count > 0) {
        return "--from names the servers: leave URLs and the command out";
    }
    if (cli->operand_count == 0 && !from && !undo && !writ_cli_has(cli, "client") &&
        !writ_cli_has(cli, "file")) {
        return "pass the URL or the command of a tool server, --from, or --client";
    }
    if (from && writ_cli_has(cli, "file")) {
        return "--from names the client's file: leave --file out";
    }
    if ((undo || writ_cli_has(cli, "apply")) && !from && !writ_cli_has(cli, "client") &&
        !writ_cli_has(cli, "file")) {
        return "--apply and --undo: name the client with --client";
    }
    if (writ_cli_has(cli, "skip") && !from) {
        return "--skip is only for servers of --from";
    }
    if (writ_cli_has(cli, "token-header") && !writ_cli_has(cli, "token-file")) {
        return "--token-header is the header of --token-file";
    }
    return NULL;
}

enum writ_exit
writ_command_init(const struct writ_cli *cli)
{
    writ_auto_arena arena = writ_arena_new(ARENA_MAX);
    WRIT_AUTO(struct writ_init *, init_freep) init = writ_alloc(sizeof *init);
    const char *fault = check_words(cli);
    enum writ_client_undo undone = WRIT_CLIENT_UNDO_FILE;
    struct writ_err err = {0};
    writ_result result;

    if (fault != NULL) {
        return writ_cli_usage(cli, "%s", fault);
    }
    if (!writ_init_client_is_named(cli)) {
        return WRIT_EXIT_USAGE;
    }
    if (arena == NULL || init == NULL) {
        return writ_cli_fail(cli, writ_fail(&err, WRIT_E_NOMEM, "no memory to begin"), &err);
    }
    init->cli = cli;
    init->arena = arena;
    result =
        writ_cli_has(cli, "undo") ? writ_init_client_undo(init, &undone, &err) : run(init, &err);
    if (!writ_is_ok(result)) {
        return writ_cli_fail(cli, result, &err);
    }
    return undone == WRIT_CLIENT_UNDO_NOTHING ? WRIT_EXIT_NEGATIVE : WRIT_EXIT_OK;
}
