/* client_event.h - an event of an upstream on its way into the stream that answers a request
 * (client_stream.h). */
#ifndef WRIT_GATEWAY_CLIENT_EVENT_H
#define WRIT_GATEWAY_CLIENT_EVENT_H

#include "gateway/request/request.h"

/** Passes an event of the upcall on if it is for this client. For the response it returns true
 * instead, `ret` gets its data, and the caller decides about it. */
bool writ_client_event_pass(
    struct writ_request *request, const struct writ_sse_event *event, struct writ_buf *ret);

/** The same for a governed call, whose long response is kept (writ_inspect_answer). */
bool writ_client_event_pass_of_call(
    struct writ_request *request, const struct writ_sse_event *event, struct writ_buf *ret);

/** Passes a notice about a task on when it is settled, before all later events; the stream does not
 * end before that. */
void writ_client_event_task(
    struct writ_request *request, const struct writ_sse_event *event, struct writ_view data);

#endif
