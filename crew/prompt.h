/* prompt.h - the prompt for a language model that votes on a call, and the token that its answer
 * must repeat (reply.h). No I/O.
 *
 * Text of the caller, its tools and other parties stands between two lines with a token, as one
 * JSON object in one line: none of its lines can look like one of the prompt. `<`, `>`, `&` and
 * backquotes, and all characters that are invisible or change the appearance of others, are
 * escaped. Its length is capped; an answer cannot approve a call that the prompt does not show
 * completely (reply.h). An approval does not cover the state of the target: when it is cut, the
 * prompt gives its length.
 *
 * The token comes from the digest of the terms of the review. They contain an id that is made after
 * the call was written, so the call cannot contain the token. The same review gives the same
 * prompt. */
#ifndef WRIT_CREW_PROMPT_H
#define WRIT_CREW_PROMPT_H

#include "evidence/record/review.h"

#define WRIT_PROMPT_TOKEN         33         /* bytes of a token, with its NUL */
#define WRIT_PROMPT_ARGUMENTS_MAX (32 << 10) /* bytes of arguments that are shown */
#define WRIT_PROMPT_STATE_MAX     (16 << 10) /* of the target's state, and of its difference */
#define WRIT_PROMPT_FIELD_MAX     2048       /* bytes of any other text of theirs */
#define WRIT_PROMPT_MAX           ((size_t)1 << 20) /* bytes of a prompt: escapes take six for one */

/** The contents of a prompt. All borrowed for the call. */
struct writ_prompt {
    struct writ_view voter, review;            /* as whom, in which review */
    struct writ_view instructions;             /* of the operator of the gateway; may be empty */
    struct writ_view digest;                   /* of the terms, as text */
    const struct writ_review_ranking *options; /* what a ballot ranks; n 0: it votes */
    /* of the call */
    struct writ_view tool, agent_id, target, scope, reason;
    struct writ_view arguments; /* canonical JSON; or the candidates, when the options have any */
    struct writ_view target_state; /* canonical JSON; empty: unknown */
    struct writ_view difference;   /* lines of difference.h from the state before; may be empty */
};

/** The token of a voter's ballot in a review, NUL-terminated. WRIT_E_CRYPTO. */
WRIT_RESULT writ_prompt_token(
    struct writ_view digest, struct writ_view voter, char ret[WRIT_PROMPT_TOKEN]);

/** Whether the arguments are shown whole. */
bool writ_prompt_is_whole(struct writ_view arguments);

/** Appends the prompt. WRIT_E_CRYPTO, and the failures of the buffer. */
WRIT_RESULT writ_prompt_put(
    const struct writ_prompt *prompt, struct writ_buf *ret, struct writ_err *err);

#endif
