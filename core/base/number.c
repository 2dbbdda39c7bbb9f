/* number.c - reads a number exactly where one division or multiplication rounds once, and else by
 * the C library in the C locale. The result is the nearest double in both cases. */
#include "base/number.h"

#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define MANTISSA_DIGITS 19     /* that many always fit in 64 bits */
#define EXPONENT_MAX    100000 /* past this every number is out of range or zero */

/* A number as written: mantissa * 10^exponent, with up to 19 digits. */
struct literal {
    size_t len;
    uint64_t mantissa;
    int digits; /* in the mantissa, from the first that is not 0 */
    int exponent;
    bool negative;
    bool cut; /* digits that are not 0 came after the 19th */
};

static bool
is_digit(struct writ_view text, size_t at)
{
    return at < text.len && text.ptr[at] >= '0' && text.ptr[at] <= '9';
}

static void
add_digit(struct literal *lit, int digit)
{
    if (lit->digits < MANTISSA_DIGITS) {
        lit->mantissa = lit->mantissa * 10 + (unsigned)digit;
        lit->digits += lit->mantissa != 0;
    } else {
        lit->exponent++;
        lit->cut = lit->cut || digit != 0;
    }
}

/* Takes the digits at `at`; returns their end. */
static size_t
scan_digits(struct writ_view text, size_t at, struct literal *lit)
{
    for (; is_digit(text, at); at++) {
        add_digit(lit, text.ptr[at] - '0');
    }
    return at;
}

/* The part from 'e' on; false when it has no digits. */
static bool
scan_exponent(struct writ_view text, size_t *at, struct literal *lit)
{
    bool negative = false;
    int value = 0;

    ++*at;
    if (*at < text.len && (text.ptr[*at] == '+' || text.ptr[*at] == '-')) {
        negative = text.ptr[*at] == '-';
        ++*at;
    }
    if (!is_digit(text, *at)) {
        return false;
    }
    for (; is_digit(text, *at); ++*at) {
        value = value < EXPONENT_MAX ? value * 10 + (text.ptr[*at] - '0') : value;
    }
    lit->exponent += negative ? -value : value;
    return true;
}

static bool
scan(struct writ_view text, struct literal *lit)
{
    size_t at = 0;

    if (at < text.len && text.ptr[at] == '-') {
        lit->negative = true;
        at++;
    }
    if (!is_digit(text, at)) {
        return false;
    }
    at = text.ptr[at] == '0' ? at + 1 : scan_digits(text, at, lit);
    if (at < text.len && text.ptr[at] == '.') {
        size_t point = at + 1;
        at = scan_digits(text, point, lit);
        if (at == point) {
            return false;
        }
        lit->exponent -= (int)(at - point);
    }
    if (at < text.len && (text.ptr[at] | 0x20) == 'e' && !scan_exponent(text, &at, lit)) {
        return false;
    }
    lit->len = at;
    return true;
}

/* Both are exact in a double, so that one division or multiplication rounds once (W. D. Clinger,
 * "How to Read Floating Point Numbers Accurately", 1990). */
static bool
read_small(const struct literal *lit, double *ret)
{
    static const double powers[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
        1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    double value = (double)lit->mantissa;

    if (lit->mantissa == 0) {
        *ret = lit->negative ? -0.0 : 0.0;
        return true;
    }
    if (lit->cut || lit->mantissa > UINT64_C(1) << 53 || lit->exponent < -22 ||
        lit->exponent > 22) {
        return false;
    }
    value = lit->exponent < 0 ? value / powers[-lit->exponent] : value * powers[lit->exponent];
    *ret = lit->negative ? -value : value;
    return true;
}

static pthread_once_t c_locale_once = PTHREAD_ONCE_INIT;
static locale_t c_locale;

static void
make_c_locale(void)
{
    c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

/* The C library reads any number of digits correctly. */
static writ_result
read_any(struct writ_view text, double *ret)
{
    char copy[WRIT_NUMBER_MAX + 1];

    (void)pthread_once(&c_locale_once, make_c_locale);
    if (c_locale == (locale_t)0) {
        return (writ_result){WRIT_E_NOMEM};
    }
    memcpy(copy, text.ptr, text.len);
    copy[text.len] = '\0';
    *ret = strtod_l(copy, NULL, c_locale);
    return WRIT_DONE;
}

WRIT_RESULT
writ_number_prefix(struct writ_view text, size_t max, size_t *ret_len, double *ret)
{
    struct literal lit = {.len = 0};
    double value;

    if (max > WRIT_NUMBER_MAX) {
        max = WRIT_NUMBER_MAX;
    }
    if (text.len > max + 1) {
        text.len = max + 1; /* so that no count below can overflow */
    }
    if (!scan(text, &lit)) {
        /* a number that the cut broke is too long, whatever its rest is */
        return (writ_result){text.len > max ? WRIT_E_LIMIT : WRIT_E_PARSE};
    }
    if (lit.len > max) {
        return (writ_result){WRIT_E_LIMIT};
    }
    if (!read_small(&lit, &value)) {
        WRIT_TRY(read_any(writ_view(text.ptr, lit.len), &value));
    }
    if (isinf(value)) {
        return (writ_result){WRIT_E_INVALID};
    }
    *ret_len = lit.len;
    *ret = value;
    return WRIT_DONE;
}

WRIT_RESULT
writ_number_read(struct writ_view text, double *ret)
{
    size_t len;
    double value;

    WRIT_TRY(writ_number_prefix(text, WRIT_NUMBER_MAX, &len, &value));
    if (len != text.len) {
        return (writ_result){WRIT_E_PARSE};
    }
    *ret = value;
    return WRIT_DONE;
}
