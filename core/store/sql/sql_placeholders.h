/* sql_placeholders.h - the parameters of a statement as PostgreSQL numbers them. */
#ifndef WRIT_STORE_SQL_PLACEHOLDERS_H
#define WRIT_STORE_SQL_PLACEHOLDERS_H

#include "base/bytes.h"

/** The largest number of a parameter. */
#define WRIT_SQL_PLACEHOLDERS_MAX 1000

/**
 * Appends `text` to `ret` with every parameter `?` or `?7` written as `$1` or `$7`. A plain `?`
 * gets the number after the largest one so far, as SQLite counts. Strings, quoted names and
 * comments stay as they are; a string with backslashes (E'') or dollar quotes is not supported.
 *
 * @param ret_n  the largest number
 *
 * @return WRIT_OK
 *         WRIT_E_LIMIT  a number is 0 or above WRIT_SQL_PLACEHOLDERS_MAX, or the buffer is full
 *         WRIT_E_NOMEM
 */
WRIT_RESULT writ_sql_placeholders(
    struct writ_view text, struct writ_buf *ret, size_t *ret_n, struct writ_err *err);

#endif
