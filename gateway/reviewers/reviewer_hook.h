/* reviewer_hook.h - a reviewer that is reached by a webhook (review_request.h). */
#ifndef WRIT_GATEWAY_REVIEWER_HOOK_H
#define WRIT_GATEWAY_REVIEWER_HOOK_H

#include "gateway/reviewers/review_request.h"

/** Reads its secret and opens its client. WRIT_E_ABSENT, WRIT_E_INVALID, WRIT_E_LIMIT, WRIT_E_IO,
 * WRIT_E_NOMEM, WRIT_E_CRYPTO. */
WRIT_RESULT writ_reviewer_hook_open(struct writ_reviewer *reviewer, struct writ_err *err);

/** Posts the review. `json`: an object that describes it, in the arena of the try. */
void writ_reviewer_hook_ask(struct writ_review_request *request, struct writ_view json);

#endif
