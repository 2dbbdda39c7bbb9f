/* rational.h - shares that are compared exactly: 2/3 is not 0.67. */
#ifndef WRIT_CREW_RATIONAL_H
#define WRIT_CREW_RATIONAL_H

#include "evidence/json/json.h"

#define WRIT_RATIONAL_MAX                                                                          \
    1000000000000000000 /* of numerator and denominator: products with                             \
                           10^12 and 10^6 fit 128 bits */

/** numerator / denominator, neither negative, the denominator above 0. */
struct writ_rational {
    int64_t numerator, denominator;
};

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
