/* The process around the `writ` program. */
#include "cli/cli.h"

#include <fcntl.h>
#include <unistd.h>

/* Where a standard stream is closed, the next file that is opened would take its number, and get
 * what is written for people: a ledger, or a connection. */
static void
hold_standard_streams(void)
{
    int fd;

    do {
        fd = open("/dev/null", O_RDWR);
    } while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0) {
        (void)close(fd);
    }
}

int
main(int argc, char **argv)
{
    hold_standard_streams();
    return (int)writ_cli_run(argc, (const char *const *)argv);
}
