/* find.h - where a value stands in a text, by its marks. The words
 * are compared as in mark.h, so that a place is found for each text whose marks contain those of
 * the value. */
#ifndef WRIT_EVIDENCE_FIND_H
#define WRIT_EVIDENCE_FIND_H

#include "evidence/flow/mark.h"

#define WRIT_FIND_TEXT_MAX ((size_t)4 << 20) /* bytes of a text */

/**
 * Finds the first places of a value, in their order; none overlaps another.
 *
 * @param text    UTF-8
 * @param wanted  the marks of the value, under this key
 * @param ret     room for `most`: parts of `text`
 * @param ret_n   how many were found
 *
 * WRIT_E_LIMIT (the text is too long), WRIT_E_NOMEM, WRIT_E_CRYPTO.
 */
WRIT_RESULT writ_find_value(struct writ_view text, const struct writ_mark_key *key,
    const struct writ_mark_wanted *wanted, size_t most, struct writ_view *ret, size_t *ret_n,
    struct writ_err *err);

#endif
