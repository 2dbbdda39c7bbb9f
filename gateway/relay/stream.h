/* stream.h - streams without an end of their own: GET, and subscriptions/listen. */
#ifndef WRIT_GATEWAY_STREAM_H
#define WRIT_GATEWAY_STREAM_H

#include "gateway/request/request.h"

/** Ends all of a worker's streams, so that a gateway that stops need not wait for them. */
void writ_stream_end_all(struct writ_worker *worker);

#endif
