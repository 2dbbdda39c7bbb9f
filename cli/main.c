/* The process around the `writ` program. */
#include "cli/cli.h"

#include <fcntl.h>
#include <unistd.h>

/* Where a standard stream is closed, the next file that is opened would take its number, and get
 * what is written for people: a ledger, or a connection. Writing stays refused, and is told. */
static bool
hold_standard_streams(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDONLY) != fd) {
            return false;
        }
    }
    return true;
}

int
main(int argc, char **argv)
{
    if (!hold_standard_streams()) { /* and nobody may be there to be told */
        return WRIT_EXIT_ENVIRONMENT;
    }
    return (int)writ_cli_run(argc, (const char *const *)argv);
}
