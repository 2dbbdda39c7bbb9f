/* command.h - the functions of the commands of `writ crew`: one for each row of command.tbl.h. */
#ifndef WRIT_CLI_CREW_COMMAND_H
#define WRIT_CLI_CREW_COMMAND_H

#include "cli/base/cli.h"

#define WRIT_COMMANDS "cli/crew/command.tbl.h"
#include "cli/base/declare.inc"

#endif
