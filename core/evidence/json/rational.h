/* rational.h - shares that are compared exactly: 2/3 is not 0.67. */
#ifndef WRIT_EVIDENCE_RATIONAL_H
#define WRIT_EVIDENCE_RATIONAL_H

#include "evidence/json/json.h"

#define WRIT_RATIONAL_MAX                                                                          \
    1000000000000000000 /* of numerator and denominator: products with                             \
                           10^12 and 10^6 fit 128 bits */

/** numerator / denominator, neither negative, the denominator above 0. */
struct writ_rational {
    int64_t numerator, denominator;
};

/** Reads "a/b" or a decimal, exactly as it is written. WRIT_E_INVALID when it is neither or
 * negative, WRIT_E_PARSE when it is not a decimal, WRIT_E_LIMIT when it needs larger numbers than a
 * rational has. */
WRIT_RESULT writ_rational_of_text(struct writ_view text, struct writ_rational *ret);

/** In lowest terms; 0 is 0/1. */
struct writ_rational writ_rational_reduce(struct writ_rational value);

/** The greatest common divisor; of 0 and n it is n. */
int64_t writ_rational_gcd(int64_t a, int64_t b);

/** Reads a JSON number, exactly as it is written, or a string "a/b". WRIT_E_INVALID when it is
 * neither, WRIT_E_LIMIT when it needs larger numbers than a rational has. */
WRIT_RESULT writ_rational_read(const struct writ_json *value, struct writ_rational *ret);

/** <0, 0, >0 as a/b is less than, equal to, greater than `share`; b is above 0. */
static inline int
writ_rational_compare(int64_t a, int64_t b, struct writ_rational share)
{
    __int128 left = (__int128)a * share.denominator, right = (__int128)b * share.numerator;

    return (left > right) - (left < right);
}

#endif
