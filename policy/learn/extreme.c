/* The outermost numbers in order, each once. A bound that the outermost run alone reaches would be
 * tighter without that run: the numbers beyond that tighter bound are its cost. */
#include "policy/learn/extreme.h"

static bool
is_beyond(
    const struct writ_extreme *extreme, const struct writ_decimal *a, const struct writ_decimal *b)
{
    int order = writ_decimal_compare(a, b);

    return extreme->low ? order < 0 : order > 0;
}

WRIT_RESULT
writ_extreme_add(
    struct writ_extreme *extreme, const struct writ_decimal *at, struct writ_seen_in *in)
{
    size_t place = 0;

    while (place < extreme->n && is_beyond(extreme, &extreme->items[place].at, at)) {
        place++;
    }
    if (place == WRIT_EXTREME_MAX) {
        return WRIT_DONE;
    }
    if (place == extreme->n || writ_decimal_compare(&extreme->items[place].at, at) != 0) {
        extreme->n += extreme->n < WRIT_EXTREME_MAX ? 1 : 0;
        for (size_t i = extreme->n - 1; i > place; i--) {
            extreme->items[i] = extreme->items[i - 1];
        }
        extreme->items[place].at = *at;
        extreme->items[place].seen = (struct writ_sighting){.calls = 0};
    }
    return writ_seen_sight(&extreme->items[place].seen, in);
}

/* The next of 1, 2, 5 times a power of ten that is not below a positive number. */
static struct writ_decimal
next_round(const struct writ_decimal *at)
{
    static const unsigned char steps[] = {1, 2, 5, 10};
    unsigned __int128 rest = at->coefficient;
    struct writ_decimal found = *at;
    int power = at->exponent;

    while (rest >= 10) {
        rest /= 10;
        power++;
    }
    for (size_t i = 0; i < sizeof steps; i++) {
        found = (struct writ_decimal){
            .coefficient = steps[i] == 10 ? 1 : steps[i], .exponent = power + (steps[i] == 10)};
        if (writ_decimal_compare(&found, at) >= 0) {
            break;
        }
    }
    return found;
}

static struct writ_decimal
widen(const struct writ_decimal *at, bool low)
{
    struct writ_decimal zero = writ_decimal_of(0), one = writ_decimal_of(1), positive;

    if (!low) {
        return writ_decimal_compare(at, &zero) <= 0 ? zero : next_round(at);
    }
    if (writ_decimal_compare(at, &zero) >= 0) {
        return writ_decimal_compare(at, &one) >= 0 ? one : zero;
    }
    positive = writ_decimal_negate(at);
    positive = next_round(&positive);
    return writ_decimal_negate(&positive);
}

struct writ_decimal
writ_extreme_bound(const struct writ_extreme *extreme, bool widened)
{
    struct writ_decimal at = extreme->n > 0 ? extreme->items[0].at : writ_decimal_of(0);

    return widened ? widen(&at, extreme->low) : at;
}

/* How many of the numbers, from the outermost on, one run (call) alone has. */
static size_t
alone(const struct writ_extreme *extreme, bool by_run)
{
    size_t n = 0;

    while (n < extreme->n && writ_seen_sighting_cost(&extreme->items[n].seen, by_run) > 0 &&
           (by_run ? extreme->items[n].seen.run == extreme->items[0].seen.run : n == 0)) {
        n++;
    }
    return n;
}

/* Whether the nth number is one that the bound of the others would refuse. */
static bool
is_refused(const struct writ_extreme *extreme, size_t nth, size_t n, bool widened)
{
    struct writ_decimal bound;

    if (n == extreme->n) {
        return true; /* nothing else is known */
    }
    bound = widened ? widen(&extreme->items[n].at, extreme->low) : extreme->items[n].at;
    return is_beyond(extreme, &extreme->items[nth].at, &bound);
}

uint64_t
writ_extreme_cost(const struct writ_extreme *extreme, bool widened, bool by_run)
{
    size_t n = alone(extreme, by_run);
    uint64_t cost = 0;

    for (size_t i = 0; i < n; i++) {
        cost += is_refused(extreme, i, n, widened) ? extreme->items[i].seen.calls : 0;
    }
    return cost;
}

struct writ_view
writ_extreme_first(const struct writ_extreme *extreme, size_t nth, bool widened, bool by_run)
{
    size_t n = alone(extreme, by_run);

    return nth < n && is_refused(extreme, nth, n, widened) ? extreme->items[nth].seen.decision
                                                           : writ_view(NULL, 0);
}
