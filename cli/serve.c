/* writ serve CONFIG */
#include "cli/cli.h"

#include "base/log.h"
#include "gateway/serve.h"

#include <stdio.h>
#include <unistd.h>

#define FINDINGS_MAX (1024 * 1024)

static void
tell_findings(const struct writ_findings *findings, struct writ_view file)
{
    writ_auto_buf text = writ_buf_make(FINDINGS_MAX);

    writ_findings_put(findings, file, &text);
    (void)fwrite(text.ptr, 1, text.len, stderr);
}

static writ_result
serve(const struct writ_cli *cli, const struct writ_config *config, const char *file,
    struct writ_err *err)
{
    struct writ_log log;
    const struct writ_serve_options options = {
        .config_file = file, .config = config, .log = &log, .clock = cli->clock};

    writ_log_init(&log, STDERR_FILENO, config->log.level, cli->clock);
    return writ_serve_run(&options, err);
}

enum writ_exit
writ_command_serve(const struct writ_cli *cli)
{
    struct writ_view file = writ_cli_operand(cli, 0);
    struct writ_findings findings = {0};
    struct writ_config *config = NULL;
    struct writ_err err = {{0}, 0, 0};
    writ_result r = writ_config_load(file.ptr, &findings, &config, &err);

    if (findings.n > 0 && !cli->json) {
        tell_findings(&findings, file);
    }
    writ_findings_wipe(&findings);
    if (writ_is_ok(r)) {
        r = serve(cli, config, file.ptr, &err);
    }
    writ_config_drop(config);
    return writ_is_ok(r) ? WRIT_EXIT_OK : writ_cli_fail(cli, r, &err);
}
