/* review_api.h - one review over HTTP, on the admin listener: for voters, for callers that
 * withdraw, and for administrators (their rights: review_viewer.h; lists and streams:
 * review_stream.h).
 *
 *   GET  /v1/reviews/ID            terms, votes, the full arguments while it is open, its records;
 *                                  for a voter the prompt for a model
 *   POST /v1/reviews/ID/vote       as in review_ballot.h
 *   POST /v1/reviews/ID/withdraw   by the agent that asked
 *   POST /v1/reviews/ID/cancel     by an administrator of the review */
#ifndef WRIT_GATEWAY_REVIEW_API_H
#define WRIT_GATEWAY_REVIEW_API_H

#include "gateway/admin/review_ballot.h"
#include "gateway/admin/review_stream.h"

#define WRIT_REVIEW_API_ROUTES   (WRIT_REVIEW_STREAM_ROUTES + 1)
#define WRIT_REVIEW_API_BODY_MAX WRIT_REVIEW_BALLOT_MAX

/** Fills the routes of a listener that serves the reviews of `gateway`. */
void writ_review_api_routes(
    struct writ_gateway *gateway, struct writ_route ret[WRIT_REVIEW_API_ROUTES]);

#endif
