/* The program `writ-vectors`: its table of commands, and its name. The frame does the rest: nothing
 * here depends on the command. */
#include "cli/base/program.h"
#include "cli/vectors/command.h"

#define WRIT_COMMANDS "cli/vectors/command.tbl.h"
#include "cli/base/tables.inc"

static const struct writ_moved moved[] = {{0}};

static const struct writ_program program = {
    .name = "writ-vectors",
    .summary = "runs sets of test vectors against Writ",
    .text = "Computes the cases of test vectors with the libraries that writ(1) is made of, and "
            "compares\n"
            "what comes out with what the cases expect.",
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
