/* review_api.h - one review over HTTP, on the admin listener: for those who vote, for callers who
 * give up, for administrators (who is who: review_viewer.h; lists and streams: review_stream.h).
 *
 *   GET  /v1/reviews/ID            terms, votes, the full arguments while it lives, its records
 *   POST /v1/reviews/ID/vote       {"review_digest", "vote", "feedback"?, "confidence"?}
 *   POST /v1/reviews/ID/withdraw   by the agent that asked
 *   POST /v1/reviews/ID/cancel     by an administrator of the review */
#ifndef WRIT_GATEWAY_REVIEW_API_H
#define WRIT_GATEWAY_REVIEW_API_H

#include "gateway/review_stream.h"

#define WRIT_REVIEW_API_ROUTES   (WRIT_REVIEW_STREAM_ROUTES + 1)
#define WRIT_REVIEW_API_BODY_MAX 32768 /* bytes of a vote */

/** Fills the routes of a listener that serves the reviews of `gateway`. */
void writ_review_api_routes(
    struct writ_gateway *gateway, struct writ_route ret[WRIT_REVIEW_API_ROUTES]);

#endif
