/* help.h - --help and the manual page, from the tables. */
#ifndef WRIT_CLI_HELP_H
#define WRIT_CLI_HELP_H

#include "cli/base/cli.h"

/** All commands, one line each, or those that begin with `word` when it is not NULL. */
void writ_help_overview(struct writ_buf *ret, const struct writ_program *program, const char *word);

/** One command: usage, text, options, exit codes. */
void writ_help_command(
    struct writ_buf *ret, const struct writ_program *program, const struct writ_command *command);

/** The whole manual page in the format of man(7). The same bytes at every run. */
void writ_help_manual(struct writ_buf *ret, const struct writ_program *program);

/** The manual page of one command, in the same format. */
void writ_help_page(
    struct writ_buf *ret, const struct writ_program *program, const struct writ_command *command);

/** Answers with a help text, as it is or as {"help":"..."}. */
void writ_help_show(bool json, const struct writ_buf *text);

#endif
