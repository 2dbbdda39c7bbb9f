/* The Schubfach method (Raffaello Giulietti, "The Schubfach way to render doubles", 2021), with
 * one-digit results allowed, as ECMAScript wants them.
 *
 * A double c * 2^q owns the decimals in its rounding interval. With 10^k the greatest power of ten
 * that is not wider than the interval, either a multiple of 10^(k+1) lies in it (at most one, and
 * then it is the shortest), or the answer is one of the two multiples of 10^k beside the double.
 * All comparisons are made on quarters of the unit 10^k, from one 128-bit product with
 * g(k) = floor(10^-k * 2^r) + 1, cut to 126 bits: the paper proves that this is precise enough
 * when bits that fall off are remembered in the last one ("round to odd").
 *
 * The 617 values g(k) are computed at first use with long arithmetic, from nothing but 10. */
#include "base/shortest.h"
#include "base/result.h"

#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>

#define MANTISSA_BITS  52
#define EXPONENT_LEAST (-1074) /* q of the subnormal numbers */
#define POWER_LEAST    (-292)  /* 10^-292 to 10^324 are needed */
#define POWER_MOST     324
#define LONG_WORDS     19 /* 1216 bits: 10^324 has 1077; 2^1152 / 10^292 still has 182 */
#define LOW_63         (UINT64_MAX >> 1)

struct power {
    uint64_t high, low; /* 63 bits each */
};

static struct power powers[POWER_MOST - POWER_LEAST + 1];
static pthread_once_t powers_once = PTHREAD_ONCE_INIT;

/* The 126 bits from the highest set one on, plus 1. Bits below the number are 0. */
static struct power
leading_bits(const uint64_t words[LONG_WORDS])
{
    int top = LONG_WORDS - 1;
    struct power power = {0, 0};

    while (words[top] == 0) {
        top--;
    }
    int highest = top * 64 + 63 - __builtin_clzll(words[top]);
    for (int bit = highest; bit > highest - 126; bit--) {
        uint64_t set = bit >= 0 ? words[bit / 64] >> (bit % 64) & 1 : 0;
        power.high = (power.high << 1 | power.low >> 62) & LOW_63;
        power.low = (power.low << 1 | set) & LOW_63;
    }
    power.low++;
    WRIT_INVARIANT(power.low <= LOW_63); /* no power of ten has 63 one bits there */
    return power;
}

static void
multiply_by_ten(uint64_t words[LONG_WORDS])
{
    uint64_t carry = 0;

    for (int i = 0; i < LONG_WORDS; i++) {
        unsigned __int128 product = (unsigned __int128)words[i] * 10 + carry;
        words[i] = (uint64_t)product;
        carry = (uint64_t)(product >> 64);
    }
}

/* Rounding down again and again is the same as once: floor(floor(x / 10) / 10) = floor(x / 100). */
static void
divide_by_ten(uint64_t words[LONG_WORDS])
{
    uint64_t rest = 0;

    for (int i = LONG_WORDS - 1; i >= 0; i--) {
        unsigned __int128 part = (unsigned __int128)rest << 64 | words[i];
        words[i] = (uint64_t)(part / 10);
        rest = (uint64_t)(part % 10);
    }
}

static void
make_powers(void)
{
    uint64_t words[LONG_WORDS] = {1};

    for (int n = 0; n <= POWER_MOST; n++) {
        powers[n - POWER_LEAST] = leading_bits(words);
        multiply_by_ten(words);
    }
    memset(words, 0, sizeof words);
    words[LONG_WORDS - 1] = 1; /* 2^1152 */
    for (int n = -1; n >= POWER_LEAST; n--) {
        divide_by_ten(words);
        powers[n - POWER_LEAST] = leading_bits(words);
    }
}

/* floor(log10(2^e)), floor(log10(3/4 * 2^e)) and floor(log2(10^e)), for all e that occur: the
 * constants are log10(2) * 2^41, log10(3/4) * 2^41 and log2(10) * 2^38, rounded down. */
