/* reviewer_worker.h - a reviewer that is a process (review_request.h). */
#ifndef WRIT_GATEWAY_REVIEWER_WORKER_H
#define WRIT_GATEWAY_REVIEWER_WORKER_H

#include "gateway/reviewers/review_request.h"

/** Starts it with the loop. As writ_child_open. */
WRIT_RESULT writ_reviewer_worker_open(struct writ_reviewer *reviewer, struct writ_err *err);
bool writ_reviewer_worker_is_up(const struct writ_reviewer *reviewer);

/** Sends it the review. `json`: an object that describes it, in the arena of the try. */
void writ_reviewer_worker_ask(struct writ_review_request *request, struct writ_view json);
/** Notifies it that its answer is no longer needed. */
void writ_reviewer_worker_recall(struct writ_review_request *request);

#endif
