/* listen.h - subscriptions/listen (2026-07-28, basic/patterns/subscriptions) of several upstreams
 * as one subscription: a part of stream_merge.h.
 *
 * Every upstream gets the client's own request, so that their events already have the
 * subscription's id. The client sees one acknowledgement, of all that any upstream grants, before
 * anything else; and one result, when every upstream has sent its own. An upstream that does not
 * know the method is absent. A broken stream ends the subscription without a result, which shows
 * the client that it may have missed events and must subscribe again. */
#ifndef WRIT_GATEWAY_LISTEN_H
#define WRIT_GATEWAY_LISTEN_H

#include "gateway/call/inspect.h"
#include "gateway/relay/merged_stream.h"

/** Takes an event that the client must not get unchanged. */
bool writ_listen_takes(
    struct writ_merge_source *source, enum writ_inspected kind, const struct writ_sse_event *event);

/** A source is over. */
void writ_listen_source_ended(struct writ_merge_source *source);

/** All sources are over: writes the result, if there was one. */
void writ_listen_finish(struct writ_merged_stream *merged);

#endif
