/* review_stream.h - changes of reviews, for callers that may see them (review_viewer.h):
 *
 *   GET /v1/reviews                       a page of the open ones, the oldest first
 *   GET /v1/reviews?after=AT&from=NEXT    the page after it
 *   GET /v1/reviews?after=AT&wait=S       the changes since; waits up to S seconds for one
 *   GET /v1/reviews/events                the same as server-sent events, for as long as it is read
 *
 * AT, and the id of an event, is a place in the log (struct writ_entry_review_watch): it stays
 * valid after a reconnect and after a restart. A stream that does not know the changes in between
 * says so (`reset`) and sends all reviews. The caller is authenticated again at each change: an
 * expired token ends its stream.
 *
 * For the thread of its loop. */
#ifndef WRIT_GATEWAY_REVIEW_STREAM_H
#define WRIT_GATEWAY_REVIEW_STREAM_H

#include "gateway/state/gateway.h"

#define WRIT_REVIEW_STREAM_ROUTES 2
#define WRIT_REVIEW_STREAMS_MAX   64  /* of one loop, requests that wait included */
#define WRIT_REVIEW_STREAMS_EACH  8   /* of one loop and one subject */
#define WRIT_REVIEW_STREAM_PAGE   100 /* reviews of one answer */
#define WRIT_REVIEW_WAIT_MAX_S    60

/** Fills the routes; they must come before those that have a prefix. */
void writ_review_stream_routes(
    struct writ_gateway *gateway, struct writ_route ret[WRIT_REVIEW_STREAM_ROUTES]);

/** Frees the streams of a loop that has ended. */
void writ_review_stream_wipe(struct writ_worker *worker);

#endif
