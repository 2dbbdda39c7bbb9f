/* stdio_route.h - which running server of a stdio upstream a message goes to. Inside of stdio. */
#ifndef WRIT_GATEWAY_STDIO_ROUTE_H
#define WRIT_GATEWAY_STDIO_ROUTE_H

#include "gateway/upstream/stdio_owner.h"

/** A flight arrives: it goes to its instance, or is refused, or waits until the scout knows which
 * protocol families the server speaks. */
void writ_stdio_route_take(struct writ_stdio *stdio, struct writ_flight *flight);

/** The scout knows: what waited for it goes on. */
void writ_stdio_route_learnt(struct writ_stdio *stdio);

/** The server does not start: ends every flight that waits for it. */
void writ_stdio_route_despair(struct writ_stdio *stdio);

#endif