static int
log10_of_pow2(int e)
{
    return (int)(e * INT64_C(661971961083) >> 41);
}

static int
log10_of_three_quarters_pow2(int e)
{
    return (int)((e * INT64_C(661971961083) - INT64_C(274743187321)) >> 41);
}

static int
log2_of_pow10(int e)
{
    return (int)(e * INT64_C(913124641741) >> 38);
}

static uint64_t
high_half(uint64_t a, uint64_t b)
{
    return (uint64_t)((unsigned __int128)a * b >> 64);
}

/* floor(g * c / 2^127), with the last bit set when anything fell off. */
static uint64_t
scale(struct power g, uint64_t c)
{
    uint64_t low = high_half(g.low, c);
    uint64_t middle = (g.high * c >> 1) + low;
    uint64_t whole = high_half(g.high, c) + (middle >> 63);

    return whole | ((middle & LOW_63) + LOW_63) >> 63;
}

/* The decimal ret * 10^ret_k for c * 2^q. */
static uint64_t
shortest_of(int q, uint64_t c, int *ret_k)
{
    /* below a power of two the doubles are twice as dense, so the interval is uneven */
    bool even_sided = c != UINT64_C(1) << MANTISSA_BITS || q == EXPONENT_LEAST;
    int k = even_sided ? log10_of_pow2(q) : log10_of_three_quarters_pow2(q);
    int shift = q + log2_of_pow10(-k) + 2;
    struct power g = powers[-k - POWER_LEAST];
    uint64_t quarters = c << 2;
    uint64_t odd = c & 1; /* the ends of the interval round to an even c only */
    uint64_t value = scale(g, quarters << shift);
    uint64_t least = scale(g, (quarters - (even_sided ? 2 : 1)) << shift) + odd;
    uint64_t most = scale(g, (quarters + 2) << shift) - odd;
    uint64_t below = value >> 2, above = below + 1;
    bool below_in, above_in;

    *ret_k = k;
    if (below >= 10) {
        uint64_t tens_below = below / 10 * 10, tens_above = tens_below + 10;
        below_in = least <= tens_below << 2;
        above_in = tens_above << 2 <= most;
        if (below_in != above_in) {
            return below_in ? tens_below : tens_above;
        }
    }
    below_in = least <= below << 2;
    above_in = above << 2 <= most;
    if (below_in != above_in) {
        return below_in ? below : above;
    }
    /* both read back: the nearer one, the even one of two equally near */
    uint64_t middle = (below + above) << 1;
    return value < middle || (value == middle && (below & 1) == 0) ? below : above;
}

int
writ_shortest_digits(double number, char ret_digits[WRIT_SHORTEST_DIGITS], int *ret_point)
{
    char reversed[20];
    int k, count = 0;
    uint64_t bits, c, decimal;

    WRIT_INVARIANT(isfinite(number) && number > 0);
    (void)pthread_once(&powers_once, make_powers);
    memcpy(&bits, &number, sizeof bits);
    c = bits & ((UINT64_C(1) << MANTISSA_BITS) - 1);
    int exponent = (int)(bits >> MANTISSA_BITS);
    if (exponent == 0) {
        decimal = shortest_of(EXPONENT_LEAST, c, &k);
    } else {
        decimal = shortest_of(EXPONENT_LEAST + exponent - 1, c | UINT64_C(1) << MANTISSA_BITS, &k);
    }

    for (; decimal % 10 == 0; decimal /= 10) {
        k++;
    }
    for (; decimal > 0; decimal /= 10) {
        reversed[count++] = (char)('0' + decimal % 10);
    }
    WRIT_INVARIANT(count <= WRIT_SHORTEST_DIGITS);
    for (int i = 0; i < count; i++) {
        ret_digits[i] = reversed[count - 1 - i];
    }
    *ret_point = k + count;
    return count;
}
