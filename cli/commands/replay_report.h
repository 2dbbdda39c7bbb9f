/* replay_report.h - the answer of `writ policy replay`, for people and as JSON. */
#ifndef WRIT_CLI_REPLAY_REPORT_H
#define WRIT_CLI_REPLAY_REPORT_H

#include "gateway/replay/replay_run.h"

/** What the run was about, as the command line names it. */
struct writ_replay_report {
    const struct writ_replay_run *run; /* sorted */
    struct writ_view file, against,
        path; /* the configurations and the ledger; against may be empty */
    bool shows_values;
    bool failed; /* as --fail-on says */
};

void writ_replay_report_text(const struct writ_replay_report *report, struct writ_buf *ret);
/** One JSON object and a line feed (docs/json.md). */
void writ_replay_report_json(const struct writ_replay_report *report, struct writ_buf *ret);

#endif
