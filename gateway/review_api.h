/* review_api.h - reviews over HTTP, on the admin listener: for those who vote, for callers who give
 * up, for administrators.
 *
 *   GET  /v1/reviews               those that live and that the caller may see, the oldest first
 *   GET  /v1/reviews/ID            one: terms, votes, the full arguments while it lives, its
 * records POST /v1/reviews/ID/vote       {"review_digest", "vote", "feedback"?, "confidence"?} POST
 * /v1/reviews/ID/withdraw   by the agent that asked POST /v1/reviews/ID/cancel     by an
 * administrator of the review
 *
 * Everybody shows a bearer token of an entry of `agents`; who it is, is its subject. A review is
 * seen by its voters, its administrators and the agent that asked, of its tenant (or of none);
 * nobody else is told that it exists. Faults are told as RFC 9457 problems with the reason's name.
 * Texts of voters and of callers are given as JSON strings, as they are: whoever shows them
 * escapes them. */
#ifndef WRIT_GATEWAY_REVIEW_API_H
#define WRIT_GATEWAY_REVIEW_API_H

#include "gateway/gateway.h"

#define WRIT_REVIEW_API_ROUTES   2
#define WRIT_REVIEW_API_BODY_MAX 32768 /* bytes of a vote */

/** Fills the routes of a listener that serves the reviews of `gateway`. */
void writ_review_api_routes(
    struct writ_gateway *gateway, struct writ_route ret[WRIT_REVIEW_API_ROUTES]);

#endif
