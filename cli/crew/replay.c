/* writ crew replay: records the session again, from the inputs of its log, and compares each line
 * with the log. */
#include "base/text.h"
#include "cli/crew/command.h"
#include "cli/crew/crew_files.h"

#include <inttypes.h>

static void
tell(const struct writ_cli *cli, const struct writ_rerun *rerun)
{
    writ_auto_buf text = writ_buf_make(2 * WRIT_RERUN_LOG_MAX);
    struct writ_view why = writ_buf_view(&rerun->why);

    if (!cli->json) {
        writ_cli_put(why);
        writ_cli_print(
            rerun->differs ? "different\n" : "identical: %" PRIu64 " events\n", rerun->events);
        return;
    }
    writ_cli_print("{\"events\":%" PRIu64 ",\"identical\":%s,\"lines\":%zu", rerun->events,
        rerun->differs ? "false" : "true", rerun->line);
    if (rerun->differs) {
        writ_text_json(&text, why);
        writ_cli_print(",\"why\":" WRIT_VIEW_FMT, WRIT_VIEW_ARG(writ_buf_view(&text)));
    }
    writ_cli_print("}\n");
}

enum writ_exit
writ_command_crew_replay(const struct writ_cli *cli)
{
    WRIT_AUTO(struct writ_crew_files_engines, writ_crew_files_engines_wipe) engines = {0};
    WRIT_AUTO(struct writ_rerun, writ_rerun_wipe) rerun = {0};
    struct writ_err err = {0};
    writ_result result = writ_crew_files_engines(cli, &engines, &err);

    rerun.engines = engines.engines;
    if (writ_is_ok(result)) {
        result = writ_crew_files_rerun(&rerun, writ_cli_operand(cli, 0).ptr, &err);
    }
    if (!writ_is_ok(result)) {
        return writ_cli_fail(cli, result, &err);
    }
    writ_rerun_finish(&rerun);
    tell(cli, &rerun);
    return rerun.differs ? WRIT_EXIT_NEGATIVE : WRIT_EXIT_OK;
}
