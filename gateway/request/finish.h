/* finish.h - how a request ends: the log and the metrics say what became of it, everything that it
 * holds is let go of, and its exchange gets its answer. The request is gone then. */
#ifndef WRIT_GATEWAY_FINISH_H
#define WRIT_GATEWAY_FINISH_H

#include "gateway/request/request.h"

/** Lets go of everything that is held, just before the exchange is answered for good. The next
 * thing done with the exchange must be its answer. The functions below do both. */
void writ_finish_request(struct writ_request *request);

/** Answers as writ_exchange_reply. Gives DONE. */
enum writ_step writ_finish_reply(struct writ_request *request, unsigned status,
    const struct writ_header *headers, size_t count, struct writ_view body);

/** Answers 202 without a body: to a message whose client waits for no answer. Gives DONE. */
enum writ_step writ_finish_accepted(struct writ_request *request);

/** Ends the stream of events that the answer is: with an end of its body when `whole`, else cut.
 * Gives DONE. */
enum writ_step writ_finish_stream(struct writ_request *request, bool whole);

#endif
