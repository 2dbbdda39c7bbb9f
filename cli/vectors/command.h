/* command.h - the functions of the commands of `writ-vectors`: one for each row of command.tbl.h.
 */
#ifndef WRIT_CLI_VECTORS_COMMAND_H
#define WRIT_CLI_VECTORS_COMMAND_H

#include "cli/base/cli.h"

#define WRIT_COMMANDS "cli/vectors/command.tbl.h"
#include "cli/base/declare.inc"

#endif
