/* find.h - where values stand in a text, by their marks. The words are compared as in mark.h, so
 * that a place is found for each text whose marks contain those of the value. A text is read once
 * for all values that are searched for in it. */
#ifndef WRIT_EVIDENCE_FIND_H
#define WRIT_EVIDENCE_FIND_H

#include "evidence/flow/mark.h"

#define WRIT_FIND_TEXT_MAX ((size_t)4 << 20) /* bytes of a text */

/** Texts, one after the other, under one key. One thread. */
struct writ_find;

/** @param key  borrowed until it is freed. Free with writ_find_free. WRIT_E_NOMEM, WRIT_E_CRYPTO.
 */
WRIT_RESULT writ_find_new(
    const struct writ_mark_key *key, struct writ_find **ret, struct writ_err *err);
/** NULL is permitted. */
void writ_find_free(struct writ_find *find);

/** Reads a text, UTF-8, in the place of the one before; borrowed as long as it is searched. After a
 * failure nothing is found. WRIT_E_LIMIT (it is too long), WRIT_E_NOMEM, WRIT_E_CRYPTO. */
WRIT_RESULT writ_find_read(struct writ_find *find, struct writ_view text, struct writ_err *err);

/** Finds the first places of a value in the text, in their order; none overlaps another. `ret` has
 * room for `most` of them: parts of the text. */
size_t writ_find_value(const struct writ_find *find, const struct writ_mark_wanted *wanted,
    size_t most, struct writ_view *ret);

#endif
