/* review_stream.h - reviews as they change, for those who may see them (review_viewer.h):
 *
 *   GET /v1/reviews                   those that live, the oldest first
 *   GET /v1/reviews?after=AT&wait=S   what has changed since; waits up to S seconds for something
 *   GET /v1/reviews/events            the same as server-sent events, for as long as it is read
 *
 * AT, and the id of an event, is a place in the log (struct writ_entry_review_watch): it holds over
 * reconnecting and over a restart. A stream that cannot tell what was in between says so (`reset`)
 * and tells all. Who asks is asked again at each change: a token that is over ends its stream.
 *
 * For the thread of its loop. */
#ifndef WRIT_GATEWAY_REVIEW_STREAM_H
#define WRIT_GATEWAY_REVIEW_STREAM_H

#include "gateway/state/gateway.h"

#define WRIT_REVIEW_STREAM_ROUTES 2
#define WRIT_REVIEW_STREAMS_MAX   64 /* of one loop, requests that wait included */
#define WRIT_REVIEW_STREAMS_EACH  8  /* of one loop and one subject */
#define WRIT_REVIEW_WAIT_MAX_S    60

/** Fills the routes: they stand before those that have a prefix. */
void writ_review_stream_routes(
    struct writ_gateway *gateway, struct writ_route ret[WRIT_REVIEW_STREAM_ROUTES]);

/** Frees what streams of a loop that has ended have left. */
void writ_review_stream_wipe(struct writ_worker *worker);

#endif
