/* Reads a share as a fraction of two integers, exactly: nothing is rounded, and a value that does
 * not fit is refused. */
#include "evidence/json/rational.h"

#include "base/decimal.h"
#include "base/text.h"

static WRIT_RESULT
read_fraction(struct writ_view text, struct writ_rational *ret)
{
    size_t slash = writ_view_find(text, '/');
    uint64_t numerator = 0, denominator = 0;

    if (slash == text.len) {
        return (writ_result){WRIT_E_INVALID};
    }
    if (!writ_is_ok(
            writ_text_u64(writ_view_sub(text, 0, slash), 0, WRIT_RATIONAL_MAX, &numerator)) ||
        !writ_is_ok(writ_text_u64(
            writ_view_sub(text, slash + 1, text.len), 1, WRIT_RATIONAL_MAX, &denominator))) {
        return (writ_result){WRIT_E_INVALID};
    }
    *ret = (struct writ_rational){(int64_t)numerator, (int64_t)denominator};
    return WRIT_DONE;
}

static WRIT_RESULT
read_decimal(struct writ_view text, struct writ_rational *ret)
{
    struct writ_decimal decimal;
    unsigned __int128 numerator;
    int64_t denominator = 1;

    WRIT_TRY(writ_decimal_read(text, &decimal));
    if (decimal.negative) {
        return (writ_result){WRIT_E_INVALID};
    }
    numerator = decimal.coefficient;
    for (; decimal.exponent < 0 && denominator < WRIT_RATIONAL_MAX; decimal.exponent++) {
        denominator *= 10;
    }
    for (; decimal.exponent > 0 && numerator <= WRIT_RATIONAL_MAX; decimal.exponent--) {
        numerator *= 10;
    }
    if (decimal.exponent != 0 || numerator > WRIT_RATIONAL_MAX) {
        return (writ_result){WRIT_E_LIMIT};
    }
    *ret = (struct writ_rational){(int64_t)numerator, denominator};
    return WRIT_DONE;
}

WRIT_RESULT
writ_rational_of_text(struct writ_view text, struct writ_rational *ret)
{
    return writ_view_find(text, '/') < text.len ? read_fraction(text, ret)
                                                : read_decimal(text, ret);
}

int64_t
writ_rational_gcd(int64_t a, int64_t b)
{
    while (b != 0) {
        int64_t rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

struct writ_rational
writ_rational_reduce(struct writ_rational value)
{
    int64_t common = writ_rational_gcd(value.numerator, value.denominator);

    return (struct writ_rational){value.numerator / common, value.denominator / common};
}

WRIT_RESULT
writ_rational_read(const struct writ_json *value, struct writ_rational *ret)
{
    if (writ_json_type(value) == WRIT_JSON_STRING) {
        return read_fraction(writ_json_string(value), ret);
    }
    if (writ_json_type(value) != WRIT_JSON_NUMBER) {
        return (writ_result){WRIT_E_INVALID};
    }
    return read_decimal(writ_json_text(value), ret);
}
