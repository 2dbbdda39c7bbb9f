/* listen.h - subscriptions/listen (2026-07-28, basic/patterns/subscriptions) of several upstreams
 * as one subscription: a part of stream_merge.h.
 *
 * Every upstream gets the client's own request, so that what they send carries the subscription's
 * id already. The client sees one acknowledgement, of all that any upstream grants, before anything
 * else; and one result, when every upstream has sent its own. An upstream that does not know the
 * method is absent. One whose stream breaks ends the whole without a result, which tells the client
 * that it may have missed something and has to subscribe again. */
#ifndef WRIT_GATEWAY_LISTEN_H
#define WRIT_GATEWAY_LISTEN_H

#include "gateway/call/inspect.h"
#include "gateway/relay/lanes.h"

/** Takes an event that the client does not get as it is. */
bool writ_listen_takes(
    struct writ_lane *lane, enum writ_inspected kind, const struct writ_sse_event *event);

/** A lane is over. */
void writ_listen_lane_ended(struct writ_lane *lane);

/** All are: writes the result, if there was one. */
void writ_listen_finish(struct writ_lanes *lanes);

#endif
