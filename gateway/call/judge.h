/* judge.h - what the steps of judging share with other steps. */
#ifndef WRIT_GATEWAY_JUDGE_H
#define WRIT_GATEWAY_JUDGE_H

#include "gateway/request/request.h"

/** Asks policy about a call whose upstream or framework, tool and arguments are set; shadow mode is
 * noted. */
void writ_judge_decide(struct writ_request *request, struct writ_call *call);

/** Whether an administrator has stopped the call: as it is now, or as what it was decided as (NULL:
 * it is not decided yet). */
bool writ_judge_is_stopped(const struct writ_request *request, const struct writ_call *call,
    const struct writ_decision *decided);

/** The time at which an authorization is bound: the clock's, or issued_at, which may be ahead. */
int64_t writ_judge_now(
    const struct writ_request *request, const struct writ_decision *authorization);

#endif
