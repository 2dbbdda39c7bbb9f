/* utf8.h - reading UTF-8. */
#ifndef WRIT_BASE_UTF8_H
#define WRIT_BASE_UTF8_H

#include "base/bytes.h"

/** Length of the UTF-8 character that `text` begins with, and its code point; 0 when it begins with
 * none (`ret_point` is then untouched). */
size_t writ_utf8_character(struct writ_view text, uint32_t *ret_point);

/** True when the bytes are well-formed UTF-8 (RFC 3629: no overlong forms, no surrogates). On
 * false, `bad` (may be NULL) is the offset of the first bad byte. */
bool writ_utf8_is_valid(struct writ_view text, size_t *bad);

/** The number of characters (code points) of a well-formed UTF-8 text. */
size_t writ_utf8_points(struct writ_view text);

/** The first `most` bytes of a well-formed UTF-8 text, or the whole characters of them. */
struct writ_view writ_utf8_cut(struct writ_view text, size_t most);

#endif
