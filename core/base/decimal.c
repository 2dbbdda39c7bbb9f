/* decimal.c - a sign, a coefficient of up to 34 digits and an exponent, in one normal form, so that
 * equal values have equal members. No operation rounds: a result that does not fit is an error. */
#include "base/decimal.h"

#define PLAIN_MOST  21   /* digits before the point without an exponent */
#define PLAIN_LEAST (-6) /* and zeros after the point */
#define ADD_DIGITS  38   /* 10^38 < 2^127: two numbers of so many digits can be added */

struct reader {
    struct writ_view text;
    size_t at;
};

static bool
is_digit_at(const struct reader *in)
{
    return in->at < in->text.len && in->text.ptr[in->at] >= '0' && in->text.ptr[in->at] <= '9';
}

static bool
take(struct reader *in, char byte)
{
    if (in->at < in->text.len && in->text.ptr[in->at] == byte) {
        in->at++;
        return true;
    }
    return false;
}

/* One or more digits. */
static bool
take_digits(struct reader *in, struct writ_view *ret)
{
    size_t from = in->at;

    while (is_digit_at(in)) {
        in->at++;
    }
    *ret = writ_view_sub(in->text, from, in->at - from);
    return ret->len > 0;
}

/* The value of the exponent, capped at a bound that no text within its limit can bring back. */
static int
exponent_of(struct writ_view digits, bool negative)
{
    const int bound = 1000000;
    int value = 0;

    for (size_t i = 0; i < digits.len && value < bound; i++) {
        value = value * 10 + (digits.ptr[i] - '0');
    }
    return negative ? -value : value;
}

/* The parts of a JSON number. */
struct parts {
    struct writ_view whole, fraction;
    int exponent;
    bool negative;
};

static writ_result
read_parts(struct writ_view text, struct parts *ret)
{
    struct reader in = {text, 0};
    struct writ_view digits;

    *ret = (struct parts){.negative = take(&in, '-')};
    if (!take_digits(&in, &ret->whole) || (ret->whole.len > 1 && ret->whole.ptr[0] == '0')) {
        return (writ_result){WRIT_E_PARSE};
    }
    if (take(&in, '.') && !take_digits(&in, &ret->fraction)) {
        return (writ_result){WRIT_E_PARSE};
    }
    if (take(&in, 'e') || take(&in, 'E')) {
        bool negative = take(&in, '-');
        if (!negative) {
            (void)take(&in, '+');
        }
        if (!take_digits(&in, &digits)) {
            return (writ_result){WRIT_E_PARSE};
        }
        ret->exponent = exponent_of(digits, negative);
    }
    return in.at == text.len ? WRIT_DONE : (writ_result){WRIT_E_PARSE};
}

/* Adds digits to the coefficient. Zeros are held back until a digit follows them, so that those
 * at the end never count. */
static bool
add_digits(struct writ_view digits, unsigned __int128 *coefficient, size_t *zeros, size_t *count)
{
    for (size_t i = 0; i < digits.len; i++) {
        if (digits.ptr[i] == '0') {
            *zeros += 1;
            continue;
        }
        if (*coefficient == 0) {
            *zeros = 0; /* zeros before the first digit do not count */
        }
        if (*zeros >= WRIT_DECIMAL_DIGITS || *count + *zeros + 1 > WRIT_DECIMAL_DIGITS) {
            return false;
        }
        *count += *zeros + 1;
        for (; *zeros > 0; *zeros -= 1) {
            *coefficient *= 10;
        }
        *coefficient = *coefficient * 10 + (unsigned)(digits.ptr[i] - '0');
    }
    return true;
}

static int
digits_in(unsigned __int128 value)
{
    int count = 0;
    uint64_t low;

    for (; value > UINT64_MAX; value /= 10) {
        count++;
    }
    for (low = (uint64_t)value; low > 0; low /= 10) { /* nearly always all of it, and quick */
        count++;
    }
    return count;
}

/* The power of ten that the first digit counts. */
static int
magnitude(const struct writ_decimal *a)
{
    return a->exponent + digits_in(a->coefficient) - 1;
}

/* Zeros at the end of the coefficient become exponent. */
static void
drop_zeros(struct writ_decimal *value)
{
    while (value->coefficient > UINT64_MAX && value->coefficient % 10 == 0) {
        value->coefficient /= 10;
        value->exponent++;
    }
    if (value->coefficient <= UINT64_MAX) { /* nearly always, and quick */
        uint64_t low = (uint64_t)value->coefficient;
        for (; low % 10 == 0; low /= 10) {
            value->exponent++;
        }
        value->coefficient = low;
    }
}

/* Makes the normal form of the value, or fails when a decimal cannot hold it. */
static writ_result
settle(struct writ_decimal value, struct writ_decimal *ret)
{
    int digits, first; /* the number of digits, and the power of ten of the first one */

    if (value.coefficient == 0) {
        *ret = (struct writ_decimal){0};
        return WRIT_DONE;
    }
    drop_zeros(&value);
    digits = digits_in(value.coefficient);
    first = value.exponent + digits - 1;
    if (digits > WRIT_DECIMAL_DIGITS || first > WRIT_DECIMAL_EXPONENT ||
        first < -WRIT_DECIMAL_EXPONENT) {
        return (writ_result){WRIT_E_LIMIT};
    }
    *ret = value;
    return WRIT_DONE;
}

