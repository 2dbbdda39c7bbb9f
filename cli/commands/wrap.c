/* writ wrap: a server of a configuration for a client that starts its servers. What runs is what
 * the configuration says: a command line that names something else is refused, never run. */
#include "base/secret.h"
#include "base/text.h"
#include "cli/commands/bearer.h"
#include "cli/commands/command.h"
#include "gateway/bridge/bridge.h"
#include "policy/read/findings.h"
#include "policy/read/load.h"

#include <unistd.h>

#define IDLE_S     600
#define IDLE_MAX_S (366 * 24 * 3600)
#define TARGET_MAX 256

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

static WRIT_RESULT
load(const char *file, struct writ_config **ret, struct writ_err *err)
{
    struct writ_findings findings = {0};
    writ_result result = writ_load_file(file, &findings, ret, err);

    if (!writ_is_ok(result)) {
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
find_upstream(const struct writ_cli *cli, const struct writ_config *config,
    const struct writ_upstream_config **ret, struct writ_err *err)
{
    struct writ_view name = writ_cli_get(cli, "name");

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
    for (size_t i = 0; i < n; i++) {
        if (!writ_view_equal(writ_cli_operand(cli, (int)i), upstream->stdio.items[i])) {
            return false;
        }
    }
    return true;
}

/* ---- running ---- */

static WRIT_RESULT
read_token(const struct writ_cli *cli, struct writ_buf *ret, struct writ_view *ret_value,
    struct writ_err *err)
{
    struct writ_view name = WRIT_LIT("Authorization: ");

    if (!writ_cli_has(cli, "token")) {
        return WRIT_DONE;
    }
    WRIT_TRY(writ_bearer_read(writ_cli_get(cli, "token").ptr, ret, err));
    *ret_value = writ_view_sub(writ_buf_view(ret), name.len, ret->len - name.len - 1);
    return WRIT_DONE;
}

static WRIT_RESULT
wrap(const struct writ_cli *cli, unsigned idle_s, struct writ_config *config, const char *file,
    struct writ_err *err)
{
    struct writ_buf token = writ_buf_make(WRIT_BEARER_MAX + 64);
    writ_auto_buf target = writ_buf_make(TARGET_MAX);
    const struct writ_gateway_start start = {
        .config = file, .socket = config->listen.path.ptr, .idle_s = idle_s};
    struct writ_bridge_options options = {.start = &start, .clock = cli->clock};
    const struct writ_upstream_config *upstream = NULL;
    writ_result result;

    WRIT_TRY(find_upstream(cli, config, &upstream, err));
    if (!is_same(cli, upstream)) {
        WRIT_FAIL(err, WRIT_E_MISMATCH,
            "%s says another command for " WRIT_VIEW_FMT
            ": change the upstream there, or pass another --name",
            file, WRIT_VIEW_ARG(upstream->name));
    }
    writ_buf_str(&target, "/mcp/");
    writ_buf_put(&target, upstream->name);
    WRIT_TRY(writ_buf_check(&target, err));
    options.target = writ_buf_view(&target);
    result = read_token(cli, &token, &options.authorization, err);
    if (writ_is_ok(result)) {
        result = writ_bridge_run(&options, err);
    }
    writ_buf_wipe_secret(&token);
    return result;
}

enum writ_exit
writ_command_wrap(const struct writ_cli *cli)
{
    writ_auto_buf file = writ_buf_make(WRIT_TEXT_PATH_MAX);
    struct writ_config *config = NULL;
    struct writ_err err = {{0}, 0, 0};
    uint64_t idle_s = IDLE_S;
    writ_result result;

    if (!writ_cli_has(cli, "config")) {
        return writ_cli_usage(cli, "pass --config");
    }
    if (writ_cli_has(cli, "idle") &&
        !writ_is_ok(writ_text_u64(writ_cli_get(cli, "idle"), 1, IDLE_MAX_S, &idle_s))) {
        return writ_cli_usage(cli, "--idle must be 1 to %d seconds", IDLE_MAX_S);
    }
    result = find_file(writ_cli_get(cli, "config"), &file, &err);
    if (writ_is_ok(result)) {
        result = load(file.ptr, &config, &err);
    }
    if (writ_is_ok(result)) {
        result = wrap(cli, (unsigned)idle_s, config, file.ptr, &err);
    }
    writ_config_drop(config);
    return writ_is_ok(result) ? WRIT_EXIT_OK : writ_cli_fail(cli, result, &err);
}
