/* prompt.h - the prompt for a language model that votes on a call, and the token that its answer
 * must repeat (reply.h). No I/O.
 *
 * Text of the caller, its tools and other parties stands between two lines with a token, as
 * one JSON object in one line: no line of theirs can look like one of ours. `<`, `>`, `&` and
 * backquotes, and all characters that are not seen or change what is seen, are escaped. Its length
 * is capped; a call that is not shown whole cannot be approved by an answer to the prompt
 * (reply.h). An approval does not cover the state of the target: when it is cut, the prompt gives
 * its length.
 *
 * The token comes from the digest of the terms of the review, which have an id that was made after
 * the call was written: nothing in the call can know it. The same review gives the same prompt. */
#ifndef WRIT_CREW_PROMPT_H
#define WRIT_CREW_PROMPT_H

#include "base/bytes.h"

#define WRIT_PROMPT_TOKEN         33         /* bytes of a token, with its NUL */
#define WRIT_PROMPT_ARGUMENTS_MAX (32 << 10) /* bytes of arguments that are shown */
#define WRIT_PROMPT_STATE_MAX     (16 << 10) /* of the target's state, and of its difference */
#define WRIT_PROMPT_FIELD_MAX     2048       /* bytes of any other text of theirs */
#define WRIT_PROMPT_MAX           ((size_t)1 << 20) /* bytes of a prompt: escapes take six for one */

/** The contents of a prompt. All borrowed for the call. */
struct writ_prompt {
    struct writ_view voter, review; /* as whom, in which review */
    struct writ_view instructions;  /* of who runs the gateway; may be empty */
    struct writ_view digest;        /* of the terms, as text */
    /* of the call */
    struct writ_view tool, agent_id, target, scope, reason;
    struct writ_view arguments;    /* canonical JSON */
    struct writ_view target_state; /* canonical JSON; empty: not known */
    struct writ_view difference;   /* lines of difference.h from the state before; may be empty */
};

/** The token of a voter's ballot in a review, NUL-terminated. WRIT_E_CRYPTO. */
WRIT_RESULT writ_prompt_token(
    struct writ_view digest, struct writ_view voter, char ret[WRIT_PROMPT_TOKEN]);

/** Whether the arguments are shown whole. */
bool writ_prompt_is_whole(struct writ_view arguments);

/** Appends the prompt. WRIT_E_CRYPTO, and what the buffer says. */
WRIT_RESULT writ_prompt_put(
    const struct writ_prompt *prompt, struct writ_buf *ret, struct writ_err *err);

#endif
