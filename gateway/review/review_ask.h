/* review_ask.h - the review of a call whose rule requires an approval, for the ledger. */
#ifndef WRIT_GATEWAY_REVIEW_ASK_H
#define WRIT_GATEWAY_REVIEW_ASK_H

#include "gateway/request/request.h"

/** Whether the call needs an approval. A call that continues a granted one has it. */
bool writ_review_ask_needed(const struct writ_call *call);

/**
 * Makes `call->review.ask` from the draft, which becomes a `require_approval`. The draft becomes a
 * deny when no voter could decide, or when the returned requestState is not for this call.
 *
 * @return WRIT_OK
 *         WRIT_E_PARSE, WRIT_E_LIMIT  the arguments have no canonical form, or are too large
 *         WRIT_E_NOMEM, WRIT_E_CRYPTO
 */
WRIT_RESULT writ_review_ask_make(struct writ_request *request, struct writ_call *call);

/** The draft becomes a deny with that reason, and opens no review. WRIT_E_LIMIT, WRIT_E_NOMEM. */
WRIT_RESULT writ_review_ask_refuse(
    struct writ_call *call, enum writ_reason reason, struct writ_arena *arena);

#endif
