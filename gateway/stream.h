/* stream.h - streams that stay open until somebody ends them: GET, and subscriptions/listen. */
#ifndef WRIT_GATEWAY_STREAM_H
#define WRIT_GATEWAY_STREAM_H

#include "gateway/request.h"

/** Notes that the request is such a stream, until writ_stream_forget. */
void writ_stream_remember(struct writ_request *request);
void writ_stream_forget(struct writ_request *request);

/** Ends all of a worker's streams, so that a gateway that stops need not wait for them. */
void writ_stream_end_all(struct writ_worker *worker);

#endif
