/* review_return.h - reads the requestState of a call that waits for its review (continuation.h),
 * when its caller comes back with it, and the person's answer to the question with it. None of it
 * goes upstream. */
#ifndef WRIT_GATEWAY_REVIEW_RETURN_H
#define WRIT_GATEWAY_REVIEW_RETURN_H

#include "gateway/request/request.h"

#define WRIT_REVIEW_RETURN_KEY WRIT_LIT("io.writ/review") /* of the question in inputRequests */

/** Reads them from the params of a call. Zero when the params have none of them. */
struct writ_returned writ_review_return_read(const struct writ_request *request);

/**
 * Whether they are for exactly this call: then `call->review.ask` names its review.
 *
 * @return NONE, CONTINUATION_INVALID or CONTINUATION_MISMATCH
 */
enum writ_reason writ_review_return_check(
    const struct writ_request *request, struct writ_call *call);

#endif
