/* review_hold.h - a call whose review is open waits on its request, for a time, and is judged anew
 * from the start when there is a verdict: who asks, policy, state of the target. */
#ifndef WRIT_GATEWAY_REVIEW_HOLD_H
#define WRIT_GATEWAY_REVIEW_HOLD_H

#include "gateway/request/request.h"

/** Whether the request waits (on) for the verdict, instead of being answered that it has to. One
 * whose client has left, or whose gateway stops, does not: nobody would see the result. */
bool writ_review_hold_wanted(struct writ_request *request);

#endif
