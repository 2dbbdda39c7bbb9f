/* http_call.h - the states of a call to an HTTP upstream: taken, waiting, ended, taken again. What
 * it does while it is BUSY is http_conn.h. Invariants are in http_parts.h. */
#ifndef WRIT_GATEWAY_HTTP_CALL_H
#define WRIT_GATEWAY_HTTP_CALL_H

#include "gateway/http/http_parts.h"

/** A call of the client's, spare or new. NULL: no memory. */
struct writ_http_call *writ_http_call_take(struct writ_http_client *client);

/** Makes a call that was taken into this request, whose head is written here. As
 * writ_http_client_send; on failure recycle the call. */
WRIT_RESULT writ_http_call_prepare(struct writ_http_call *call,
    const struct writ_http_request *request, const struct writ_http_handler *handler, void *ctx,
    struct writ_err *err);

/** Lets a call that was prepared wait for a connection; the caller dispatches. */
void writ_http_call_wait(struct writ_http_call *call);

/** Lets a call whose connection was found dead, and of which nothing was sent, wait for another
 * one, before all that wait already. */
void writ_http_call_requeue(struct writ_http_call *call);

/** Ends a call that waits or is BUSY, for this reason; on_end comes with the finish task. A call
 * that has ended keeps the reason it has. `detail` is static, or lives as long as the turn. */
void writ_http_call_end(
    struct writ_http_call *call, enum writ_http_reason reason, const char *detail);

/** Keeps a call for another request, or frees it; what was secret in it is wiped. */
void writ_http_call_recycle(struct writ_http_call *call);

/** Frees a call that is SPARE. */
void writ_http_call_free(struct writ_http_call *call);

#endif
