/* stream_merge.h - one stream of events to a client, made from the streams of one upstream or of
 * several.
 *
 * A source is the stream of one upstream for the client: the answer to a GET, or to
 * subscriptions/listen (listen.h). A single source is passed on unchanged, also its refusal.
 * Several are merged:
 *
 * - An upstream without such a stream is absent; without any stream the client gets the first
 *   refusal.
 * - The id of an event is the position in all sources (event_id.h): a client that resumes with it
 * misses no event of any of them. The position in the stream of one request goes only to its
 * upstream.
 * - GET: a source that ends is requested again, from its last event, as a client would.
 *
 * An answer on a GET is governed by pending_responses.h. */
#ifndef WRIT_GATEWAY_STREAM_MERGE_H
#define WRIT_GATEWAY_STREAM_MERGE_H

#include "gateway/request/request.h"

/** Opens the sources of the request, in request->part. Returns the next step. */
enum writ_step writ_stream_merge_open(struct writ_request *request);

/** Ends the open sources of the request, and in this or a later turn the request. */
void writ_stream_merge_stop(struct writ_request *request);

/** Ends all streams of a worker, so that a stopping gateway need not wait for them. */
void writ_stream_merge_end_all(struct writ_worker *worker);

#endif
