/* words.h - a text as words: without case, punctuation and what hides, look-alike letters as ASCII.
 */
#ifndef WRIT_POLICY_DETECT_WORDS_H
#define WRIT_POLICY_DETECT_WORDS_H

#include "base/bytes.h"

/** One character as it is compared: `ret_ascii`, ' ' between words; or 0: `ret_other`, which is
 * empty when it is left out. Returns its length, at least 1; the text is not empty. */
size_t writ_words_next(struct writ_view text, char *ret_ascii, struct writ_view *ret_other);

/** Whether a character of a word: a to z, a digit, or beyond ASCII. */
bool writ_words_is_word(char c);

/** Whether a letter beyond ASCII looks like an ASCII one. */
bool writ_words_looks_alike(uint32_t point);

/** Takes a find of a detector of prompt.*: its id, the words, and where they stand in the text.
 * False: no more are wanted. */
typedef bool writ_words_fn(
    void *ctx, size_t id, struct writ_view words, size_t offset, size_t length);

/** Calls `each` for what addresses a model (prompt.tbl.h), by detector, then by place.
 * WRIT_E_NOMEM, WRIT_E_LIMIT for a text of 4 GiB. */
WRIT_RESULT writ_words_find(struct writ_view text, writ_words_fn *each, void *ctx);

#endif
