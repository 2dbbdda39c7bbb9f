/* review_return.h - a caller that comes back with the requestState which it was given for a call
 * that waits for its review (continuation.h), and with what a person said to the question that went
 * with it. None of it goes upstream. */
#ifndef WRIT_GATEWAY_REVIEW_RETURN_H
#define WRIT_GATEWAY_REVIEW_RETURN_H

#include "gateway/request/request.h"

#define WRIT_REVIEW_RETURN_KEY WRIT_LIT("io.writ/review") /* of the question in inputRequests */

/** Reads it from the params of a call. Nothing of ours in them: zero. */
struct writ_returned writ_review_return_read(const struct writ_request *request);

/**
 * Whether what came back is for this very call: then `call->review.ask` names its review.
 *
 * @return NONE, or why it is not: CONTINUATION_INVALID, CONTINUATION_MISMATCH
 */
enum writ_reason writ_review_return_check(
    const struct writ_request *request, struct writ_call *call);

#endif
