/* review_answer.h - a review in the JSON of the admin listener. Texts of voters and of callers are
 * JSON strings, unchanged: the program that displays them must escape them. */
#ifndef WRIT_GATEWAY_REVIEW_ANSWER_H
#define WRIT_GATEWAY_REVIEW_ANSWER_H

#include "evidence/json/write.h"
#include "policy/model/config.h"
#include "store/ledger/ledger.h"

/** The members of a review, into an object that is open. */
void writ_review_answer_put(struct writ_write *w, const struct writ_review_told *told);

/**
 * As writ_review_answer_put, with the call: its arguments while they are kept, the decision that
 * opened the review, and for one of the voters of an open review the prompt.
 *
 * @param voter  the receiver
 *
 * @return WRIT_OK, WRIT_E_PARSE (the decision cannot be read), WRIT_E_LIMIT, WRIT_E_NOMEM,
 *         WRIT_E_CRYPTO
 */
WRIT_RESULT writ_review_answer_put_call(struct writ_write *w,
    const struct writ_entry_review_get *get, struct writ_view voter,
    const struct writ_config *config, struct writ_arena *arena, struct writ_err *err);

#endif
