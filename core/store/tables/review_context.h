/* review_context.h - what the voters of a review are shown besides its records, as it is kept in
 * its row while it lives: the arguments of the call, the state of its target, the state that the
 * review before it was about, and the conditions that want the approval.
 *
 * The record that opened the review has the digest of it all, and the agent that asked may read
 * that record. Random bytes among what is digested keep it from guessing the conditions. */
#ifndef WRIT_STORE_REVIEW_CONTEXT_H
#define WRIT_STORE_REVIEW_CONTEXT_H

#include "base/bytes.h"

/** Each is canonical JSON, or empty: not known. Borrowed. */
struct writ_review_context {
    struct writ_view arguments, state, before, conditions;
    struct writ_view salt; /* random text */
};

/** Appends it. What fails stays in the buffer. */
void writ_review_context_put(const struct writ_review_context *showing, struct writ_buf *ret);

/** Reads what writ_review_context_put wrote; the views are parts of `bytes`. Bytes that are not of
 * that form are arguments, and nothing else. */
struct writ_review_context writ_review_context_read(struct writ_view bytes);

/** Compares what is kept with the record that opened the review, which has its digest
 * (extensions.writ.showing). WRIT_E_MISMATCH, WRIT_E_PARSE: it is not what voters were to be shown;
 * WRIT_E_NOMEM, WRIT_E_LIMIT, WRIT_E_CRYPTO. */
WRIT_RESULT writ_review_context_check(struct writ_view opening, struct writ_view bytes,
    struct writ_arena *arena, struct writ_err *err);

#endif
