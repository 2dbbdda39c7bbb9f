/* In this order: what is there already, the servers, the text, and only then the files, the
 * configuration last. A failure before the files leaves the folder as it was. */
#include "cli/commands/setup.h"

#include "base/text.h"
#include "cli/base/cli.h"
#include "cli/commands/bearer.h"
#include "cli/commands/first_keys.h"
#include "cli/commands/server_folder.h"
#include "cli/commands/server_program.h"
#include "cli/commands/setup_text.h"
#include "gateway/discover/discover.h"
#include "gateway/io/unix_socket.h"
#include "policy/propose/proposal_text.h"
#include "policy/propose/propose.h"
#include "policy/read/load.h"
#include "policy/read/placeholder.h"
#include "store/ledger/ledger.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define CONFIG_MAX (WRIT_PROPOSAL_TEXT_MAX + 65536)
#define KEYS       "keys"
#define LEDGER     "ledger.db"
#define SOCKET     "writ.sock"

/* One run. */
struct making {
    const struct writ_setup *setup;
    struct writ_arena *arena;
    struct writ_setup_made *ret;
    struct writ_proposal *proposals;
    struct writ_digest agent, owner; /* of the tokens */
    struct writ_buf owner_token;     /* a secret */
    writ_result failure;             /* of the last server that gave no tools */
};

/* ---- paths */

/* The name in the folder, NUL-terminated. */
static WRIT_RESULT
path_of(const struct making *m, struct writ_view name, struct writ_view *ret, struct writ_err *err)
{
    struct writ_buf path = writ_buf_in(m->arena, WRIT_SETUP_PATH_MAX);

    writ_buf_put(&path, m->setup->folder);
    writ_buf_put(&path, name);
    writ_buf_byte(&path, '\0');
    WRIT_TRY(writ_buf_check(&path, err));
    *ret = writ_view(path.ptr, path.len - 1);
    return WRIT_DONE;
}

static WRIT_RESULT
check_absent(struct writ_view path, struct writ_err *err)
{
    struct stat there;

    if (lstat(path.ptr, &there) == 0) {
        WRIT_FAIL(err, WRIT_E_INVALID,
            "%s: exists. Remove it, or give another folder with --out: nothing is overwritten",
            path.ptr);
    }
    return WRIT_DONE;
}

static WRIT_RESULT
token_file(const struct making *m, struct writ_view id, struct writ_view *ret, struct writ_err *err)
{
    writ_auto_buf name = writ_buf_make(WRIT_SETUP_PATH_MAX);

    writ_buf_put(&name, id);
    writ_buf_str(&name, ".token");
    WRIT_TRY(writ_buf_check(&name, err));
    return path_of(m, writ_buf_view(&name), ret, err);
}

/* The file of a server's secret; empty: it has none that is to be kept. */
static WRIT_RESULT
secret_file(const struct making *m, const struct writ_upstream_config *server,
    struct writ_view *ret, struct writ_err *err)
{
    writ_auto_buf name = writ_buf_make(WRIT_SETUP_PATH_MAX);

    *ret = writ_view(NULL, 0);
    if (server->authorization == NULL || server->authorization->secret.len == 0) {
        return WRIT_DONE;
    }
    writ_buf_put(&name, server->name);
    writ_buf_str(&name, WRIT_SETUP_TEXT_SECRET);
    WRIT_TRY(writ_buf_check(&name, err));
    return path_of(m, writ_buf_view(&name), ret, err);
}

static WRIT_RESULT
check_secrets(const struct making *m, struct writ_err *err)
{
    for (size_t i = 0; i < m->setup->servers_n; i++) {
        struct writ_view path;

        WRIT_TRY(secret_file(m, &m->setup->servers[i], &path, err));
        if (path.len > 0) {
            WRIT_TRY(check_absent(path, err));
        }
    }
    return WRIT_DONE;
}

