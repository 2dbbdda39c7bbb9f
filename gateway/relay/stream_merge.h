/* stream_merge.h - one stream of events to a client, made of the streams of one upstream or of
 * several.
 *
 * A lane is what one upstream has for the client: the answer to a GET, or to subscriptions/listen
 * (listen.h). One lane alone is passed on as it is, its refusal too. Several are merged:
 *
 * - An upstream without such a stream is absent; with no stream at all the client gets the first
 *   refusal that came.
 * - The id of an event is the place in all lanes (event_id.h): a client that comes back with it
 * misses nothing of any of them. The place in the stream of one request goes to its upstream alone.
 * - GET: a lane that ends is asked for again, from where it was, as a client would.
 *
 * An answer on a GET is governed by pending_responses.h. */
#ifndef WRIT_GATEWAY_STREAM_MERGE_H
#define WRIT_GATEWAY_STREAM_MERGE_H

#include "gateway/request/request.h"

/** Opens the lanes of the request, in request->part. Gives the step to go on with. */
enum writ_step writ_stream_merge_open(struct writ_request *request);

/** Ends what the request has open, and in this or a later turn the request. */
void writ_stream_merge_stop(struct writ_request *request);

/** Ends all of a worker's streams, so that a gateway that stops need not wait for them. */
void writ_stream_merge_end_all(struct writ_worker *worker);

#endif
