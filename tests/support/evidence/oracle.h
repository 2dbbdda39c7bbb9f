/* oracle.h - jansson as the second opinion on our JSON reader. */
#ifndef WRIT_TESTS_ORACLE_H
#define WRIT_TESTS_ORACLE_H

#include "evidence/json/json.h"

/**
 * Reads the text with our reader and with jansson, and compares: whether it is accepted, and the
 * value. The differences that are allowed are those where jansson is laxer or narrower by design:
 * - integers beyond 64 bits, which jansson refuses and we keep as text;
 * - U+0000 in member names, which jansson refuses;
 * - nesting and lengths beyond our limits;
 * - a raw NUL outside a string, which jansson takes for the end of the text.
 * jansson accepts scalars and U+0000 here and refuses duplicates.
 * What we accept crosses to jansson and back (writ/jansson.h) if it has a canonical form, which it
 * keeps, and is refused there if it has none.
 *
 * @return NULL when they agree or differ as allowed, else what they disagree about (static text)
 */
const char *writ_oracle_disagrees(struct writ_view text, struct writ_arena *arena);

#endif
