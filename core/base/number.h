/* number.h - the double nearest to a decimal number, whatever the locale says. */
#ifndef WRIT_BASE_NUMBER_H
#define WRIT_BASE_NUMBER_H

#include "base/bytes.h"

/** The longest literal that is read. */
#define WRIT_NUMBER_MAX 1024

/**
 * Reads a number in the grammar of JSON (RFC 8259 6), rounded to the nearest double, ties to even.
 * A number too small for a double gives a zero with its sign.
 *
 * @return WRIT_OK
 *         WRIT_E_PARSE  not in that grammar, or anything before or after it
 *         WRIT_E_LIMIT  longer than WRIT_NUMBER_MAX bytes, or beyond the range of a double
 *         WRIT_E_NOMEM
 *
 * Thread-safe. Does not block.
 */
WRIT_RESULT writ_number_read(struct writ_view literal, double *ret);

#endif