WRIT_RESULT
writ_decimal_read(struct writ_view text, struct writ_decimal *ret)
{
    struct writ_decimal value = {0};
    struct parts parts;
    size_t zeros = 0, count = 0;

    if (text.len > WRIT_DECIMAL_TEXT_MAX) {
        return (writ_result){WRIT_E_LIMIT};
    }
    WRIT_TRY(read_parts(text, &parts));
    if (!add_digits(parts.whole, &value.coefficient, &zeros, &count) ||
        !add_digits(parts.fraction, &value.coefficient, &zeros, &count)) {
        return (writ_result){WRIT_E_LIMIT};
    }
    value.negative = parts.negative;
    value.exponent = parts.exponent - (int)parts.fraction.len + (int)zeros;
    return settle(value, ret);
}

struct writ_decimal
writ_decimal_of(int64_t value)
{
    struct writ_decimal exact = {
        .coefficient = value < 0 ? 0 - (uint64_t)value : (uint64_t)value,
        .negative = value < 0,
    };

    /* 19 digits always fit */
    WRIT_INVARIANT(writ_is_ok(settle(exact, &exact)));
    return exact;
}

static unsigned __int128
scale(unsigned __int128 coefficient, int tens)
{
    for (; tens > 0; tens--) {
        coefficient *= 10;
    }
    return coefficient;
}

/* Both not zero, signs aside. */
static int
compare_sizes(const struct writ_decimal *a, const struct writ_decimal *b)
{
    unsigned __int128 x = a->coefficient, y = b->coefficient;

    if (magnitude(a) != magnitude(b)) {
        return magnitude(a) > magnitude(b) ? 1 : -1;
    }
    /* the first digits stand together, so the one with fewer digits grows to at most 34 */
    x = scale(x, a->exponent - b->exponent);
    y = scale(y, b->exponent - a->exponent);
    return (x > y) - (x < y);
}

static int
sign_of(const struct writ_decimal *a)
{
    if (a->coefficient == 0) {
        return 0;
    }
    return a->negative ? -1 : 1;
}

int
writ_decimal_compare(const struct writ_decimal *a, const struct writ_decimal *b)
{
    int left = sign_of(a), right = sign_of(b);

    if (left != right || left == 0) {
        return (left > right) - (left < right);
    }
    return left * compare_sizes(a, b);
}

WRIT_RESULT
writ_decimal_add(
    const struct writ_decimal *a, const struct writ_decimal *b, struct writ_decimal *ret)
{
    const struct writ_decimal *high = a->exponent > b->exponent ? a : b;
    const struct writ_decimal *low = high == a ? b : a;
    struct writ_decimal sum = {.exponent = low->exponent, .negative = low->negative};
    int tens = high->exponent - low->exponent;
    unsigned __int128 scaled;

    if (sign_of(a) == 0 || sign_of(b) == 0) {
        *ret = sign_of(a) == 0 ? *b : *a;
        return WRIT_DONE;
    }
    /* the last digit of `low` is not 0 and stays, so a wider sum can never be kept */
    if (digits_in(high->coefficient) + tens > ADD_DIGITS) {
        return (writ_result){WRIT_E_LIMIT};
    }
    scaled = scale(high->coefficient, tens);
    if (high->negative == low->negative) {
        sum.coefficient = scaled + low->coefficient;
    } else if (scaled >= low->coefficient) {
        sum.coefficient = scaled - low->coefficient;
        sum.negative = high->negative;
    } else {
        sum.coefficient = low->coefficient - scaled;
    }
    return settle(sum, ret);
}

/* The sums are multiples of 10^a->exponent, and their first digit is not before that of the
 * limit. */
bool
writ_decimal_counts(const struct writ_decimal *a, const struct writ_decimal *limit)
{
    if (a->coefficient == 0 || limit->coefficient == 0) {
        return a->coefficient == 0;
    }
    return magnitude(limit) - a->exponent < WRIT_DECIMAL_DIGITS;
}

struct writ_decimal
writ_decimal_negate(const struct writ_decimal *a)
{
    struct writ_decimal negated = *a;

    negated.negative = a->coefficient != 0 && !a->negative;
    return negated;
}

static void
put_zeros(struct writ_buf *buf, int count)
{
    for (; count > 0; count--) {
        writ_buf_byte(buf, '0');
    }
}

/* The digits with a point after the first `whole` of them. */
static void
put_pointed(struct writ_buf *buf, struct writ_view digits, size_t whole)
{
    writ_buf_put(buf, writ_view_sub(digits, 0, whole));
    if (digits.len > whole) {
        writ_buf_byte(buf, '.');
        writ_buf_put(buf, writ_view_sub(digits, whole, digits.len));
    }
}

void
writ_decimal_put_digits(struct writ_buf *buf, struct writ_view digits, int point)
{
    if (point > PLAIN_MOST || point <= PLAIN_LEAST) {
        put_pointed(buf, digits, 1);
        writ_buf_str(buf, point > 0 ? "e+" : "e");
        writ_buf_i64(buf, point - 1);
    } else if (point <= 0) {
        writ_buf_str(buf, "0.");
        put_zeros(buf, -point);
        writ_buf_put(buf, digits);
    } else {
        put_pointed(buf, digits, (size_t)point < digits.len ? (size_t)point : digits.len);
        put_zeros(buf, point - (int)digits.len);
    }
}

void
writ_decimal_put(struct writ_buf *buf, const struct writ_decimal *a)
{
    char text[WRIT_DECIMAL_DIGITS];
    unsigned __int128 rest = a->coefficient;
    size_t from = sizeof text;

    do {
        text[--from] = (char)('0' + (int)(rest % 10));
        rest /= 10;
    } while (rest > 0 && from > 0);
    if (a->negative) {
        writ_buf_byte(buf, '-');
    }
    writ_decimal_put_digits(
        buf, writ_view(text + from, sizeof text - from), (int)(sizeof text - from) + a->exponent);
}
