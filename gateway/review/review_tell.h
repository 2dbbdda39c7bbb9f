/* review_tell.h - tells a caller that its call waits for a verdict, by the abilities of its
 * protocol and its client:
 *
 *     where its client is to be asked        the question (review_question.h)
 *     2026-07-28, URL elicitation declared   a result `input_required`: the page of the review to
 *                                            open, and a requestState to come back with
 *     2025-11-25, URL elicitation declared   the error URLElicitationRequired with that page
 *     other clients                          the refusal, with the same facts in its data
 *
 * While a request is held, its stream is kept alive and has notices of progress. */
#ifndef WRIT_GATEWAY_REVIEW_TELL_H
#define WRIT_GATEWAY_REVIEW_TELL_H

#include "evidence/json/write.h"
#include "gateway/request/request.h"

/** 2025-11-25, client/elicitation: URLElicitationRequiredError. */
#define WRIT_REVIEW_TELL_CODE (-32042)

#define WRIT_REVIEW_TELL_URL_MAX 2048 /* bytes of such a URL */

enum writ_review_tell {
    WRIT_REVIEW_TELL_REFUSAL = 0,
    WRIT_REVIEW_TELL_INPUT,       /* input_required */
    WRIT_REVIEW_TELL_ELICITATION, /* URLElicitationRequired */
};

/** Appends "https://admin.example/reviews/ID": with `admin_url`, or with the address of the admin
 * listener. Nothing without such a listener. The URL gives no access: the page asks its reader to
 * log in. */
void writ_review_tell_put_url(struct writ_buf *buf, const struct writ_gateway *gateway,
    const struct writ_config *config, struct writ_view id);

/** The form in which a call gets the result of its review. NULL: no review. */
enum writ_review_tell writ_review_tell_form(
    const struct writ_request *request, const struct writ_ask *ask);

/** Appends the requestState of an input_required. As writ_continuation_put. */
WRIT_RESULT writ_review_tell_state(
    const struct writ_request *request, const struct writ_ask *ask, struct writ_buf *ret);

/** Writes the members of an input_required result. */
void writ_review_tell_put_input(struct writ_write *w, const struct writ_request *request,
    const struct writ_ask *ask, struct writ_view state);

/** Writes the member `elicitations` of the data of a URLElicitationRequired. */
void writ_review_tell_put_elicitations(
    struct writ_write *w, const struct writ_request *request, const struct writ_ask *ask);

/** Whether the client takes a stream as the answer to its request. */
bool writ_review_tell_takes_stream(const struct writ_request *request);

/** Begins the stream of a held request, if its client takes one: proxies cut a connection that is
 * silent for long. */
void writ_review_tell_begin(struct writ_request *request);

/** Reports on the stream that the request is held, and for how long at most, when its caller
 * requested progress (progressToken) and got no notice for a while. */
void writ_review_tell_progress(struct writ_request *request);

#endif
