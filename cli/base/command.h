/* command.h - the functions of the commands that each program has: one for each row of
 * command.tbl.h. */
#ifndef WRIT_CLI_BASE_COMMAND_H
#define WRIT_CLI_BASE_COMMAND_H

#include "cli/base/cli.h"

#define WRIT_COMMANDS "cli/base/command.tbl.h"
#include "cli/base/declare.inc"

#endif
