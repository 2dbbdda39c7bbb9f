/* reply.h - the vote in what a language model has answered to a prompt (prompt.h).
 *
 * Tolerant of what models do: text before and after, code fences, line breaks, capitals,
 * "approved", a confidence in quotes, feedback that is too long or has control characters. Strict
 * in what counts: a JSON object that repeats the token of the ballot and has one of three votes. An
 * object without the token is text, so that nothing that is quoted from the call is a vote; two
 * ballots that differ are none. Whatever else is answered is a failed ballot, and never an
 * approval. */
#ifndef WRIT_CREW_REPLY_H
#define WRIT_CREW_REPLY_H

#include "evidence/record/review.h"

#define WRIT_REPLY_MAX     (64 << 10) /* bytes of an answer */
#define WRIT_REPLY_OBJECTS 64         /* that are tried in one answer */

struct writ_reply {
    enum writ_review_vote vote;
    struct writ_view feedback;   /* that can be kept; ptr NULL: none */
    struct writ_view confidence; /* as it is kept; ptr NULL: none */
};

/**
 * Reads an answer.
 *
 * @param token  of writ_prompt_token
 * @param whole  writ_prompt_is_whole: else an approval does not count
 * @param ret    in the arena; written only on success
 *
 * @return WRIT_OK
 *         WRIT_E_PARSE  a failed ballot; err says why, without anything of the answer
 *         WRIT_E_LIMIT  a failed ballot: longer than WRIT_REPLY_MAX
 *         WRIT_E_NOMEM
 */
WRIT_RESULT writ_reply_read(struct writ_view text, struct writ_view token, bool whole,
    struct writ_arena *arena, struct writ_reply *ret, struct writ_err *err);

/** Makes feedback of any text that can be kept: at most WRIT_REVIEW_FEEDBACK_MAX bytes, control
 * characters as spaces. {NULL, 0} on no memory. */
struct writ_view writ_reply_feedback(struct writ_view text, struct writ_arena *arena);

#endif
