/* problem.h - the body of a refusal: a problem (RFC 9457), or an error of JSON-RPC. Pure. */
#ifndef WRIT_GATEWAY_PROBLEM_H
#define WRIT_GATEWAY_PROBLEM_H

#include "evidence/record/reason.h"
#include "gateway/http/framing.h"
#include "gateway/listener/listener_types.h"

/** Appends a problem (RFC 9457): the reason's sentence and name, a detail (NULL: none), and a hint
 * (NULL: that of the reason; for MALFORMED_REQUEST one that does not speak of JSON-RPC). */
void writ_problem_put(struct writ_buf *ret, unsigned status, enum writ_reason reason,
    const char *detail, const char *hint);

/** Appends the body of a refusal, in the form of the route (NULL: none is known yet), and returns
 * its media type. */
struct writ_view writ_problem_refusal(
    const struct writ_route *route, const struct writ_framing_fault *fault, struct writ_buf *ret);

#endif
