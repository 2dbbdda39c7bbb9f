/* decimal.h - numbers as they were written, exactly.
 *
 * Constraints and budgets compare amounts of money; a double would call two amounts equal that
 * differ in the last digit. A decimal keeps up to 34 digits (as IEEE 754 decimal128) and never
 * rounds: a value that does not fit is WRIT_E_LIMIT. */
#ifndef WRIT_BASE_DECIMAL_H
#define WRIT_BASE_DECIMAL_H

#include "base/bytes.h"

#define WRIT_DECIMAL_DIGITS   34   /* most digits between the first and the last that is not 0 */
#define WRIT_DECIMAL_EXPONENT 400  /* the first digit counts 10^-400 to 10^400 */
#define WRIT_DECIMAL_TEXT_MAX 1024 /* bytes of text that are read */
#define WRIT_DECIMAL_PUT_MAX  64   /* bytes that writ_decimal_put appends at most */

/** The value (-1)^negative * coefficient * 10^exponent. One value has one form: the coefficient
 * is not a multiple of 10, and zero is all zero bits (so a zeroed struct is the number 0). */
struct writ_decimal {
    unsigned __int128 coefficient;
    int exponent;
    bool negative;
};

/**
 * Reads a number in the grammar of JSON (RFC 8259 6), as it stands in JSON text or in a string.
 *
 * @param text  borrowed for the call; no white space, no sign but '-'
 * @param ret   written only on success
 *
 * @return WRIT_OK
 *         WRIT_E_PARSE  not a JSON number ("NaN", "+1", ".5", "01", "")
 *         WRIT_E_LIMIT  more than WRIT_DECIMAL_DIGITS significant digits, an exponent out of range,
 *                       or more than WRIT_DECIMAL_TEXT_MAX bytes
 */
WRIT_RESULT writ_decimal_read(struct writ_view text, struct writ_decimal *ret);

/** An integer as a decimal. Always exact. */
struct writ_decimal writ_decimal_of(int64_t value);

/** <0, 0, >0 as a is less than, equal to, greater than b. Exact for any two decimals. */
int writ_decimal_compare(const struct writ_decimal *a, const struct writ_decimal *b);

/** The exact sum. WRIT_E_LIMIT when it needs more digits or a greater exponent than a decimal has;
 * `ret` (which may be `a` or `b`) is written only on success. */
WRIT_RESULT writ_decimal_add(
    const struct writ_decimal *a, const struct writ_decimal *b, struct writ_decimal *ret);

/** Whether `a` can be counted up to `limit`. Every sum of such amounts that is at most `limit` is
 * exact: no digit of `a` stands behind the WRIT_DECIMAL_DIGITS that begin with the first digit of
 * `limit`. Zero counts up to every limit; nothing else counts up to zero. */
bool writ_decimal_counts(const struct writ_decimal *a, const struct writ_decimal *limit);

/** -a. */
struct writ_decimal writ_decimal_negate(const struct writ_decimal *a);

/** Appends the value in the form of RFC 8785 3.2.2.3, with all its digits: a JSON number, the same
 * text for the same value. writ_decimal_read reads the value back. */
void writ_decimal_put(struct writ_buf *buf, const struct writ_decimal *a);

/** Appends 0.`digits` times 10^`point` in that form (ECMA-262 Number::toString). `digits` is not
 * empty. */
void writ_decimal_put_digits(struct writ_buf *buf, struct writ_view digits, int point);

#endif
