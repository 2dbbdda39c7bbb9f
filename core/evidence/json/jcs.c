/* Writes the canonical form (RFC 8785). A number is written only when its canonical text denotes
 * the number that was read, by exact comparison of decimal digits; otherwise it is refused. */
#include "evidence/json/jcs.h"

#include "base/decimal.h"
#include "base/shortest.h"
#include "base/text.h"

#include <math.h>

#define EXACT_BELOW   9007199254740992.0 /* 2^53: below it every integer is a double */
#define EXPONENT_MOST 100000             /* more than any double has */

/* ---- numbers (RFC 8785 3.2.2.3: ECMA-262 Number::toString) */

void
writ_jcs_number(struct writ_buf *buf, double number)
{
    char digits[WRIT_SHORTEST_DIGITS];
    int count, point;

    WRIT_INVARIANT(isfinite(number));
    if (fabs(number) < EXACT_BELOW && number == (double)(int64_t)number) {
        writ_buf_i64(buf, (int64_t)number); /* -0 is 0 here */
        return;
    }
    count = writ_shortest_digits(fabs(number), digits, &point);
    if (number < 0) {
        writ_buf_byte(buf, '-');
    }
    writ_decimal_put_digits(buf, writ_view(digits, (size_t)count), point);
}

size_t
writ_jcs_number_text(double number, char ret[WRIT_JCS_NUMBER_TEXT])
{
    struct writ_buf buf = writ_buf_over(ret, WRIT_JCS_NUMBER_TEXT);

    writ_jcs_number(&buf, number);
    return buf.len;
}

/* The exponent of a literal; `at` is after its 'e'. */
static int
literal_exponent(struct writ_view literal, size_t at)
{
    bool negative = at < literal.len && literal.ptr[at] == '-';
    int value = 0;

    for (at += negative || (at < literal.len && literal.ptr[at] == '+'); at < literal.len; at++) {
        value = value < EXPONENT_MOST ? value * 10 + (literal.ptr[at] - '0') : value;
    }
    return negative ? -value : value;
}

/* Whether the literal, read exactly, is 0.<digits> * 10^point. Without digits: whether it is
 * zero. */
static bool
denotes(struct writ_view literal, struct writ_view digits, int point)
{
    size_t seen = 0; /* digits from the first that is not 0 */
    int scale = 0;   /* the literal is 0.<its digits> * 10^scale */
    bool fraction = false;

    for (size_t at = writ_view_has_prefix(literal, WRIT_LIT("-")); at < literal.len; at++) {
        char c = literal.ptr[at];
        if (c == 'e' || c == 'E') {
            scale += literal_exponent(literal, at + 1);
            break;
        }
        if (c == '.') {
            fraction = true;
        } else if (seen > 0 || c != '0') {
            if (c != (seen < digits.len ? digits.ptr[seen] : '0')) {
                return false;
            }
            seen++;
            scale += !fraction;
        } else {
            scale -= fraction;
        }
    }
    return seen >= digits.len && (seen == 0 || scale == point);
}

static bool
is_spelled_as_integer(struct writ_view literal)
{
    for (size_t i = 0; i < literal.len; i++) {
        if (literal.ptr[i] != '-' && (literal.ptr[i] < '0' || literal.ptr[i] > '9')) {
            return false;
        }
    }
    return true;
}

bool
writ_jcs_is_exact(const struct writ_json *number)
{
    struct writ_view literal = writ_json_text(number);
    double size = fabs(number->number);
    char digits[WRIT_SHORTEST_DIGITS];
    int count = 0, point = 0;

    if (size < EXACT_BELOW && is_spelled_as_integer(literal)) {
        return true; /* the case of nearly every number */
    }
    if (size > 0) {
        count = writ_shortest_digits(size, digits, &point);
    }
    return denotes(literal, writ_view(digits, (size_t)count), point);
}

bool
writ_jcs_all_exact(const struct writ_json *value)
{
    bool array = writ_json_type(value) == WRIT_JSON_ARRAY;

    if (writ_json_type(value) == WRIT_JSON_NUMBER) {
        return writ_jcs_is_exact(value);
    }
    for (const struct writ_json *child = writ_json_first(value); child != NULL;
         child = writ_json_next(value, child)) {
        if (!writ_jcs_all_exact(array ? child : writ_json_value(child))) {
            return false;
        }
    }
    return true;
}

/* The promise of jcs.h: no number is silently rounded to another integer or to zero. */
static bool
has_canonical_form(const struct writ_json *node)
{
    double size = fabs(node->number);

    return (size > 0 && size < EXACT_BELOW) || writ_jcs_is_exact(node);
}

/* ---- values */

/* The treatment of a number that is not exact. */
enum form {
    REFUSING = 0, /* jcs.h */
    ROUNDING,
    LOSSLESS, /* keeps its value */
};

static writ_result put_value(
    struct writ_buf *buf, const struct writ_json *value, enum form form, struct writ_err *err);

/* One text for each value; numbers with more digits than a decimal has are copied. */
static void
put_all_digits(struct writ_buf *buf, const struct writ_json *number)
{
    struct writ_decimal value;

    if (writ_is_ok(writ_decimal_read(writ_json_text(number), &value))) {
        writ_decimal_put(buf, &value);
    } else {
        writ_buf_put(buf, writ_json_text(number));
    }
}

