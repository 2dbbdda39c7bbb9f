/* review_hold.h - holds a call whose review is open on its request, for a time. After the verdict
 * it is judged again from the start: caller, policy, state of the target. */
#ifndef WRIT_GATEWAY_REVIEW_HOLD_H
#define WRIT_GATEWAY_REVIEW_HOLD_H

#include "gateway/request/request.h"

/** Whether the request waits, or goes on waiting, for the verdict. One whose client has left, or
 * whose gateway stops, does not: no client would get the result. */
bool writ_review_hold_wanted(struct writ_request *request);

#endif
