/* writ wrap: a server of a configuration for a client that starts its servers. What runs is what
 * the configuration says: a command line that names something else is refused, never run. */
#include "base/secret.h"
#include "base/text.h"
#include "cli/commands/bearer.h"
#include "cli/commands/command.h"
#include "cli/commands/findings_log.h"
#include "cli/commands/server_folder.h"
#include "cli/commands/server_name.h"
#include "cli/commands/server_program.h"
#include "cli/commands/wrap_home.h"
#include "gateway/bridge/bridge.h"
#include "gateway/discover/discover.h"
#include "gateway/upstream/client_env.h"
#include "policy/read/findings.h"
#include "policy/read/load.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#define IDLE_S      600
#define IDLE_MAX_S  (366 * 24 * 3600)
#define TARGET_MAX  256
#define NOTE_MAX    8192
#define ARENA_MAX   ((size_t)512 << 20)
#define INHERIT_MAX 128 /* as option.tbl.h says */

/* ---- the configuration ---- */

/* The whole path: the gateway may outlive the folder that the client is in. */
static WRIT_RESULT
find_file(struct writ_view path, struct writ_buf *ret, struct writ_err *err)
{
    size_t name = path.len;

    while (name > 0 && path.ptr[name - 1] != '/') {
        name--;
    }
    WRIT_TRY(writ_text_folder(path.ptr, ret, err));
    writ_buf_put(ret, writ_view_sub(path, name, path.len));
    writ_buf_byte(ret, '\0');
    return writ_buf_check(ret, err);
}

static void
say_findings(const struct writ_findings *findings, const char *file)
{
    writ_auto_buf text = writ_buf_make(WRIT_CLI_ANSWER_MAX);

    writ_findings_put(findings, writ_view_str(file), &text);
    if (writ_is_ok(writ_buf_check(&text, NULL))) {
        (void)writ_cli_write_all(STDERR_FILENO, writ_buf_view(&text));
    }
}

/* `log`: for findings; NULL: they are for the person who waits for them. */
static WRIT_RESULT
load(const char *file, struct writ_log *log, struct writ_config **ret, struct writ_err *err)
{
    struct writ_findings findings = {0};
    writ_result result = writ_load_file(file, &findings, ret, err);

    if (!writ_is_ok(result) && log != NULL) {
        writ_findings_log_write(log, &findings, writ_view_str(file));
    } else if (!writ_is_ok(result)) {
        say_findings(&findings, file);
    }
    writ_findings_wipe(&findings);
    WRIT_TRY(result);
    if ((*ret)->listen.path.len == 0) {
        WRIT_FAIL(err, WRIT_E_INVALID,
            "%s: listen is an address, and writ wrap needs unix: and the path of a socket", file);
    }
    return WRIT_DONE;
}

/* The one that is named, or the only one. */
static WRIT_RESULT
find_upstream(struct writ_view name, const struct writ_config *config,
    const struct writ_upstream_config **ret, struct writ_err *err)
{
    if (name.ptr == NULL && config->upstreams_n == 1) {
        *ret = &config->upstreams[0];
        return WRIT_DONE;
    }
    if (name.ptr == NULL) {
        WRIT_FAIL(err, WRIT_E_INVALID, "%s has %zu upstreams: pass --name", config->file.ptr,
            config->upstreams_n);
    }
    for (size_t i = 0; i < config->upstreams_n; i++) {
        if (writ_view_equal(config->upstreams[i].name, name)) {
            *ret = &config->upstreams[i];
            return WRIT_DONE;
        }
    }
    WRIT_FAIL(err, WRIT_E_ABSENT, "%s has no upstream of this name: " WRIT_VIEW_FMT,
        config->file.ptr, WRIT_VIEW_ARG(name));
}

