/* reviewer_crew.h - a reviewer that is a crew (review_request.h): its shape, agents, votes and
 * fixers run for each review, and its output is the vote. Its agents are processes
 * (gateway/crews/workers.h).
 *
 * The log of the run is sealed and goes to the ledger with the vote, or there is no vote. A run
 * that its gateway does not end leaves nothing behind: it is done again, and of several gateways
 * that run it the first vote counts. */
#ifndef WRIT_GATEWAY_REVIEWER_CREW_H
#define WRIT_GATEWAY_REVIEWER_CREW_H

#include "gateway/reviewers/review_request.h"

#define WRIT_REVIEWER_CREW_RUNS    4                 /* of one reviewer at once */
#define WRIT_REVIEWER_CREW_LOG_MAX ((size_t)4 << 20) /* bytes of the log of a run */
#define WRIT_REVIEWER_CREW_POOL    10000             /* insights of its pool */

struct writ_reviewer_crew;

/** Runs the crew. `json`: an object that describes the review, in the arena of the try. */
void writ_reviewer_crew_ask(struct writ_review_request *request, struct writ_view json);

/** Its vote is no longer needed: ends the run, and then the request, which is over. */
void writ_reviewer_crew_recall(struct writ_review_request *request);

/** Kills its processes, after the loops have ended. NULL is permitted. */
void writ_reviewer_crew_free(struct writ_reviewer_crew *crew);

#endif
