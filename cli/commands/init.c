/* writ init: a first configuration. The operands become a list of servers; setup.h makes the rest;
 * the answer says what was proposed, what is left to do, and what the client needs. */
#include "base/hidden.h"
#include "base/text.h"
#include "cli/base/print.h"
#include "cli/commands/client_block.h"
#include "cli/commands/command.h"
#include "cli/commands/server_folder.h"
#include "cli/commands/server_name.h"
#include "cli/commands/setup.h"
#include "cli/commands/setup_text.h"
#include "cli/commands/tools_scan.h"
#include "gateway/discover/discover.h"

#define ARENA_MAX    (512U << 20)
#define ANSWER_MAX   (16U << 20)
#define ID_MAX       64
#define PORT         8700
#define FILE_NAME    "writ.yaml"
#define INHERIT_MAX  64
#define ODDITIES_MAX 20 /* that are shown */
#define NAME_MAX     80

/* One run. */
struct init {
    const struct writ_cli *cli;
    struct writ_arena *arena;
    struct writ_upstream_config servers[WRIT_SETUP_SERVERS_MAX];
    size_t n;
    struct writ_setup setup;
    struct writ_setup_made made;
};

/* ---- the list of servers */

static struct writ_upstream_config *
add_server(struct init *init, struct writ_err *err)
{
    if (init->n == WRIT_SETUP_SERVERS_MAX) {
        (void)writ_fail(err, WRIT_E_LIMIT, "more than %d servers", WRIT_SETUP_SERVERS_MAX);
        return NULL;
    }
    return &init->servers[init->n++];
}

/* URL, or NAME=URL. */
static WRIT_RESULT
add_url(struct init *init, struct writ_view operand, struct writ_err *err)
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
read_inherit(struct init *init, struct writ_upstream_config *server, struct writ_err *err)
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
add_command(struct init *init, const struct writ_view *argv, size_t n, struct writ_err *err)
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
read_servers(struct init *init, struct writ_err *err)
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
read_out(struct init *init, struct writ_err *err)
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
read_options(struct init *init, struct writ_err *err)
{
    struct writ_view agent = writ_cli_get(init->cli, "agent"),
                     port = writ_cli_get(init->cli, "port");
    uint64_t number = PORT;

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
    init->setup.port = (uint16_t)number;
    init->setup.clock = init->cli->clock;
    return read_out(init, err);
}

/* ---- answers */

static void
write_server(struct writ_write *w, const struct writ_proposal *proposal)
{
    writ_write_object_begin(w);
    writ_write_text(w, "name", proposal->upstream);
    writ_write_count(w, "tools", proposal->tools);
    writ_write_count(w, "open", proposal->open);
    writ_write_count(w, "reviewed", proposal->reviewed);
    writ_write_count(w, "waiting", proposal->waiting);
    writ_write_count(w, "closed", proposal->closed);
    writ_write_object_end(w);
}

static void
write_block(const struct init *init, struct writ_write *w)
{
    writ_auto_buf url = writ_buf_make(64);
    struct writ_client_block block = {
        .name = WRIT_LIT("writ"), .token = writ_buf_view(&init->made.token)};

    writ_buf_fmt(&url, "http://127.0.0.1:%u/mcp", init->setup.port);
    block.url = writ_buf_view(&url);
    writ_client_block_write(w, &block);
}

static void
write_answer(const struct init *init, struct writ_write *w)
{
    const struct writ_setup_made *made = &init->made;

    writ_write_object_begin(w);
    writ_write_text(w, "config", made->config);
    writ_write_text(w, "agent_token_file", made->agent_token_file);
    writ_write_text(w, "owner_token_file", made->owner_token_file);
    writ_write_name(w, WRIT_LIT("servers"));
    writ_write_array_begin(w);
    for (size_t i = 0; i < init->n; i++) {
        write_server(w, &made->proposals[i]);
    }
    writ_write_array_end(w);
    writ_write_name(w, WRIT_LIT("placeholders"));
    writ_write_array_begin(w);
    for (size_t i = 0; i < made->placeholders_n; i++) {
        writ_write_object_begin(w);
        writ_write_count(w, "line", made->placeholders[i].line);
        writ_write_text(w, "value", made->placeholders[i].text);
        writ_write_object_end(w);
    }
    writ_write_array_end(w);
    writ_write_count(w, "oddities", made->odd.total);
    writ_write_text_if(w, "exposed", init->made.exposed);
    writ_write_name(w, WRIT_LIT("client"));
    write_block(init, w);
    writ_write_object_end(w);
}

static void
put_server(struct writ_buf *ret, const struct writ_proposal *p)
{
    writ_buf_put(ret, p->upstream);
    writ_buf_fmt(ret, ": %zu tools: %zu open within their constraints", p->tools, p->open);
    if (p->reviewed > 0) {
        writ_buf_fmt(ret, ", %zu need your approval of each call", p->reviewed);
    }
    if (p->waiting > 0) {
        writ_buf_fmt(ret, ", %zu are refused until you replace placeholders", p->waiting);
    }
    if (p->closed > 0) {
        writ_buf_fmt(ret, ", %zu are refused until you write a rule", p->closed);
    }
    writ_buf_byte(ret, '\n');
}