/* Whether the operands say what the configuration says; without any, nothing was said. */
static bool
is_same(const struct writ_cli *cli, const struct writ_upstream_config *upstream)
{
    size_t n = (size_t)cli->operand_count;

    if (n == 0) {
        return true;
    }
    if (upstream->http.len > 0) {
        return n == 1 && writ_view_equal(writ_cli_operand(cli, 0), upstream->http);
    }
    if (n != upstream->stdio.n) {
        return false;
    }
    for (size_t i = 1; i < n; i++) {
        if (!writ_view_equal(writ_cli_operand(cli, (int)i), upstream->stdio.items[i])) {
            return false;
        }
    }
    return writ_server_program_is(upstream, writ_cli_operand(cli, 0));
}

/* ---- running ---- */

/* One run. */
struct run {
    const struct writ_cli *cli;
    struct writ_log *log; /* NULL: it serves no client */
    struct writ_arena *arena;
    struct writ_gateway_start start;
    struct writ_wrap_home home; /* without --config */
    bool own;                   /* home is in use */
    struct writ_view name;      /* of the upstream; empty: the only one */
    struct writ_config *config;
    char folder[PATH_MAX]; /* that the client gave */
};

static WRIT_RESULT
read_token(
    const struct run *run, struct writ_buf *ret, struct writ_view *ret_value, struct writ_err *err)
{
    struct writ_view name = WRIT_LIT("Authorization: ");
    struct writ_view path = writ_cli_get(run->cli, "token");

    if (path.ptr == NULL) {
        path = run->own ? run->home.token : path;
    }
    if (path.ptr == NULL) {
        return WRIT_DONE;
    }
    WRIT_TRY(writ_bearer_read(path.ptr, ret, err));
    *ret_value = writ_view_sub(writ_buf_view(ret), name.len, ret->len - name.len - 1);
    return WRIT_DONE;
}

/* For people and for the model: what keeps every call from running. */
static WRIT_RESULT
note_agreement(const struct run *run, const struct writ_upstream_config *upstream,
    struct writ_buf *ret, struct writ_err *err)
{
    struct writ_view path = run->config->file;
    bool there = false, agreed = true;

    for (size_t i = 0; i < run->config->not_agreed.n; i++) {
        agreed = agreed && !writ_view_equal(run->config->not_agreed.items[i], upstream->name);
    }
    if (agreed) {
        return WRIT_DONE;
    }
    if (run->own) {
        WRIT_TRY(writ_wrap_home_file(&run->home, upstream->name, &path, &there, err));
    }
    writ_buf_fmt(ret,
        "Writ refuses every tool call of this server until its user agrees to the rules: read %s, "
        "replace each value that begins with REPLACE_, and run: writ wrap --agree " WRIT_VIEW_FMT,
        path.ptr, WRIT_VIEW_ARG(upstream->name));
    WRIT_TRY(writ_buf_check(ret, err));
    if (run->log != NULL) {
        WRIT_LOG(run->log, WRIT_EVENT_RULES_NOT_AGREED, writ_log_text("upstream", upstream->name),
            writ_log_text("file", path), writ_log_text("why", writ_buf_view(ret)));
    }
    return WRIT_DONE;
}

/* The variables and the folder that the client gave, for its server, if the configuration lets a
 * client give them. */
static WRIT_RESULT
give_environment(struct run *run, const struct writ_upstream_config *upstream, struct writ_buf *ret,
    struct writ_err *err)
{
    if (!upstream->client_environment) {
        return WRIT_DONE;
    }
    if (getcwd(run->folder, sizeof run->folder) == NULL) {
        WRIT_FAIL(err, WRIT_E_IO, "the current folder: %s", strerrordesc_np(errno));
    }
    return writ_client_env_put(
        upstream, (const char *const *)environ, writ_view_str(run->folder), ret, err);
}

static bool
has_name(const struct writ_views *names, struct writ_view name)
{
    for (size_t i = 0; i < names->n; i++) {
        if (writ_view_equal(names->items[i], name)) {
            return true;
        }
    }
    return false;
}

/* Whether servers that get it from their clients inherit it, and nothing of the gateway's own does.
 */
