/* spawn.h - starts one process without a shell, with nothing of ours in it.
 *
 * It gets its arguments, a small environment, a directory, three pipes and no other descriptor;
 * default signals; a session and process group of its own (its id is the process id); and SIGKILL
 * when the thread that started it ends (security.md 1.9). */
#ifndef WRIT_GATEWAY_SPAWN_H
#define WRIT_GATEWAY_SPAWN_H

#include "base/result.h"

#include <sys/types.h>

#define WRIT_SPAWN_ENVIRONMENT_MAX 256 /* variables in all */

struct writ_spawn_plan;

/** Copies what is to be started. `environment` (NULL: none) holds "NAME=value" and wins over what
 * is inherited: PATH, HOME, USER, LOGNAME, SHELL, TERM, TZ, TMPDIR, LANG and LC_*; nothing else is.
 * WRIT_E_INVALID, WRIT_E_LIMIT (WRIT_SPAWN_ENVIRONMENT_MAX), WRIT_E_NOMEM. */
WRIT_RESULT writ_spawn_plan_new(const char *const *argv, const char *const *environment,
    const char *directory, struct writ_spawn_plan **ret, struct writ_err *err);
void writ_spawn_plan_free(struct writ_spawn_plan *plan);

/** A process that runs, and our ends of its pipes, all non-blocking and closed on exec. */
struct writ_spawned {
    pid_t pid;
    int pidfd;        /* readable when it has ended */
    int in, out, err; /* its standard streams */
    int status;       /* end of file: the program runs; an int: errno, it could not be */
};

/** Starts it. `ret_errno` is set when this fails: no memory, descriptors or processes (WRIT_E_IO),
 * no such program in PATH (WRIT_E_ABSENT). Does not wait for the program to begin. */
WRIT_RESULT writ_spawn_start(
    const struct writ_spawn_plan *plan, struct writ_spawned *ret, int *ret_errno);

#endif
