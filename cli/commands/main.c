/* The program `writ`: its table of commands, that of crews in it, and its name. The frame does the
 * rest: nothing here depends on the command. */
#include "cli/base/program.h"
#include "cli/commands/command.h"

#define WRIT_COMMANDS "cli/commands/command.tbl.h"
#include "cli/base/tables.inc"

static const struct writ_moved moved[] = {
    {"vectors", "writ-vectors"},
    {0},
};

static const struct writ_program program = {
    .name = "writ",
    .summary = "governance gateway for agent tool calls",
    .text =
        "Writ stands between MCP clients and MCP servers. For every tool call it decides, binds,\n"
        "forwards at most once, and keeps evidence. This page lists the commands of its program.",
    .source = WRIT_COMMANDS,
    .commands = commands,
    .options = options,
    .moved = moved,
};

int
main(int argc, char **argv)
{
    return writ_program_main(&program, argc, argv);
}
