/* waiting.h - a line on standard error, every few seconds, while a command waits for something that
 * may take long.
 *
 *     WRIT_AUTO(struct writ_waiting, writ_waiting_end) waiting = {.over = -1};
 *     writ_waiting_begin(cli, "still at it", &waiting); */
#ifndef WRIT_CLI_WAITING_H
#define WRIT_CLI_WAITING_H

#include "cli/base/cli.h"

#include <pthread.h>

/** One wait, with a thread of its own. */
struct writ_waiting {
    const char *line;
    int over; /* an event; -1: nothing is said */
    pthread_t thread;
};

/** Begins. With --json, and when there is no thread for it, nothing is said. `line` is borrowed
 * until the end. */
void writ_waiting_begin(const struct writ_cli *cli, const char *line, struct writ_waiting *ret);
void writ_waiting_end(struct writ_waiting *waiting);

#endif
