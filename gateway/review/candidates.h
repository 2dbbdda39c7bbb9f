/* candidates.h - several calls of one tool that a request proposes together. Each takes the steps
 * from DISCOVER to DRAFT as a call of its own; those that policy does not refuse are the candidates
 * of one review. The voters elect one. The elected call with the review's id as its continuation is
 * then granted; for a caller that makes its calls itself, the same request again is that call too.
 */
#ifndef WRIT_GATEWAY_CANDIDATES_H
#define WRIT_GATEWAY_CANDIDATES_H

#include "gateway/request/request.h"

/** Makes `request->call` the first of the proposed calls. Policy has not judged it yet.
 *
 * @param first  the arguments of the first one; NULL: they are in the list too
 * @param list   of the arguments of the others
 * @param like   all else that they have; copied
 *
 * @return WRIT_OK
 *         WRIT_E_PARSE  not a list of objects, or fewer than 2 calls, or more than 8
 *         WRIT_E_NOMEM
 */
WRIT_RESULT writ_candidates_read(struct writ_request *request, const struct writ_json *first,
    const struct writ_json *list, const struct writ_call *like);

/** After policy has judged a call: one of several candidates is refused where no review elects
 * among them, also in shadow mode. */
void writ_candidates_bar(const struct writ_request *request, struct writ_call *call);

/** Before its draft: the call needs the approval of its rule if it is a candidate, or names the
 * review of one, also where the rule's conditions do not hold for it. */
void writ_candidates_require(const struct writ_request *request, struct writ_call *call);

/** After the draft of a candidate: makes `request->call` the next one. False: all have a draft. */
bool writ_candidates_next(struct writ_request *request);

/**
 * Makes one review of all that policy does not refuse; `request->call` is then the one to record.
 *
 * @param ret  written on success: the next step
 *
 * @return as writ_review_ask_make
 */
WRIT_RESULT writ_candidates_ask(struct writ_request *request, enum writ_step *ret);

/** Writes the members that tell the caller what became of each, and which one was elected; nothing
 * for a call that was proposed alone. */
void writ_candidates_put(struct writ_write *w, const struct writ_request *request);

#endif
