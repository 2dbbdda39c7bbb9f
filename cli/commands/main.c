/* The program `writ`: its table of commands, that of crews in it, and its name. The frame does the
 * rest: nothing here depends on the command. The program is also the process of a voting engine. */
#include "cli/base/program.h"
#include "cli/commands/command.h"
#include "gateway/engines/engine_child.h"

#define WRIT_COMMANDS "cli/commands/command.tbl.h"
#include "cli/base/tables.inc"

static const struct writ_moved moved[] = {
    {"vectors", "writ-vectors"},
    {0},
};

/* A wrap that asks its user, or scans, serves no client. */
static bool
serves(const struct writ_cli *cli)
{
    static const char *const always[] = {
        "serve", "guard_http", "guard_check", "guard_stdio", "ledger_watch"};
    struct writ_view id = writ_view_str(cli->command->id);

    for (size_t i = 0; i < sizeof always / sizeof *always; i++) {
        if (writ_view_is(id, always[i])) {
            return true;
        }
    }
    return writ_view_is(id, "wrap") && !writ_cli_has(cli, "scan") && !writ_cli_has(cli, "agree");
}

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
    .serves = serves,
};

int
main(int argc, char **argv)
{
    unsigned seconds = 0;

    if (writ_engine_child_asked(argc, argv, &seconds)) {
        writ_engine_child_run(seconds);
    }
    return writ_program_main(&program, argc, argv);
}
