/* shutdown.h - ends what clients have under way, before the gateway closes. */
#ifndef WRIT_GATEWAY_SHUTDOWN_H
#define WRIT_GATEWAY_SHUTDOWN_H

#include "gateway/state/gateway.h"

struct writ_shutdown {
    struct writ_gateway *gateway;
    const struct writ_clock *clock;
    bool sockets_passed; /* a service manager holds them, and the next gateway serves on them */
};

/** On the main thread, while the loops run. Blocks until no client waits for anything, and all
 * upstreams have stopped: at most 32 s. */
void writ_shutdown_run(struct writ_shutdown *shutdown);

#endif
