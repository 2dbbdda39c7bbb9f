/* meet.h - LATE: what a request does whose upstream missed the initialize of its session. */
#ifndef WRIT_GATEWAY_MEET_H
#define WRIT_GATEWAY_MEET_H

#include "gateway/request/request.h"

/** Whether the upstream is not part of the request's session yet: nothing may be sent to it. */
bool writ_meet_is_late(const struct writ_request *request, struct writ_upstream *upstream);

/** Whether the request has to wait for it with writ_meet_start: it was not tried yet. */
bool writ_meet_is_due(const struct writ_request *request, struct writ_upstream *upstream);

/** Lets it join, and goes on at `next` whether it has or not: see writ_meet_is_late. */
enum writ_step writ_meet_start(
    struct writ_request *request, struct writ_upstream *upstream, enum writ_step next);

/** Why it could not join: a reason that says that nothing was sent. */
enum writ_reason writ_meet_fault(const struct writ_request *request);

/** Looks at the answer to a message that went to an upstream of the request's session: 404 says
 * that the upstream does not know its session any more (2025-11-25, basic/transports), unless it
 * answers the message itself. Then the upstream is late from now on, on an endpoint of several;
 * true. */
bool writ_meet_is_lost(const struct writ_request *request, struct writ_upstream *upstream,
    const struct writ_upcall_request *sent, const struct writ_upcall_answer *answer);

/** Whether a status of an upstream's answer is not for the client: 404 in a session of several
 * upstreams. The client would take it for the end of the whole session, of which one upstream
 * cannot tell. */
bool writ_meet_hides(const struct writ_request *request, unsigned status);

/** Refuses a request that is not governed, for an upstream that could not join. */
enum writ_step writ_meet_refuse(struct writ_request *request);

#endif
