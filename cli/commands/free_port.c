/* Which ports are free. A port counts as free when a listener's socket can be bound to it; the
 * socket is closed at once, and nothing ever listens on it. */
#include "cli/commands/free_port.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <unistd.h>

#define STEP  10U
#define PAIRS 10U

static bool
is_free(unsigned port)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
        .sin_port = htons((uint16_t)port),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
    bool bound;

    if (fd < 0) {
        return false;
    }
    bound = setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
            bind(fd, (const struct sockaddr *)&address, sizeof address) == 0;
    (void)close(fd);
    return bound;
}

uint16_t
writ_free_port_pair(uint16_t first)
{
    for (unsigned port = first; port < first + PAIRS * STEP && port < UINT16_MAX; port += STEP) {
        if (is_free(port) && is_free(port + 1)) {
            return (uint16_t)port;
        }
    }
    return first;
}
