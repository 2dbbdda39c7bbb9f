/* completion.h - completion scripts for shells, from the tables of a program. */
#ifndef WRIT_CLI_COMPLETION_H
#define WRIT_CLI_COMPLETION_H

#include "cli/base/cli.h"

/**
 * The completion script of a program for `shell`: bash, zsh or fish. The same bytes at every run.
 *
 * @return WRIT_OK
 *         WRIT_E_INVALID  another shell; nothing is written
 */
WRIT_RESULT writ_completion(struct writ_buf *ret, const struct writ_program *program,
    struct writ_view shell, struct writ_err *err);

/** The options that every command has; ended by a row of zeros. */
extern const struct writ_option writ_common_options[];

#endif
