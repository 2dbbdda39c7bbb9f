/* judge.h - functions of the judging steps for other steps. */
#ifndef WRIT_GATEWAY_JUDGE_H
#define WRIT_GATEWAY_JUDGE_H

#include "gateway/request/request.h"

/** Applies policy to a call whose upstream or framework, tool and arguments are set; notes shadow
 * mode. */
void writ_judge_decide(struct writ_request *request, struct writ_call *call);

/** Whether an administrator has stopped the call: as it is now, or as it was decided (NULL: not
 * decided yet). */
bool writ_judge_is_stopped(const struct writ_request *request, const struct writ_call *call,
    const struct writ_decision *decided);

/** The time at which an authorization is bound: the clock's, or issued_at, which may be ahead. */
int64_t writ_judge_now(
    const struct writ_request *request, const struct writ_decision *authorization);

#define WRIT_JUDGE_REQUEST_ID_MAX 2048 /* bytes of a recorded request_id */

/** Writes the JSON-RPC id of a request as a decision records it (request_id). WRIT_E_LIMIT,
 * WRIT_E_NOMEM. */
WRIT_RESULT writ_judge_put_request_id(struct writ_buf *ret, const struct writ_json *id);

#endif
