/* reply.h - reads the vote from the answer of a language model to a prompt (prompt.h).
 *
 * Tolerant of the habits of models: text before and after, code fences, line breaks, capitals,
 * "approved", a confidence in quotes, feedback that is too long or has control characters. Strict
 * about the vote: a JSON object that repeats the token of the ballot and has one of three votes. An
 * object without the token is text, so that no quotation from the call is a vote; two ballots that
 * differ count for nothing. Any other answer is a failed ballot, never an approval. */
#ifndef WRIT_CREW_REPLY_H
#define WRIT_CREW_REPLY_H

#include "evidence/record/review.h"

#define WRIT_REPLY_MAX     (64 << 10) /* bytes of an answer */
#define WRIT_REPLY_OBJECTS 64         /* objects that are tried in one answer */

struct writ_reply {
    enum writ_review_vote vote;
    struct writ_review_ranking ranking; /* n 0: none; else its first is `vote` */
    struct writ_view feedback;          /* valid feedback; ptr NULL: none */
    struct writ_view confidence;        /* in the form of the record; ptr NULL: none */
};

/**
 * Reads an answer.
 *
 * @param token  of writ_prompt_token
 * @param whole  writ_prompt_is_whole: else an approval does not count
 * @param ret    in the arena; written only on success
 *
 * @return WRIT_OK
 *         WRIT_E_PARSE  a failed ballot; err has the reason, without any text of the answer
 *         WRIT_E_LIMIT  a failed ballot: longer than WRIT_REPLY_MAX
 *         WRIT_E_NOMEM
 */
WRIT_RESULT writ_reply_read(struct writ_view text, struct writ_view token, bool whole,
    struct writ_arena *arena, struct writ_reply *ret, struct writ_err *err);

/** Makes valid feedback from any text: at most WRIT_REVIEW_FEEDBACK_MAX bytes, control characters
 * as spaces. {NULL, 0} when memory is exhausted. */
struct writ_view writ_reply_feedback(struct writ_view text, struct writ_arena *arena);

#endif
