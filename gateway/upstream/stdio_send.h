/* stdio_send.h - the callers' messages to a stdio upstream, on its owner's loop. Inside of
 * stdio. */
#ifndef WRIT_GATEWAY_STDIO_SEND_H
#define WRIT_GATEWAY_STDIO_SEND_H

#include "gateway/upstream/stdio_owner.h"

/** Begins a flight whose instance is up: answers it here, or sends it to the child. */
void writ_stdio_send_begin(struct writ_flight *flight);

/** The params of initialize for a session's child, as JSON. The flight is that initialize, or
 * belongs to the session that it opened. WRIT_E_ABSENT, WRIT_E_LIMIT, WRIT_E_NOMEM. */
WRIT_RESULT writ_stdio_send_hello(struct writ_flight *flight, struct writ_buf *ret);

/** A child replaced another one: it gets the session's subscriptions and settings again, and the
 * session gets notices that everything may have changed. */
void writ_stdio_send_again(struct writ_instance *instance);

/** The caller has cancelled. `tell`: the child gets notifications/cancelled. */
void writ_stdio_send_cancel(struct writ_flight *flight, bool tell);

#endif
