/* finish.h - ends a request: writes the log and the metrics, releases everything that it holds, and
 * answers its exchange. The request is freed then. */
#ifndef WRIT_GATEWAY_FINISH_H
#define WRIT_GATEWAY_FINISH_H

#include "gateway/request/request.h"

/** Releases everything that is held, just before the final answer. The next operation on the
 * exchange must be its answer. The functions below do both. */
void writ_finish_request(struct writ_request *request);

/** Answers as writ_exchange_reply. Gives DONE. */
enum writ_step writ_finish_reply(struct writ_request *request, unsigned status,
    const struct writ_header *headers, size_t count, struct writ_view body);

/** Answers 202 without a body: to a message whose client waits for no answer. Returns DONE. */
enum writ_step writ_finish_accepted(struct writ_request *request);

/** Ends the stream of events of the answer: with an end of its body when `whole`, else cut. Returns
 * DONE. */
enum writ_step writ_finish_stream(struct writ_request *request, bool whole);

#endif