static bool
is_a_clients(const struct writ_config *config, struct writ_view name)
{
    bool found = false;

    for (size_t i = 0; i < config->upstreams_n; i++) {
        const struct writ_upstream_config *server = &config->upstreams[i];
        bool inherits = has_name(&server->inherit, name);

        if ((inherits && !server->client_environment) ||
            (server->authorization != NULL &&
                writ_view_equal(server->authorization->variable, name))) {
            return false;
        }
        found = found || inherits;
    }
    for (size_t i = 0; i < config->reviewers_n; i++) {
        if (has_name(&config->reviewers[i].inherit, name)) {
            return false;
        }
    }
    return found;
}

/* The gateway gets no variable that each wrap gives to its own server. */
static WRIT_RESULT
make_environment(struct run *run, struct writ_err *err)
{
    size_t n = 0, kept = 0;

    while (environ[n] != NULL) {
        n++;
    }
    run->start.environment = writ_arena_get(run->arena, (n + 1) * sizeof *run->start.environment);
    if (run->start.environment == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for an environment");
    }
    for (size_t i = 0; i < n; i++) {
        struct writ_view all = writ_view_str(environ[i]);

        if (!is_a_clients(run->config, writ_view_sub(all, 0, writ_view_find(all, '=')))) {
            run->start.environment[kept++] = environ[i];
        }
    }
    run->start.environment[kept] = NULL;
    return WRIT_DONE;
}

static WRIT_RESULT
carry(struct run *run, const struct writ_upstream_config *upstream, struct writ_err *err)
{
    struct writ_buf token = writ_buf_make(WRIT_BEARER_FIELD_MAX);
    struct writ_buf environment = writ_buf_make(WRIT_CLIENT_ENV_FIELD_MAX + 1);
    writ_auto_buf target = writ_buf_make(TARGET_MAX), note = writ_buf_make(NOTE_MAX);
    struct writ_bridge_options options = {.start = &run->start, .clock = run->cli->clock};
    writ_result result;

    WRIT_TRY(note_agreement(run, upstream, &note, err));
    writ_buf_str(&target, "/mcp/");
    writ_buf_put(&target, upstream->name);
    WRIT_TRY(writ_buf_check(&target, err));
    options.target = writ_buf_view(&target);
    options.note = writ_buf_view(&note);
    result = read_token(run, &token, &options.authorization, err);
    if (writ_is_ok(result)) {
        result = give_environment(run, upstream, &environment, err);
    }
    if (writ_is_ok(result)) {
        options.environment = writ_buf_view(&environment);
        result = writ_bridge_run(&options, err);
    }
    writ_buf_wipe_secret(&environment);
    writ_buf_wipe_secret(&token);
    return result;
}

/* Loads the configuration, and finds the gateway's socket in it. */
static WRIT_RESULT
load_config(struct run *run, const char *file, struct writ_err *err)
{
    writ_config_drop(run->config);
    run->config = NULL;
    WRIT_TRY(load(file, run->log, &run->config, err));
    run->start.config = file;
    run->start.socket = run->config->listen.path.ptr;
    return make_environment(run, err);
}

static WRIT_RESULT
wrap(struct run *run, struct writ_err *err)
{
    const struct writ_upstream_config *upstream = NULL;

    WRIT_TRY(find_upstream(run->name, run->config, &upstream, err));
    if (!is_same(run->cli, upstream)) {
        WRIT_FAIL(err, WRIT_E_MISMATCH,
            "%s says another command for " WRIT_VIEW_FMT
            ": change the upstream there, or pass another --name",
            run->start.config, WRIT_VIEW_ARG(upstream->name));
    }
    return carry(run, upstream, err);
}

/* ---- without --config ---- */

