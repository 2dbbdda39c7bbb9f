/* guard_http_look.h - the probe of a guard to a tool server over HTTP. Part of guard.h.
 *
 * It goes where the call goes, in the call's session and revision and with its Authorization, and
 * with no other data of the client. Its answer is JSON, or one event of a stream. */
#ifndef WRIT_GATEWAY_GUARD_HTTP_LOOK_H
#define WRIT_GATEWAY_GUARD_HTTP_LOOK_H

#include "gateway/guard/guard.h"
#include "gateway/http/http_client.h"

struct writ_guard_http_look;

/**
 * Sends the probe; writ_guard_state_told is called once, later.
 *
 * @param x       the exchange of the call, whose arena has all of it
 * @param target  path and query of the call
 * @param ret     valid until writ_guard_state_told; written only on success
 *
 * @return WRIT_OK, WRIT_E_INVALID, WRIT_E_LIMIT, WRIT_E_BUSY, WRIT_E_NOMEM
 */
WRIT_RESULT writ_guard_http_look_start(struct writ_http_client *client, struct writ_exchange *x,
    struct writ_view target, struct writ_guard_ask *ask, struct writ_view question,
    struct writ_guard_http_look **ret);

/** Gives up: writ_guard_state_told is called soon, and not from inside. */
void writ_guard_http_look_cancel(struct writ_guard_http_look *look);

#endif
