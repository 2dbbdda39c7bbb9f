/* number.h - the double nearest to a decimal number, whatever the locale says. */
#ifndef WRIT_BASE_NUMBER_H
#define WRIT_BASE_NUMBER_H

#include "base/bytes.h"

/** The longest literal that is read. */
#define WRIT_NUMBER_MAX 1024

/**
 * Reads the number that `text` begins with, in the grammar of JSON (RFC 8259 6), rounded to the
 * nearest double, ties to even. A number too small for a double gives a zero with its sign.
 *
 * @param max      most bytes of the number; at most WRIT_NUMBER_MAX is honoured
 * @param ret_len  bytes of the number; the caller reads the text after it
 *
 * @return WRIT_OK
 *         WRIT_E_PARSE    `text` does not begin with a number, or breaks off within one
 *         WRIT_E_LIMIT    longer than `max`
 *         WRIT_E_INVALID  beyond the range of a double
 *         WRIT_E_NOMEM
 *
 * Thread-safe. Does not block.
 */
WRIT_RESULT writ_number_prefix(struct writ_view text, size_t max, size_t *ret_len, double *ret);

/** As writ_number_prefix, for a text that is one number and nothing else: WRIT_E_PARSE when
 * anything comes before or after it. */
WRIT_RESULT writ_number_read(struct writ_view text, double *ret);

#endif
