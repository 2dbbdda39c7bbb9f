/* api.h - what all requests under /v1 of the admin listener share: who asks, and how answers and
 * faults look. */
#ifndef WRIT_GATEWAY_API_H
#define WRIT_GATEWAY_API_H

#include "gateway/gateway.h"

#define WRIT_API_ANSWER_MAX ((size_t)64 << 20) /* bytes of an answer */

/**
 * Who asks: by a bearer token of an entry of `agents`. An agent that everybody is, is nobody here.
 *
 * @param arena  of the exchange; a stream, which asks again, gives another one each time
 * @param ret    written when the answer is WRIT_REASON_NONE; its views live in the arena or in the
 *               worker's generation, which the caller holds as long as it uses it
 *
 * @return WRIT_REASON_NONE, or why not: UNAUTHENTICATED, OVERLOADED (keys cannot be had)
 */
enum writ_reason writ_api_ask(struct writ_exchange *x, struct writ_worker *worker,
    struct writ_arena *arena, struct writ_agent *ret);

/** The status that goes with what writ_api_ask refuses: 401, 503. */
unsigned writ_api_status(enum writ_reason reason);

/** Answers with JSON, which nobody keeps; a buffer that has failed is a 500. Ends the exchange. */
void writ_api_reply(struct writ_exchange *x, unsigned status, const struct writ_buf *json);

/** Answers with a problem (RFC 9457): the reason's sentence, name and hint. Ends the exchange. */
void writ_api_problem(struct writ_exchange *x, unsigned status, enum writ_reason reason);

#endif
