/* The process around the `writ` program. */
#include "cli/cli.h"

int
main(int argc, char **argv)
{
    return (int)writ_cli_run(argc, (const char *const *)argv);
}
