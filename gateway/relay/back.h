/* back.h - notifies a session's client when an upstream is back that was missing in its lists.
 *
 * As long as the client has a stream of its session open (stream_merge.h), every upstream that was
 * missing in a list is tried now and then: it joins the session, if it has not (late.h), and gets a
 * request for a list of that kind. When it answers, the client gets notifications/.../list_changed,
 * once. The breaker (breaker.h) applies. Children with a session of their own send the notice
 * themselves (stdio_send.c). Used from the loop of the stream's request. */
#ifndef WRIT_GATEWAY_BACK_H
#define WRIT_GATEWAY_BACK_H

struct writ_back;
struct writ_merged_stream;

/** Begins the checks, until writ_back_stop. In the arena of the request. NULL: no memory. */
struct writ_back *writ_back_start(struct writ_merged_stream *merged);

/** Ends the notices. NULL and repeated calls are permitted. */
void writ_back_stop(struct writ_back *back);

#endif
