/* http_call.h - the states of a call to an HTTP upstream: taken, waiting, ended, taken again.
 * http_conn.h handles it while it is BUSY. Invariants are in http_parts.h. */
#ifndef WRIT_GATEWAY_HTTP_CALL_H
#define WRIT_GATEWAY_HTTP_CALL_H

#include "gateway/http/http_parts.h"

/** A call of the client's, spare or new. NULL: no memory. */
struct writ_http_call *writ_http_call_take(struct writ_http_client *client);

/** Turns a taken call into this request, and writes its head. As writ_http_client_send; on failure
 * recycle the call. */
WRIT_RESULT writ_http_call_prepare(struct writ_http_call *call,
    const struct writ_http_request *request, const struct writ_http_handler *handler, void *ctx,
    struct writ_err *err);

/** Lets a prepared call wait for a connection; the caller dispatches. */
void writ_http_call_wait(struct writ_http_call *call);

/** Lets a call wait for another connection, before all waiting ones, when its connection was found
 * dead and nothing of it was sent. */
void writ_http_call_requeue(struct writ_http_call *call);

/** Ends a WAITING or BUSY call, for this reason; the finish task calls on_end. A call that has
 * ended keeps its reason. `detail` is static, or lives as long as the turn. */
void writ_http_call_end(
    struct writ_http_call *call, enum writ_http_reason reason, const char *detail);

/** Keeps a call for another request, or frees it; wipes its secrets. */
void writ_http_call_recycle(struct writ_http_call *call);

/** Frees a call that is SPARE. */
void writ_http_call_free(struct writ_http_call *call);

#endif
