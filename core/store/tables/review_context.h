/* review_context.h - the context that voters see besides the records of a review, as its row keeps
 * it while it is open: the arguments of the call, the state of its target, the state that the
 * review before it was about, the conditions that need the approval, and the candidates of which
 * voters elect one.
 *
 * The record that opened the review has the digest of the context, and the agent that asked may
 * read that record. Random bytes in the digested text prevent it from guessing the conditions. */
#ifndef WRIT_STORE_REVIEW_CONTEXT_H
#define WRIT_STORE_REVIEW_CONTEXT_H

#include "base/bytes.h"

/** Each is canonical JSON, or empty: unknown. Borrowed. */
struct writ_review_context {
    struct writ_view arguments, state, before, conditions;
    struct writ_view salt; /* random text */
    struct writ_view candidates;
};

/** Appends the context. A failure stays in the buffer. */
void writ_review_context_put(const struct writ_review_context *context, struct writ_buf *ret);

/** Reads bytes of writ_review_context_put; the views are parts of `bytes`. Bytes of another form
 * are the arguments alone. */
struct writ_review_context writ_review_context_read(struct writ_view bytes);

/** Compares the stored context with the record that opened the review, which has its digest
 * (extensions.writ.showing). WRIT_E_MISMATCH, WRIT_E_PARSE: it is not the context of that record;
 * WRIT_E_NOMEM, WRIT_E_LIMIT, WRIT_E_CRYPTO. */
WRIT_RESULT writ_review_context_check(struct writ_view opening, struct writ_view bytes,
    struct writ_arena *arena, struct writ_err *err);

#endif
