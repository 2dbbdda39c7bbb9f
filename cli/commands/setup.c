/* In this order: what is there already, the servers, the text, and only then the files, the
 * configuration last. A failure before the files leaves the folder as it was. */
#include "cli/commands/setup.h"

#include "base/text.h"
#include "cli/base/cli.h"
#include "cli/commands/bearer.h"
#include "cli/commands/first_keys.h"
#include "cli/commands/setup_text.h"
#include "gateway/discover/discover.h"
#include "policy/model/path.h"
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

/* One run. */
struct making {
    const struct writ_setup *setup;
    struct writ_arena *arena;
    struct writ_setup_made *ret;
    struct writ_proposal *proposals;
    struct writ_digest agent, owner; /* of the tokens */
    struct writ_buf owner_token;     /* a secret */
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
    return check_absent(m->ret->owner_token_file, err);
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
        server, writ_json_string(writ_json_get(definition, WRIT_LIT("name"))), definition};

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
            tools[n++] = (struct writ_oddity_tool){m->setup->servers[i].name, rule->tool, NULL};
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
    if (m->proposals == NULL) {
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
        WRIT_TRY(ask(m, &setup->servers[i], &m->proposals[i], err));
    }
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
    writ_buf_fmt(ret,
        "listen: 127.0.0.1:%u\n"
        "admin_listen: 127.0.0.1:%u # health, metrics, and the page on which calls are approved\n"
        "keys: " KEYS "\n"
        "store: sqlite://" LEDGER "\n\n",
        m->setup->port, m->setup->port + 1U);
}

static void
put_all(const struct making *m, struct writ_buf *ret)
{
    put_head(m, ret);
    writ_setup_text_agents(ret, m->setup->agent, &m->agent, &m->owner);
    writ_buf_str(ret, "upstreams:\n");
    for (size_t i = 0; i < m->setup->servers_n; i++) {
        writ_setup_text_server(ret, &m->setup->servers[i]);
    }
    writ_buf_byte(ret, '\n');
    writ_proposal_text_tools(ret, m->proposals, m->setup->servers_n, WRIT_LIT(WRIT_SETUP_OWNER));
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
    return writ_cli_write_new(m->ret->config.ptr, text, err);
}

/* The path without links and dots; {NULL, 0} for what is not there. */
static struct writ_view
real_path(const char *path, char *memory)
{
    return writ_view_str(realpath(path, memory));
}

/* Whether the text names a folder around ours. */
static bool
is_around(struct writ_view ours, const char *text)
{
    char memory[PATH_MAX];
    struct writ_view given = real_path(text, memory);

    return given.len > 0 && writ_path_is_normal(given) && writ_path_is_under(ours, &given, 1);
}

/* A program that was given a folder around ours can read the tokens, whatever its rules say. The
 * folder is a word of its command, or follows a `=`: --root=/srv. */
static WRIT_RESULT
find_exposed(struct making *m, struct writ_err *err)
{
    writ_auto_buf folder = writ_buf_make(WRIT_TEXT_PATH_MAX);
    char ours_memory[PATH_MAX];
    struct writ_view ours;

    WRIT_TRY(writ_text_folder(m->ret->config.ptr, &folder, err));
    writ_buf_byte(&folder, '\0');
    WRIT_TRY(writ_buf_check(&folder, err));
    ours = real_path(folder.ptr, ours_memory);
    for (size_t i = 0; i < m->setup->servers_n; i++) {
        const struct writ_upstream_config *server = &m->setup->servers[i];

        for (size_t word = 1; word < server->stdio.n; word++) {
            struct writ_view text = server->stdio.items[word];
            size_t equals = writ_view_find(text, '=');

            if (is_around(ours, text.ptr) ||
                (equals < text.len && is_around(ours, text.ptr + equals + 1))) {
                m->ret->exposed = text;
            }
        }
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
    put_all(m, &text);
    WRIT_TRY(writ_buf_check(&text, err));
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