static writ_result
put_number(struct writ_buf *buf, const struct writ_json *node, enum form form, struct writ_err *err)
{
    if (form == LOSSLESS && !writ_jcs_is_exact(node)) {
        put_all_digits(buf, node);
        return WRIT_DONE;
    }
    if (form == REFUSING && !has_canonical_form(node)) {
        WRIT_FAIL_AT(err, WRIT_E_PARSE, node->at,
            node->number == 0 ? "number too close to zero for a double at byte %u"
                              : "number that a double does not hold exactly at byte %u",
            node->at);
    }
    writ_jcs_number(buf, node->number);
    return WRIT_DONE;
}

static void
put_string(struct writ_buf *buf, const struct writ_json *node)
{
    bool as_spelled = node->is_late && node->late->canonical;

    if (node->escaped && !as_spelled) {
        writ_text_json(buf, writ_json_string(node));
        return;
    }
    /* spelled without escapes, so it needs none, or with those of the canonical form */
    writ_buf_byte(buf, '"');
    writ_buf_put(buf, as_spelled ? node->late->source : writ_view(node->ptr, node->len));
    writ_buf_byte(buf, '"');
}

static writ_result
put_array(struct writ_buf *buf, const struct writ_json *array, enum form form, struct writ_err *err)
{
    char before = '[';

    WRIT_JSON_EACH(element, array)
    {
        writ_buf_byte(buf, before);
        WRIT_TRY(put_value(buf, element, form, err));
        before = ',';
    }
    writ_buf_str(buf, array->count == 0 ? "[]" : "]");
    return WRIT_DONE;
}

static writ_result
put_object(
    struct writ_buf *buf, const struct writ_json *object, enum form form, struct writ_err *err)
{
    char before = '{';

    for (const struct writ_json *name = writ_json_sorted_first(object); name != NULL;
         name = writ_json_sorted_next(name)) {
        writ_buf_byte(buf, before);
        put_string(buf, name);
        writ_buf_byte(buf, ':');
        WRIT_TRY(put_value(buf, writ_json_value(name), form, err));
        before = ',';
    }
    writ_buf_str(buf, before == '{' ? "{}" : "}");
    return WRIT_DONE;
}

static writ_result
put_value(struct writ_buf *buf, const struct writ_json *value, enum form form, struct writ_err *err)
{
    switch (writ_json_type(value)) {
    case WRIT_JSON_NONE:
        break;
    case WRIT_JSON_NULL:
        writ_buf_put(buf, WRIT_LIT("null"));
        return WRIT_DONE;
    case WRIT_JSON_FALSE:
        writ_buf_put(buf, WRIT_LIT("false"));
        return WRIT_DONE;
    case WRIT_JSON_TRUE:
        writ_buf_put(buf, WRIT_LIT("true"));
        return WRIT_DONE;
    case WRIT_JSON_NUMBER:
        return put_number(buf, value, form, err);
    case WRIT_JSON_STRING:
        put_string(buf, value);
        return WRIT_DONE;
    case WRIT_JSON_ARRAY:
        return put_array(buf, value, form, err);
    case WRIT_JSON_OBJECT:
        return put_object(buf, value, form, err);
    }
    WRIT_INVARIANT(!"a JSON value has a type");
    return WRIT_DONE;
}

WRIT_RESULT
writ_jcs_put(struct writ_buf *buf, const struct writ_json *value, struct writ_err *err)
{
    WRIT_TRY(put_value(buf, value, REFUSING, err));
    return writ_buf_check(buf, err);
}

WRIT_RESULT
writ_jcs_put_rounded(struct writ_buf *buf, const struct writ_json *value, struct writ_err *err)
{
    WRIT_TRY(put_value(buf, value, ROUNDING, err));
    return writ_buf_check(buf, err);
}

WRIT_RESULT
writ_jcs_put_lossless(struct writ_buf *buf, const struct writ_json *value, struct writ_err *err)
{
    WRIT_TRY(put_value(buf, value, LOSSLESS, err));
    return writ_buf_check(buf, err);
}

/* ---- order of names */

/* UTF-8 sorts by code points, UTF-16 by units: only the characters from U+10000 (first byte 0xf0
 * and up), which UTF-16 spells with surrogates, come before U+E000 to U+FFFF (0xee, 0xef). */
static int
unit_rank(char byte)
{
    int value = (unsigned char)byte;

    return value == 0xee || value == 0xef ? value + 0x20 : value;
}

int
writ_jcs_compare(struct writ_view a, struct writ_view b)
{
    size_t both = a.len < b.len ? a.len : b.len, at = 0;

    while (both - at >= 8 && writ_view_load64(a.ptr + at) == writ_view_load64(b.ptr + at)) {
        at += 8;
    }
    while (at < both && a.ptr[at] == b.ptr[at]) {
        at++;
    }
    return at < both ? unit_rank(a.ptr[at]) - unit_rank(b.ptr[at])
                     : (a.len > b.len) - (a.len < b.len);
}