/* The variables that the client gave to the server, by name: the gateway hands them on. */
static WRIT_RESULT
note_variables(struct run *run, struct writ_upstream_config *server, struct writ_err *err)
{
    static const char *const usual[] = {"HOME", "LANG", "LOGNAME", "OLDPWD", "PATH", "PWD", "SHELL",
        "SHLVL", "TERM", "TMPDIR", "TZ", "USER", "_", NULL};
    struct writ_view *names = writ_arena_get(run->arena, INHERIT_MAX * sizeof *names);
    size_t n = 0;

    if (names == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for names of variables");
    }
    for (char **variable = environ; *variable != NULL; variable++) {
        struct writ_view all = writ_view_str(*variable);
        struct writ_view name = writ_view_sub(all, 0, writ_view_find(all, '='));
        bool known = writ_view_has_prefix(name, WRIT_LIT("LC_")) ||
                     writ_view_has_prefix(name, WRIT_LIT("XDG_")) || name.len == 0;

        for (const char *const *each = usual; *each != NULL && !known; each++) {
            known = writ_view_is(name, *each);
        }
        if (!known && n == INHERIT_MAX) {
            WRIT_FAIL(err, WRIT_E_LIMIT,
                "more than %d variables are set that the server would inherit, such "
                "as " WRIT_VIEW_FMT ": start it with fewer",
                INHERIT_MAX, WRIT_VIEW_ARG(name));
        }
        if (!known) {
            names[n] = writ_view_copy(name, run->arena);
            if (names[n++].ptr == NULL) {
                WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for names of variables");
            }
        }
    }
    server->inherit = (struct writ_views){names, n};
    return WRIT_DONE;
}

/* The server of the command line, with its name. */
static WRIT_RESULT
read_server(struct run *run, struct writ_upstream_config *ret, struct writ_err *err)
{
    const struct writ_cli *cli = run->cli;
    size_t n = (size_t)cli->operand_count;
    struct writ_view *words = writ_arena_get(run->arena, (n + 1) * sizeof *words);

    if (words == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for a command");
    }
    for (size_t i = 0; i < n; i++) {
        words[i] = writ_cli_operand(cli, (int)i);
    }
    if (n == 1 && writ_server_name_is_url(words[0])) {
        WRIT_TRY(writ_discover_url(words[0], run->arena, ret, err));
        WRIT_TRY(writ_server_name_of_url(ret, run->arena, &ret->name, err));
    } else {
        WRIT_TRY(writ_discover_command(words, n, ret, err));
        WRIT_TRY(note_variables(run, ret, err));
        WRIT_TRY(writ_server_folder_find(ret, run->arena, err));
        WRIT_TRY(writ_server_name_of_command(ret, run->arena, &ret->name, err));
        WRIT_TRY(writ_server_program_find(ret, run->arena, err));
        ret->client_environment = true;
    }
    if (writ_cli_has(cli, "name")) {
        ret->name = writ_cli_get(cli, "name");
    }
    return writ_server_name_check(ret->name, err);
}

/* A gateway that runs does not know the new server: it ends in order, and is started again; after
 * a wrap that was killed in between, by the next one. */
static WRIT_RESULT
add_server(struct run *run, const struct writ_upstream_config *server, struct writ_err *err)
{
    bool due = false;
    sigset_t none;

    (void)sigemptyset(&none);
    WRIT_TRY(load_config(run, run->home.config.ptr, err)); /* before anything is added to it */
    WRIT_TRY(writ_wrap_home_is_due(&run->home, &due, err));
    if (writ_config_upstream(run->config, server->name) == NULL) {
        WRIT_TRY(writ_wrap_home_set_due(&run->home, true, err));
        WRIT_TRY(writ_wrap_home_propose(&run->home, server, err));
    } else if (!due) {
        return WRIT_DONE;
    }
    WRIT_TRY(writ_gateway_start_end(&run->start, &none, err));
    return writ_wrap_home_set_due(&run->home, false, err);
}

