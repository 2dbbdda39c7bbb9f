/* stdio_handshake.h - the handshake with the child of an instance: its protocol, and initialize.
 * Inside of stdio, on the owner loop. */
#ifndef WRIT_GATEWAY_STDIO_HANDSHAKE_H
#define WRIT_GATEWAY_STDIO_HANDSHAKE_H

#include "gateway/upstream/stdio_owner.h"

/** Begins the handshake with a child that has just started, or finds its protocol. A child that
 * does not answer in time is restarted. */
void writ_stdio_handshake_begin(struct writ_instance *instance);

/** The answer to server/discover, at any time. */
void writ_stdio_handshake_discovered(
    struct writ_instance *instance, const struct writ_json *message);

/** The answer to initialize, of an instance that is WRIT_INSTANCE_INITIALIZING. */
void writ_stdio_handshake_initialized(
    struct writ_instance *instance, const struct writ_json *message);

#endif
