/* command.h - the functions of the commands of `writ`: one for each row of command.tbl.h. */
#ifndef WRIT_CLI_COMMANDS_COMMAND_H
#define WRIT_CLI_COMMANDS_COMMAND_H

#include "cli/base/cli.h"

#define WRIT_COMMANDS "cli/commands/command.tbl.h"
#include "cli/base/declare.inc"

#endif