static void
put_placeholders(const struct init *init, struct writ_buf *ret)
{
    const struct writ_setup_made *made = &init->made;

    for (size_t i = 0; i < made->placeholders_n; i++) {
        writ_print_plain(ret, made->config);
        writ_buf_fmt(ret, ":%zu: ", made->placeholders[i].line);
        writ_buf_put(ret, made->placeholders[i].text);
        writ_buf_byte(ret, '\n');
    }
}

static void
put_exposed(const struct init *init, struct writ_buf *ret)
{
    if (init->made.exposed.len > 0) {
        writ_buf_str(ret, "\nWarning: these files are in ");
        writ_print_plain(ret, init->made.exposed);
        writ_buf_str(ret,
            ", which a server was given. It can read the keys and both tokens, and so can an "
            "agent that may read there. Move them, or give the server another folder.\n");
    }
}

static void
put_oddities(const struct init *init, struct writ_buf *ret)
{
    const struct writ_oddities *odd = &init->made.odd;

    if (odd->total == 0) {
        return;
    }
    writ_buf_str(ret, "\nWarning: read these before you trust the server (docs/policy.md):\n");
    for (size_t i = 0; i < odd->n && i < ODDITIES_MAX; i++) {
        writ_buf_str(ret, "  ");
        writ_buf_put(ret, odd->items[i].server);
        writ_buf_byte(ret, '/');
        writ_text_safe(ret, odd->items[i].tool, NAME_MAX);
        writ_buf_str(ret, ": ");
        writ_tools_scan_put(ret, &odd->items[i]);
    }
    if (odd->total > ODDITIES_MAX) {
        writ_buf_fmt(ret, "  and %zu more: writ tools scan\n", odd->total - ODDITIES_MAX);
    }
}

/* Whether no placeholder before it has the same text. */
static bool
is_first(const struct writ_setup_made *made, size_t at)
{
    for (size_t i = 0; i < at; i++) {
        if (writ_view_equal(made->placeholders[i].text, made->placeholders[at].text)) {
            return false;
        }
    }
    return true;
}

static void
put_next(const struct init *init, struct writ_buf *ret)
{
    const struct writ_setup_made *made = &init->made;

    writ_buf_str(ret, "\nNext:\n");
    for (size_t i = 0; i < made->placeholders_n; i++) {
        if (is_first(made, i)) {
            writ_buf_str(ret, "  sed -i 's|");
            writ_buf_put(ret, made->placeholders[i].text);
            writ_buf_str(ret, "|YOUR_VALUE|' ");
            writ_print_plain(ret, made->config);
            writ_buf_str(ret, "   (or edit each)\n");
        }
    }
    writ_buf_str(ret, "  writ check ");
    writ_print_plain(ret, made->config);
    writ_buf_str(ret, "\n  writ serve ");
    writ_print_plain(ret, made->config);
    writ_buf_fmt(
        ret, "\nApprove calls at http://127.0.0.1:%u/ with the token in ", init->setup.port + 1U);
    writ_print_plain(ret, made->owner_token_file);
    writ_buf_str(ret, "\n\nFor the client; keep it secret, because it has the agent's token:\n");
}

static void
put_answer(const struct init *init, struct writ_buf *ret, struct writ_write *w)
{
    for (size_t i = 0; i < init->n; i++) {
        put_server(ret, &init->made.proposals[i]);
    }
    put_placeholders(init, ret);
    put_exposed(init, ret);
    put_oddities(init, ret);
    put_next(init, ret);
    write_block(init, w);
}

static WRIT_RESULT
run(struct init *init, struct writ_err *err)
{
    struct writ_buf answer = writ_buf_make(ANSWER_MAX);
    struct writ_write w = writ_write_to(&answer);
    writ_result result;

    WRIT_TRY(read_options(init, err));
    WRIT_TRY(read_servers(init, err));
    init->setup.servers = init->servers;
    init->setup.servers_n = init->n;
    WRIT_TRY(writ_setup_make(&init->setup, init->arena, &init->made, err));
    if (init->cli->json) {
        write_answer(init, &w);
    } else {
        put_answer(init, &answer, &w);
    }
    result = writ_write_end(&w, err);
    writ_buf_byte(&answer, '\n');
    if (writ_is_ok(result)) {
        result = writ_buf_check(&answer, err);
    }
    if (writ_is_ok(result)) {
        writ_cli_put(writ_buf_view(&answer));
    }
    writ_buf_wipe_secret(&answer);
    return result;
}

static void
init_freep(struct init **init)
{
    if (*init != NULL) {
        writ_setup_wipe(&(*init)->made);
        writ_free(*init);
    }
}

enum writ_exit
writ_command_init(const struct writ_cli *cli)
{
    writ_auto_arena arena = writ_arena_new(ARENA_MAX);
    WRIT_AUTO(struct init *, init_freep) init = writ_alloc(sizeof *init);
    struct writ_err err = {0};
    writ_result result;

    if (arena == NULL || init == NULL) {
        return writ_cli_fail(cli, writ_fail(&err, WRIT_E_NOMEM, "no memory to begin"), &err);
    }
    init->cli = cli;
    init->arena = arena;
    result = run(init, &err);
    return writ_is_ok(result) ? WRIT_EXIT_OK : writ_cli_fail(cli, result, &err);
}
