/* stdio_ask.h - what callers ask of a stdio upstream, on its owner's loop. Inside of stdio. */
#ifndef WRIT_GATEWAY_STDIO_ASK_H
#define WRIT_GATEWAY_STDIO_ASK_H

#include "gateway/stdio_owner.h"

/** A flight arrives: it is answered here, sent to the child, or waits until there is one. */
void writ_stdio_ask_take(struct writ_stdio *stdio, struct writ_flight *flight);

/** The child is up: what waited begins, in the order in which it came. */
void writ_stdio_ask_waiting(struct writ_stdio *stdio);

/** The caller has given up. `tell`: the child is sent notifications/cancelled. */
void writ_stdio_ask_cancel(struct writ_stdio *stdio, struct writ_flight *flight, bool tell);

#endif
