/* stdio_route.h - routes a message to a running server of a stdio upstream. Inside of stdio. */
#ifndef WRIT_GATEWAY_STDIO_ROUTE_H
#define WRIT_GATEWAY_STDIO_ROUTE_H

#include "gateway/upstream/stdio_owner.h"

/** Takes a flight: it goes to its instance, or is refused, or waits until the scout knows the
 * protocol families of the server. */
void writ_stdio_route_take(struct writ_stdio *stdio, struct writ_flight *flight);

/** The scout is done: continues the flights that waited for it. */
void writ_stdio_route_learnt(struct writ_stdio *stdio);

/** The server does not start: ends every flight that waits for it. */
void writ_stdio_route_despair(struct writ_stdio *stdio, enum writ_upcall_end end);

#endif
