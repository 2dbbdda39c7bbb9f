/* review_elicit.h - when the question of review_question.h is asked, how its text is made, and how
 * it is sent to a client with a session. */
#ifndef WRIT_GATEWAY_REVIEW_ELICIT_H
#define WRIT_GATEWAY_REVIEW_ELICIT_H

#include "gateway/review/review_question.h"

/** Whether the client of this held call is to be asked now. */
bool writ_review_elicit_is_due(const struct writ_request *request);

/** Makes the question from `review`, a copy of the call's review. NULL: it cannot be shown whole,
 * or there is no memory. */
const struct writ_review_question *writ_review_elicit_make(
    const struct writ_request *request, const struct writ_entry_review_get *review);

/** Sends the question on the stream of the held call, which begins with it, and notes it in the
 * session. Without memory nothing is sent. */
void writ_review_elicit_send(
    struct writ_request *request, const struct writ_review_question *question);

#endif