static WRIT_RESULT
wrap_at_home(struct run *run, struct writ_err *err)
{
    struct writ_upstream_config server = {0};

    WRIT_TRY(writ_wrap_home_open(run->arena, run->cli->clock, &run->home, err));
    run->name = writ_cli_get(run->cli, "name");
    if (run->cli->operand_count > 0) {
        WRIT_TRY(read_server(run, &server, err));
        run->name = server.name;
        WRIT_TRY(add_server(run, &server, err));
    }
    writ_wrap_home_close(&run->home);
    WRIT_TRY(load_config(run, run->home.config.ptr, err));
    return wrap(run, err);
}

static WRIT_RESULT
agree(struct run *run, struct writ_err *err)
{
    struct writ_view name = writ_cli_get(run->cli, "agree");
    struct writ_findings findings = {0};
    writ_result result;

    WRIT_TRY(writ_server_name_check(name, err));
    WRIT_TRY(writ_wrap_home_open(run->arena, run->cli->clock, &run->home, err));
    result = writ_wrap_home_agree(&run->home, name, &findings, err);
    if (!writ_is_ok(result)) {
        say_findings(&findings, run->home.config.ptr);
    }
    writ_findings_wipe(&findings);
    WRIT_TRY(result);
    WRIT_TRY(load_config(run, run->home.config.ptr, err));
    writ_gateway_start_signal(&run->start, SIGHUP);
    writ_cli_print("agreed: " WRIT_VIEW_FMT "\n", WRIT_VIEW_ARG(name));
    return WRIT_DONE;
}

/* ---- the command ---- */

static WRIT_RESULT
run_as_told(struct run *run, struct writ_err *err)
{
    struct writ_view path = writ_cli_get(run->cli, "config");
    struct writ_buf file = writ_buf_in(run->arena, WRIT_TEXT_PATH_MAX);

    if (writ_cli_has(run->cli, "agree")) {
        return agree(run, err);
    }
    if (path.ptr == NULL) {
        return wrap_at_home(run, err);
    }
    run->own = false;
    run->name = writ_cli_get(run->cli, "name");
    WRIT_TRY(find_file(path, &file, err));
    WRIT_TRY(load_config(run, file.ptr, err));
    return wrap(run, err);
}

enum writ_exit
writ_command_wrap(const struct writ_cli *cli)
{
    writ_auto_arena arena = writ_arena_new(ARENA_MAX);
    struct run run = {.cli = cli, .arena = arena, .own = true, .home = {.lock = -1}};
    struct writ_err err = {{0}, 0, 0};
    uint64_t idle_s = IDLE_S;
    struct writ_log log;
    writ_result result;

    if (writ_cli_has(cli, "scan")) {
        return writ_command_tools_scan(cli);
    }
    if (writ_cli_has(cli, "client-config")) {
        return writ_cli_usage(cli, "--client-config needs --scan");
    }
    if (writ_cli_has(cli, "idle") &&
        !writ_is_ok(writ_text_u64(writ_cli_get(cli, "idle"), 1, IDLE_MAX_S, &idle_s))) {
        return writ_cli_usage(cli, "--idle must be 1 to %d seconds", IDLE_MAX_S);
    }
    if (writ_cli_has(cli, "agree") && (writ_cli_has(cli, "config") || cli->operand_count > 0)) {
        return writ_cli_usage(cli, "--agree stands alone");
    }
    if (!writ_cli_has(cli, "config") && !writ_cli_has(cli, "agree") && !writ_cli_has(cli, "name") &&
        cli->operand_count == 0) {
        return writ_cli_usage(cli, "pass the command of the server behind --, or --name");
    }
    if (arena == NULL) {
        return writ_cli_fail(cli, writ_fail(&err, WRIT_E_NOMEM, "no memory to begin"), &err);
    }
    writ_log_init(&log, STDERR_FILENO, WRIT_LOG_INFO, cli->clock);
    run.log = writ_cli_has(cli, "agree") ? NULL : &log;
    run.start.idle_s = (unsigned)idle_s;
    result = run_as_told(&run, &err);
    writ_wrap_home_close(&run.home);
    writ_config_drop(run.config);
    return writ_is_ok(result) ? WRIT_EXIT_OK : writ_cli_fail(cli, result, &err);
}
