/* meet.h - LATE: the steps of a request whose upstream missed the initialize of its session. */
#ifndef WRIT_GATEWAY_MEET_H
#define WRIT_GATEWAY_MEET_H

#include "gateway/request/request.h"

/** Whether the upstream is not part of the request's session yet: nothing may be sent to it. */
bool writ_meet_is_late(const struct writ_request *request, struct writ_upstream *upstream);

/** Whether the request must wait for the upstream with writ_meet_start: no join was tried yet. */
bool writ_meet_is_due(const struct writ_request *request, struct writ_upstream *upstream);

/** Lets the upstream join, and continues at `next`, whether the join succeeds or not: see
 * writ_meet_is_late. */
enum writ_step writ_meet_start(
    struct writ_request *request, struct writ_upstream *upstream, enum writ_step next);

/** Why the join failed: a reason that says that nothing was sent. */
enum writ_reason writ_meet_fault(const struct writ_request *request);

/** Checks the answer to a message that went to an upstream of the request's session: 404 means that
 * the upstream no longer knows its session (2025-11-25, basic/transports), unless it answers the
 * message itself. Then, on an endpoint of several, the upstream is late from now on, and the result
 * is true. */
bool writ_meet_is_lost(const struct writ_request *request, struct writ_upstream *upstream,
    const struct writ_upcall_request *sent, const struct writ_upcall_answer *answer);

/** Whether the client must not get the status of an upstream's answer: 404 in a session of several
 * upstreams. The client would take it for the end of the whole session, which one upstream cannot
 * decide. */
bool writ_meet_hides(const struct writ_request *request, unsigned status);

/** Refuses a request that is not governed, for an upstream that could not join. */
enum writ_step writ_meet_refuse(struct writ_request *request);

#endif
