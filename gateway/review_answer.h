/* review_answer.h - a review as the admin listener tells it, in JSON. Texts of voters and of
 * callers are JSON strings, as they are: whoever shows them escapes them. */
#ifndef WRIT_GATEWAY_REVIEW_ANSWER_H
#define WRIT_GATEWAY_REVIEW_ANSWER_H

#include "evidence/write.h"
#include "store/ledger.h"

/** The members of a review, into an object that is open. */
void writ_review_answer_put(struct writ_write *w, const struct writ_review_told *told);

#endif
