/* text.h - reads numbers and files; writes JSON strings. */
#ifndef WRIT_BASE_TEXT_H
#define WRIT_BASE_TEXT_H

#include "base/bytes.h"

/** Decimal digits only, no sign, no leading zeros (but "0"), within least..most; else
 * WRIT_E_PARSE or WRIT_E_LIMIT. */
WRIT_RESULT writ_text_u64(struct writ_view text, uint64_t least, uint64_t most, uint64_t *ret);

/** Appends a JSON string literal with quotes and the minimal escapes of RFC 8785 3.2.2.2. The text
 * must be UTF-8. The canonical form and all other JSON output use this function. */
void writ_text_json(struct writ_buf *buf, struct writ_view text);

/** As writ_text_json for bytes of unknown origin (log lines): characters that hide (hidden.h) are
 * written as \uXXXX, bytes that are not UTF-8 as '?', and the text is cut after `max` input bytes.
 */
void writ_text_json_safe(struct writ_buf *buf, struct writ_view text, size_t max);

/** As writ_text_json_safe without quotes, for people: nothing in the text can hide, break a line,
 * reorder it or give a terminal commands; a character beyond U+FFFF is written as \u{XXXXX}; quotes
 * and backslashes stay.
 */
void writ_text_safe(struct writ_buf *buf, struct writ_view text, size_t max);

/** True when the bytes can be the value of an HTTP field: no control byte but tab (RFC 9110
 * 5.5). */
bool writ_text_is_field(struct writ_view text);

#define WRIT_TEXT_PATH_MAX 8192

/** Appends the absolute path of the folder of `path`, with a '/' at its end; links stay as they
 * are. WRIT_E_IO, WRIT_E_NOMEM. */
WRIT_RESULT writ_text_folder(const char *path, struct writ_buf *ret, struct writ_err *err);

/** Reads a whole regular file of at most `max` bytes. WRIT_E_ABSENT, WRIT_E_LIMIT, WRIT_E_IO. */
WRIT_RESULT writ_text_file(
    const char *path, size_t max, struct writ_buf *ret, struct writ_err *err);

#endif
