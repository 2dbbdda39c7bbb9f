/* learn_report.h - what `writ policy learn` prints. */
#ifndef WRIT_CLI_LEARN_REPORT_H
#define WRIT_CLI_LEARN_REPORT_H

#include "cli/commands/learn_run.h"

/** Appends the report, as text with the difference of each file or as JSON. */
void writ_learn_report_put(const struct writ_learn_run *run, struct writ_buf *ret);

#endif
