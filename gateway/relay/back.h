/* back.h - tells a session's client that an upstream is back that its lists were made without.
 *
 * As long as the client has a stream of its session open (stream_merge.h), every upstream that a
 * list was answered without is tried now and then: it joins the session, if it has not (late.h),
 * and is asked for a list of that kind. When it answers, the client gets
 * notifications/.../list_changed, once. The breaker (breaker.h) is heeded. Children with a session
 * of their own say so themselves (stdio_send.c). Used from the loop of the stream's request. */
#ifndef WRIT_GATEWAY_BACK_H
#define WRIT_GATEWAY_BACK_H

struct writ_back;
struct writ_lanes;

/** Begins to look, until writ_back_stop. In the arena of the lanes' request. NULL: no memory. */
struct writ_back *writ_back_start(struct writ_lanes *lanes);

/** It sends no further notices. NULL is fine, and so is a second time. */
void writ_back_stop(struct writ_back *back);

#endif
