/* review_question.h - asks the person at the caller's own client to vote on a call (MCP
 * elicitation, mode form), where `elicitation` of the review names the voter that this person is:
 *
 *     2026-07-28   in a result `input_required`; the vote comes with the repeated call
 *     2025-06-18   in a request on the stream of the held call; the vote is its answer (step VOTE)
 *
 * The program that shows the question is the caller's, and it can answer by itself: so only
 * programs of the gateway's own user are asked, over a Unix socket. A vote counts for the terms
 * that were asked about, and for the session or call that was asked: the token in the question
 * (continuation.h) says which. A question that cannot be shown whole is not asked. */
#ifndef WRIT_GATEWAY_REVIEW_QUESTION_H
#define WRIT_GATEWAY_REVIEW_QUESTION_H

#include "evidence/json/write.h"
#include "gateway/request/request.h"

#define WRIT_REVIEW_QUESTION_MAX 16384                   /* bytes of its text */
#define WRIT_REVIEW_QUESTION_VIA WRIT_LIT("elicitation") /* of the vote's record */

/** What is asked; in the arena of the exchange. */
struct writ_review_question {
    struct writ_view text;
    struct writ_view terms; /* digest of the terms, as text */
};

/** The voter that the person at this client is, for the review of that name. Empty: none. */
struct writ_view writ_review_question_voter(
    const struct writ_request *request, struct writ_view review);

/** Writes the members of params of elicitation/create. */
void writ_review_question_put(
    struct writ_write *w, const struct writ_review_question *question, bool with_mode);

/** Reads the person's answer into a vote: event, vote, feedback and via. False: not an answer to
 * such a question. */
bool writ_review_question_read(const struct writ_json *content, struct writ_entry_review *ret);

#endif
