/* writ guard ...: options of the guards in front of a tool server. A guard never starts with an
 * incomplete set of options. */
#include "cli/commands/command.h"

#include "base/text.h"
#include "gateway/guard/guard_run.h"

#include <unistd.h>

#define SECOND_US 1000000
#define HEADER    "Writ-Credential"
#define ADDRESS   "127.0.0.1:9100"

enum writ_exit
writ_command_guard_init(const struct writ_cli *cli)
{
    struct writ_err err = {{0}, 0, 0};
    writ_result made = writ_replay_cache_make(
        writ_cli_operand(cli, 0).ptr, writ_clock_wall_us(cli->clock) / SECOND_US, &err);

    return writ_is_ok(made) ? WRIT_EXIT_OK : writ_cli_fail(cli, made, &err);
}

static enum writ_exit
run(const struct writ_cli *cli, struct writ_guard_options options)
{
    struct writ_err err = {{0}, 0, 0};
    struct writ_log log;
    uint64_t skew_s = 0;
    writ_result result;

    if (writ_cli_has(cli, "skew") &&
        !writ_is_ok(writ_text_u64(writ_cli_get(cli, "skew"), 0, WRIT_VERIFY_SKEW_MAX_S, &skew_s))) {
        return writ_cli_usage(
            cli, "--skew is not a number of seconds from 0 to %d", WRIT_VERIFY_SKEW_MAX_S);
    }
    writ_log_init(&log, STDERR_FILENO, WRIT_LOG_INFO, cli->clock);
    options.log = &log;
    options.clock = cli->clock;
    options.keys = writ_cli_get(cli, "keys").ptr;
    options.status = writ_cli_get(cli, "status").ptr;
    options.audience = writ_cli_get(cli, "aud");
    options.used = writ_cli_get(cli, "used").ptr;
    options.issuer = writ_cli_get(cli, "iss");
    options.typ = writ_cli_get(cli, "typ");
    options.skew_s = (int64_t)skew_s;
    result = writ_log_start(&log, &err);
    if (writ_is_ok(result)) {
        result = writ_guard_run(&options, &err);
        writ_log_stop(&log);
    }
    return writ_is_ok(result) ? WRIT_EXIT_OK : writ_cli_fail(cli, result, &err);
}

/* For guards that see calls: how they observe the targets. */
static enum writ_exit
observe_and_run(const struct writ_cli *cli, struct writ_guard_options *options)
{
    if (writ_cli_has(cli, "policy") != writ_cli_has(cli, "upstream")) {
        return writ_cli_usage(cli, "--policy and --upstream go together");
    }
    if (writ_cli_has(cli, "open-probes") && !writ_cli_has(cli, "policy")) {
        return writ_cli_usage(cli, "--open-probes needs --policy, which names the probes");
    }
    options->policy = writ_cli_get(cli, "policy").ptr;
    options->name = writ_cli_get(cli, "upstream");
    options->any_state = writ_cli_has(cli, "any-state");
    options->open_probes = writ_cli_has(cli, "open-probes");
    return run(cli, *options);
}

static void
listen_as_told(const struct writ_cli *cli, struct writ_guard_options *options)
{
    options->listen = writ_cli_has(cli, "listen") ? writ_cli_get(cli, "listen") : WRIT_LIT(ADDRESS);
    options->host = writ_cli_get(cli, "host");
    options->header = writ_cli_has(cli, "header") ? writ_cli_get(cli, "header") : WRIT_LIT(HEADER);
}

enum writ_exit
writ_command_guard_http(const struct writ_cli *cli)
{
    struct writ_guard_options options = {
        .form = WRIT_GUARD_HTTP, .upstream = writ_cli_operand(cli, 0)};

    listen_as_told(cli, &options);
    return observe_and_run(cli, &options);
}

enum writ_exit
writ_command_guard_check(const struct writ_cli *cli)
{
    struct writ_guard_options options = {.form = WRIT_GUARD_CHECK};

    listen_as_told(cli, &options);
    return run(cli, options);
}

enum writ_exit
writ_command_guard_stdio(const struct writ_cli *cli)
{
    const char *argv[257] = {NULL};
    struct writ_guard_options options = {.form = WRIT_GUARD_STDIO, .argv = argv};

    for (int i = 0; i < cli->operand_count; i++) {
        argv[i] = cli->operands[i];
    }
    return observe_and_run(cli, &options);
}
