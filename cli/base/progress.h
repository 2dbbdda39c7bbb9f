/* progress.h - how far a long command is, with an estimate: one line on a terminal's standard error
 * that is overwritten and at the end taken away.
 *
 *     struct writ_progress progress = writ_progress_begin(cli, "records");
 *     ... writ_progress_step(&progress, done, all) as often as it is convenient ...
 *     writ_progress_end(&progress);
 *
 * Nothing is shown in the first two seconds, with --json, or when standard error is not a terminal.
 */
#ifndef WRIT_CLI_PROGRESS_H
#define WRIT_CLI_PROGRESS_H

#include "cli/base/cli.h"

/** One piece of work. For one thread. */
struct writ_progress {
    const struct writ_clock *clock;
    const char *unit;          /* what is counted: "records"; "bytes" is shown as MiB */
    int64_t begin_us, next_us; /* monotonic: the begin, and when it is shown next */
    bool on, shown;            /* it may be shown; a line is on the terminal */
};

/** `unit` is static. */
struct writ_progress writ_progress_begin(const struct writ_cli *cli, const char *unit);

/** Shows that `done` of `all` units are done, if it is time; `all` is 0 while it is not known.
 * `progress` is a struct writ_progress; always true, for callbacks whose false ends the work. */
bool writ_progress_step(void *progress, uint64_t done, uint64_t all);

/** Takes the line away. Call it before anything else is written. */
void writ_progress_end(struct writ_progress *progress);

#endif
