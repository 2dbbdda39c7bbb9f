/* writ serve CONFIG: every message is a line of its log, also the reason why it does not start. */
#include "cli/commands/command.h"

#include "base/log.h"
#include "base/text.h"
#include "cli/commands/findings_log.h"
#include "gateway/service/serve.h"
#include "policy/read/load.h"

#include <unistd.h>

#define IDLE_MAX_S (366 * 24 * 3600)
#define US_PER_S   INT64_C(1000000)

static WRIT_RESULT
serve(struct writ_log *log, struct writ_config **config, struct writ_view file, int64_t idle_us,
    struct writ_err *err)
{
    struct writ_findings findings = {0};
    struct writ_serve_options options = {
        .config_file = file.ptr, .log = log, .clock = log->clock, .idle_us = idle_us};
    writ_result result = writ_load_file(file.ptr, &findings, config, err);

    writ_findings_log_write(log, &findings, file);
    writ_findings_wipe(&findings);
    WRIT_TRY(result);
    log->level = (*config)->log.level;
    options.config = *config;
    WRIT_TRY(writ_log_start(log, err));
    result = writ_serve_run(&options, err);
    writ_log_stop(log);
    return result;
}

enum writ_exit
writ_command_serve(const struct writ_cli *cli)
{
    struct writ_view file = writ_cli_operand(cli, 0);
    struct writ_config *config = NULL;
    struct writ_err err = {{0}, 0, 0};
    struct writ_log log;
    uint64_t idle_s = 0;
    writ_result result;

    if (writ_cli_has(cli, "idle") &&
        !writ_is_ok(writ_text_u64(writ_cli_get(cli, "idle"), 1, IDLE_MAX_S, &idle_s))) {
        return writ_cli_usage(cli, "--idle must be 1 to %d seconds", IDLE_MAX_S);
    }
    writ_log_init(&log, STDERR_FILENO, WRIT_LOG_INFO, cli->clock);
    result = serve(&log, &config, file, (int64_t)idle_s * US_PER_S, &err);
    writ_config_drop(config);
    if (!writ_is_ok(result)) {
        WRIT_LOG(&log, WRIT_EVENT_NOT_STARTED, writ_log_text("file", file),
            writ_log_str("code", writ_code_name(result.code)), writ_log_str("why", err.text));
    }
    return writ_cli_exit(result);
}
