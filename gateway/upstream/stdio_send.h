/* stdio_send.h - what callers ask of a stdio upstream, on its owner's loop. Inside of stdio. */
#ifndef WRIT_GATEWAY_STDIO_SEND_H
#define WRIT_GATEWAY_STDIO_SEND_H

#include "gateway/upstream/stdio_owner.h"

/** A flight whose instance is up begins: it is answered here, or sent to the child. */
void writ_stdio_send_begin(struct writ_flight *flight);

/** What a session's child learns about its client: the params of initialize, as JSON. The flight
 * is that initialize, or belongs to the session that it opened. WRIT_E_ABSENT, WRIT_E_LIMIT,
 * WRIT_E_NOMEM. */
WRIT_RESULT writ_stdio_send_hello(struct writ_flight *flight, struct writ_buf *ret);

/** A child took the place of another one: it is asked again for what the session had asked for, and
 * the session will hear that everything may have changed. */
void writ_stdio_send_again(struct writ_instance *instance);

/** The caller has given up. `tell`: the child is sent notifications/cancelled. */
void writ_stdio_send_cancel(struct writ_flight *flight, bool tell);

#endif