/* The system takes a short path alone. */
static WRIT_RESULT
check_socket(const struct making *m, struct writ_err *err)
{
    writ_auto_buf path = writ_buf_make(WRIT_TEXT_PATH_MAX);
    struct sockaddr_un address;
    char real[PATH_MAX];

    if (m->setup->folder.len == 0 || m->setup->folder.ptr[0] != '/') {
        WRIT_TRY(writ_text_folder("x", &path, err));
    }
    writ_buf_put(&path, m->setup->folder);
    writ_buf_byte(&path, '\0');
    WRIT_TRY(writ_buf_check(&path, err));
    if (realpath(path.ptr, real) != NULL) {
        writ_buf_clear(&path);
        writ_buf_str(&path, real);
        writ_buf_str(&path, "/" SOCKET);
    } else {
        path.len--;
        writ_buf_str(&path, SOCKET);
    }
    WRIT_TRY(writ_buf_check(&path, err));
    return writ_unix_socket_address(writ_buf_view(&path), &address, err);
}

/* As unix_socket.h wants it, before any server is asked. */
static WRIT_RESULT
check_folder(const struct making *m, struct writ_err *err)
{
    struct writ_view path;
    struct stat there;

    WRIT_TRY(path_of(m, WRIT_LIT(""), &path, err));
    if (m->setup->socket && stat(path.len > 0 ? path.ptr : ".", &there) == 0 &&
        (there.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
        WRIT_FAIL(err, WRIT_E_INVALID,
            "%s: the folder of a Unix socket must have mode 0700: run chmod 700, or give another "
            "folder with --out",
            path.len > 0 ? path.ptr : ".");
    }
    return m->setup->socket ? check_socket(m, err) : WRIT_DONE;
}

static WRIT_RESULT
check_files(struct making *m, struct writ_err *err)
{
    struct writ_view keys, ledger;

    WRIT_TRY(path_of(m, m->setup->file, &m->ret->config, err));
    WRIT_TRY(path_of(m, WRIT_LIT(KEYS), &keys, err));
    WRIT_TRY(path_of(m, WRIT_LIT(LEDGER), &ledger, err));
    WRIT_TRY(token_file(m, m->setup->agent, &m->ret->agent_token_file, err));
    WRIT_TRY(token_file(m, WRIT_LIT(WRIT_SETUP_OWNER), &m->ret->owner_token_file, err));
    WRIT_TRY(check_absent(m->ret->config, err));
    WRIT_TRY(check_absent(keys, err));
    WRIT_TRY(check_absent(ledger, err));
    WRIT_TRY(check_absent(m->ret->agent_token_file, err));
    WRIT_TRY(check_absent(m->ret->owner_token_file, err));
    WRIT_TRY(check_secrets(m, err));
    return check_folder(m, err);
}

/* ---- servers */

static void
found_freep(struct writ_discovered **found)
{
    writ_discover_free(*found);
}

static void
look_at_tool(struct making *m, struct writ_view server, const struct writ_json *definition)
{
    const struct writ_oddity_tool tool = {
        server, writ_json_string(writ_json_get(definition, WRIT_LIT("name"))), definition, NULL};

    writ_oddity_of_tool(&m->ret->odd, &tool);
}

static WRIT_RESULT
propose_all(struct making *m, const struct writ_discovered *found, struct writ_proposal *ret,
    struct writ_err *err)
{
    for (size_t i = 0; i < found->catalog->n; i++) {
        /* what the server said ends with its link; the proposal goes on */
        const struct writ_json *definition = writ_json_copy(found->definitions[i], m->arena);

        if (definition == NULL) {
            WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for the tools of a server");
        }
        look_at_tool(m, ret->upstream, definition);
        WRIT_TRY(writ_propose_tool(ret, definition, err));
    }
    writ_oddity_of_text(&m->ret->odd, ret->upstream, WRIT_LIT("/instructions"),
        writ_view_copy(found->instructions, m->arena));
    return WRIT_DONE;
}

static WRIT_RESULT
ask(struct making *m, const struct writ_upstream_config *server, struct writ_proposal *ret,
    struct writ_err *err)
{
    struct writ_discover_options options = {.clock = m->setup->clock};
    WRIT_AUTO(struct writ_discovered *, found_freep) found = NULL;

    *ret = writ_propose_start(server->name, m->arena);
    WRIT_TRY(writ_discover_tools(server, &options, &found, err));
    return propose_all(m, found, ret, err);
}

/* A failure of the server is kept, and the next one is asked. */
static WRIT_RESULT
ask_one(struct making *m, size_t i, struct writ_err *err)
{
    const struct writ_upstream_config *server = &m->setup->servers[i];
    struct writ_err why = {{0}, 0, 0};
    writ_result result = ask(m, server, &m->proposals[i], &why);
    struct writ_setup_failed *failed = &m->ret->failed[m->ret->failed_n];

    if (result.code == WRIT_E_NOMEM) {
        WRIT_FAIL(err, result.code, "%s", why.text);
    }
    if (!writ_is_ok(result)) {
        failed->name = server->name;
        (void)writ_view_place(writ_view(why.text, sizeof why.text), failed->why);
        m->ret->failed_n++;
        m->failure = result;
    }
    return WRIT_DONE;
}

/* One that failed says why itself; of several the names stand here. */
static WRIT_RESULT
check_answers(const struct making *m, struct writ_err *err)
{
    writ_auto_buf names = writ_buf_make(WRIT_ERR_TEXT);

    if (m->ret->failed_n == 0) {
        return WRIT_DONE;
    }
    if (m->ret->failed_n == 1) {
        WRIT_FAIL(err, m->failure.code, "%s", m->ret->failed[0].why);
    }
    for (size_t i = 0; i < m->ret->failed_n; i++) {
        writ_buf_str(&names, i > 0 ? ", " : "");
        writ_buf_put(&names, m->ret->failed[i].name);
    }
    WRIT_FAIL(err, m->failure.code,
        "%zu of %zu servers gave no tools, and nothing is written: " WRIT_VIEW_FMT,
        m->ret->failed_n, m->setup->servers_n, WRIT_VIEW_ARG(writ_buf_view(&names)));
}

/* Over all servers: a tool may have the name of another server's. */
static WRIT_RESULT
look_at_names(struct making *m, struct writ_err *err)
{
    struct writ_oddity_tool *tools;
    size_t most = 0, n = 0;

    for (size_t i = 0; i < m->setup->servers_n; i++) {
        most += m->proposals[i].tools;
    }
    tools = writ_arena_get(m->arena, (most + 1) * sizeof *tools);
    if (tools == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for the tools of a server");
    }
    for (size_t i = 0; i < m->setup->servers_n; i++) {
        for (const struct writ_proposal_rule *rule = m->proposals[i].rules;
             rule != NULL && n < most; rule = rule->next) {
            tools[n++] =
                (struct writ_oddity_tool){.server = m->setup->servers[i].name, .name = rule->tool};
        }
    }
    writ_oddity_of_names(&m->ret->odd, tools, n);
    return WRIT_DONE;
}

static WRIT_RESULT
ask_all(struct making *m, struct writ_err *err)
{
    const struct writ_setup *setup = m->setup;

    m->ret->odd.arena = m->arena;
    m->proposals = writ_arena_get(m->arena, setup->servers_n * sizeof *m->proposals);
    m->ret->failed = writ_arena_get(m->arena, setup->servers_n * sizeof *m->ret->failed);
    if (m->proposals == NULL || m->ret->failed == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for the tools of a server");
    }
    for (size_t i = 0; i < setup->servers_n; i++) {
        for (size_t j = 0; j < i; j++) {
            if (writ_view_equal(setup->servers[j].name, setup->servers[i].name)) {
                WRIT_FAIL(err, WRIT_E_INVALID,
                    "two servers are called " WRIT_VIEW_FMT ": say NAME=URL",
                    WRIT_VIEW_ARG(setup->servers[i].name));
            }
        }
        WRIT_TRY(ask_one(m, i, err));
    }
    WRIT_TRY(check_answers(m, err));
    m->ret->proposals = m->proposals;
    return look_at_names(m, err);
}

/* ---- the configuration */

static void
put_head(const struct making *m, struct writ_buf *ret)
{
    char now[WRIT_TIME_TEXT];

    writ_time_format(writ_clock_wall_us(m->setup->clock), now);
    writ_buf_fmt(ret,
        "# Proposed by `writ init` on %.10s, from what the servers below say of their tools. A "
        "tool or\n"
        "# an argument without a rule is refused. Replace each value that begins with REPLACE_; "
        "then run\n"
        "# `writ check` on this file, which also says what is missing, and `writ serve`.\n\n",
        now);
    if (m->setup->socket) {
        writ_buf_str(ret, "listen: unix:" SOCKET " # of `writ wrap`, which starts the gateway\n");
    } else {
        writ_buf_fmt(ret, "listen: 127.0.0.1:%u\n", m->setup->port);
    }
    writ_buf_fmt(ret,
        "admin_listen: 127.0.0.1:%u # health, metrics, and the page on which calls are approved\n"
        "keys: " KEYS "\n"
        "store: sqlite://" LEDGER "\n\n",
        m->setup->port > 0 ? m->setup->port + 1U : 0U);
}

/* Behind a wrap, the client gives each value: the configuration has the names alone. */
static WRIT_RESULT
put_wrapped(const struct making *m, const struct writ_upstream_config *server, struct writ_buf *ret,
    struct writ_err *err)
{
    struct writ_upstream_config wrapped = *server;
    size_t n = server->inherit.n, all = n + server->environment.n;
    struct writ_view *names = writ_arena_get(m->arena, (all + 1) * sizeof *names);

    if (names == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for names of variables");
    }
    for (size_t i = 0; i < all; i++) {
        names[i] = i < n ? server->inherit.items[i] : server->environment.items[i - n].name;
    }
    wrapped.inherit = (struct writ_views){names, all};
    WRIT_TRY(writ_server_program_find(&wrapped, m->arena, err));
    wrapped.client_environment = wrapped.kind == WRIT_UPSTREAM_STDIO;
    wrapped.environment = (struct writ_pairs){NULL, 0};
    writ_setup_text_server(ret, &wrapped);
    return WRIT_DONE;
}

static WRIT_RESULT
put_all(const struct making *m, struct writ_buf *ret, struct writ_err *err)
{
    put_head(m, ret);
    writ_setup_text_agents(ret, m->setup->agent, &m->agent, &m->owner, false);
    writ_buf_str(ret, "upstreams:\n");
    for (size_t i = 0; i < m->setup->servers_n; i++) {
        if (m->setup->socket) {
            WRIT_TRY(put_wrapped(m, &m->setup->servers[i], ret, err));
        } else {
            writ_setup_text_server(ret, &m->setup->servers[i]);
        }
    }
    writ_buf_byte(ret, '\n');
    writ_proposal_text_tools(ret, m->proposals, m->setup->servers_n, WRIT_LIT(WRIT_SETUP_OWNER));
    return writ_buf_check(ret, err);
}

/* ---- placeholders */

static size_t
count_placeholders(const struct writ_yaml *node)
{
    size_t n = writ_placeholder_is(node) ? 1 : 0;

    WRIT_YAML_EACH(child, node)
    {
        n += count_placeholders(child);
    }
    return n;
}

static void
list_placeholders(const struct writ_yaml *node, struct writ_setup_placeholder *list, size_t *at)
{
    if (writ_placeholder_is(node)) {
        list[(*at)++] = (struct writ_setup_placeholder){node->line, node->text};
    }
    WRIT_YAML_EACH(child, node)
    {
        list_placeholders(child, list, at);
    }
}

static WRIT_RESULT
find_placeholders(struct making *m, struct writ_view text, struct writ_err *err)
{
    WRIT_AUTO(struct writ_findings, writ_findings_wipe) findings = {0};
    struct writ_setup_placeholder *list;
    const struct writ_yaml *root = NULL;
    size_t n, at = 0;

    WRIT_TRY(writ_yaml_read(text, m->arena, &findings, &root));
    n = count_placeholders(root);
    list = writ_arena_get(m->arena, (n + 1) * sizeof *list);
    if (list == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for so large a configuration");
    }
    list_placeholders(root, list, &at);
    m->ret->placeholders = list;
    m->ret->placeholders_n = n;
    return WRIT_DONE;
}

/* The placeholders are all that the reader of configurations finds wrong. */
static WRIT_RESULT
check_text(struct making *m, struct writ_view text, struct writ_err *err)
{
    WRIT_AUTO(struct writ_findings, writ_findings_wipe) findings = {0};
    struct writ_config *config = NULL;
    writ_result result;

    WRIT_TRY(find_placeholders(m, text, err));
    result = writ_load_text(text, m->ret->config.ptr, &findings, &config, err);
    writ_config_drop(config);
    if (findings.errors != m->ret->placeholders_n) {
        return writ_is_ok(result) ? (writ_result){WRIT_E_INVALID} : result;
    }
    return writ_is_ok(result) || m->ret->placeholders_n > 0 ? WRIT_DONE : result;
}

/* ---- files */

static WRIT_RESULT
make_folder(const struct making *m, struct writ_err *err)
{
    struct writ_view path;

    WRIT_TRY(path_of(m, WRIT_LIT(""), &path, err));
    if (path.len > 0 && mkdir(path.ptr, S_IRWXU) != 0 && errno != EEXIST) {
        WRIT_FAIL(err, WRIT_E_IO, "%s: %s", path.ptr, strerrordesc_np(errno));
    }
    return WRIT_DONE;
}

static WRIT_RESULT
make_secrets(const struct making *m, struct writ_err *err)
{
    for (size_t i = 0; i < m->setup->servers_n; i++) {
        const struct writ_upstream_config *server = &m->setup->servers[i];
        struct writ_view path;

        WRIT_TRY(secret_file(m, server, &path, err));
        if (path.len > 0) {
            WRIT_TRY(writ_cli_write_new(path.ptr, server->authorization->secret, err));
        }
    }
    return WRIT_DONE;
}

static WRIT_RESULT
make_files(const struct making *m, struct writ_view text, struct writ_err *err)
{
    struct writ_view keys, ledger;

    WRIT_TRY(path_of(m, WRIT_LIT(KEYS), &keys, err));
    WRIT_TRY(path_of(m, WRIT_LIT(LEDGER), &ledger, err));
    WRIT_TRY(make_folder(m, err));
    WRIT_TRY(writ_first_keys_make(keys.ptr, m->setup->clock, err));
    WRIT_TRY(writ_ledger_create(ledger.ptr, writ_view(NULL, 0), m->setup->clock, err));
    WRIT_TRY(writ_cli_write_new(m->ret->agent_token_file.ptr, writ_buf_view(&m->ret->token), err));
    WRIT_TRY(writ_cli_write_new(m->ret->owner_token_file.ptr, writ_buf_view(&m->owner_token), err));
    WRIT_TRY(make_secrets(m, err));
    return writ_cli_write_new(m->ret->config.ptr, text, err);
}

/* A program that was given a folder around ours can read the tokens, whatever its rules say. */
static WRIT_RESULT
find_exposed(struct making *m, struct writ_err *err)
{
    writ_auto_buf folder = writ_buf_make(WRIT_TEXT_PATH_MAX);

    WRIT_TRY(writ_text_folder(m->ret->config.ptr, &folder, err));
    writ_buf_byte(&folder, '\0');
    WRIT_TRY(writ_buf_check(&folder, err));
    for (size_t i = 0; i < m->setup->servers_n && m->ret->exposed.len == 0; i++) {
        m->ret->exposed = writ_server_folder_around(&m->setup->servers[i], folder.ptr);
    }
    return WRIT_DONE;
}

static WRIT_RESULT
make_all(struct making *m, struct writ_err *err)
{
    writ_auto_buf text = writ_buf_make(CONFIG_MAX);

    WRIT_TRY(check_files(m, err));
    WRIT_TRY(ask_all(m, err));
    WRIT_TRY(writ_bearer_make(&m->ret->token, &m->agent, err));
    WRIT_TRY(writ_bearer_make(&m->owner_token, &m->owner, err));
    WRIT_TRY(put_all(m, &text, err));
    WRIT_TRY(check_text(m, writ_buf_view(&text), err));
    WRIT_TRY(make_files(m, writ_buf_view(&text), err));
    return find_exposed(m, err);
}

WRIT_RESULT
writ_setup_make(const struct writ_setup *setup, struct writ_arena *arena,
    struct writ_setup_made *ret, struct writ_err *err)
{
    struct making m = {.setup = setup,
        .arena = arena,
        .ret = ret,
        .owner_token = writ_buf_make(WRIT_SETUP_TOKEN_MAX)};
    writ_result result;

    *ret = (struct writ_setup_made){.token = writ_buf_make(WRIT_SETUP_TOKEN_MAX)};
    result = make_all(&m, err);
    writ_buf_wipe_secret(&m.owner_token);
    return result;
}

void
writ_setup_wipe(struct writ_setup_made *made)
{
    writ_buf_wipe_secret(&made->token);
}
