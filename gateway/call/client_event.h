/* client_event.h - an event of an upstream on its way into the stream that answers a request
 * (client_stream.h). */
#ifndef WRIT_GATEWAY_CLIENT_EVENT_H
#define WRIT_GATEWAY_CLIENT_EVENT_H

#include "gateway/request/request.h"

/** Passes an event of the upcall on if it is for this client, unless it is the response: then true,
 * `ret` gets its data as it goes on, and what becomes of it is the caller's. */
bool writ_client_event_pass(
    struct writ_request *request, const struct writ_sse_event *event, struct writ_buf *ret);

/** Passes a notice about a task on when that is settled, before all that comes behind it; the
 * stream does not end before. */
void writ_client_event_task(
    struct writ_request *request, const struct writ_sse_event *event, struct writ_view data);

#endif
