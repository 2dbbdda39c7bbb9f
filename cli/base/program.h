/* program.h - all of a program's main: the frame that runs one command of its tables. */
#ifndef WRIT_CLI_PROGRAM_H
#define WRIT_CLI_PROGRAM_H

#include "cli/base/cli.h"

/** Runs the command that `argv` names. Returns the exit code of the process. */
int writ_program_main(const struct writ_program *program, int argc, char **argv);

#endif
