/* learn_cases.h - cases for `writ policy test`, from a run of `writ policy learn`. */
#ifndef WRIT_CLI_LEARN_CASES_H
#define WRIT_CLI_LEARN_CASES_H

#include "cli/commands/learn_run.h"

/** Writes cases into `run->cases`: seen calls that have to pass, and made-up calls that have to be
 * refused. They hold arguments of seen calls. */
WRIT_RESULT writ_learn_cases_put(struct writ_learn_run *run, struct writ_err *err);

#endif
