/* stream.h - streams that stay open until somebody ends them: GET, and subscriptions/listen. */
#ifndef WRIT_GATEWAY_STREAM_H
#define WRIT_GATEWAY_STREAM_H

#include "gateway/request.h"

/** Takes the request out of its worker's list of such streams, if it is there. */
void writ_stream_forget(struct writ_request *request);

/** Ends all of a worker's streams, so that a gateway that stops need not wait for them. */
void writ_stream_end_all(struct writ_worker *worker);

#endif
