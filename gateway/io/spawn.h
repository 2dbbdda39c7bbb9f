/* spawn.h - starts one process without a shell, which inherits nothing of the gateway.
 *
 * It gets its arguments, a small environment, a directory, three pipes and no other descriptor;
 * default signals; a session and process group of its own (its id is the process id); and SIGKILL
 * when the thread that started it ends. */
#ifndef WRIT_GATEWAY_SPAWN_H
#define WRIT_GATEWAY_SPAWN_H

#include "base/bytes.h"
#include "base/result.h"

#include <sys/types.h>

#define WRIT_SPAWN_ENVIRONMENT_MAX 256 /* variables in all */

struct writ_spawn_plan;

/** Copies the program and its options. `environment` (NULL: none) holds "NAME=value" and overrides
 * inherited variables: PATH, HOME, USER, LOGNAME, SHELL, TERM, TZ, TMPDIR, LANG and LC_*; no others
 * are inherited. WRIT_E_INVALID, WRIT_E_LIMIT (WRIT_SPAWN_ENVIRONMENT_MAX), WRIT_E_NOMEM. */
WRIT_RESULT writ_spawn_plan_new(const char *const *argv, const char *const *environment,
    const char *directory, struct writ_spawn_plan **ret, struct writ_err *err);
void writ_spawn_plan_free(struct writ_spawn_plan *plan);

/** Whether every such program inherits the variable, when it is set. */
bool writ_spawn_inherits(struct writ_view name);

/**
 * Finds the program of a name as execvp would, but never in the current directory through an empty
 * or relative element of PATH. A name with a slash is the path itself.
 *
 * @param path  as in PATH; empty: the places that are searched without PATH
 * @param ret   the path, NUL-terminated and counted with it
 *
 * @return whether there is one, and it fits
 */
bool writ_spawn_find(struct writ_view name, struct writ_view path, struct writ_buf *ret);

/** A running process, and our ends of its pipes, all non-blocking and closed on exec. */
struct writ_spawned {
    pid_t pid;
    int pidfd;        /* readable when it has ended */
    int in, out, err; /* its standard streams */
    int status;       /* end of file: the program runs; an int: the errno of a failed exec */
};

/** Appends the path that a start gives to exec, NUL-terminated and counted with it: the first
 * argument as it is, or the place in PATH where it is now. False when there is none, or it does not
 * fit. */
bool writ_spawn_program(const struct writ_spawn_plan *plan, struct writ_buf *ret);

/** The first argument, and the folder in which the process runs: NULL, ours. */
const char *writ_spawn_name(const struct writ_spawn_plan *plan);
const char *writ_spawn_directory(const struct writ_spawn_plan *plan);

/**
 * Starts it. Does not wait for the program to begin.
 *
 * @param program    an open file that is executed in place of the path, so that no other file can
 *                   take its place: not of a script, whose interpreter opens it again. Taken. -1:
 *                   the path
 * @param ret_errno  set on failure: no memory, descriptors or processes (WRIT_E_IO), no such
 *                   program in PATH (WRIT_E_ABSENT)
 */
WRIT_RESULT writ_spawn_start(
    const struct writ_spawn_plan *plan, int program, struct writ_spawned *ret, int *ret_errno);

#endif
