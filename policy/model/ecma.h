/* ecma.h - `pattern` of a JSON Schema as a pattern of the op `matches`.
 *
 * JSON Schema has the regular expressions of ECMAScript, which match anywhere in a text; `matches`
 * has PCRE2's, which match the whole. What both have, and mean alike, is rewritten so that the same
 * texts match; a pattern with anything else is refused rather than guessed at. */
#ifndef WRIT_POLICY_ECMA_H
#define WRIT_POLICY_ECMA_H

#include "base/bytes.h"

/** Appends the pattern of `matches` for the ECMAScript pattern `text` (UTF-8). False when it has
 * something that the two read differently, or that PCRE2 does not take; `ret` is then of no use. */
bool writ_ecma_pattern(struct writ_view text, struct writ_buf *ret);

#endif
