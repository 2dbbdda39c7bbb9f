/* extreme.h - the greatest (or least) numbers of one place, and which bound they give. */
#ifndef WRIT_POLICY_EXTREME_H
#define WRIT_POLICY_EXTREME_H

#include "base/decimal.h"
#include "policy/learn/seen.h"

#define WRIT_EXTREME_MAX 16 /* distinct numbers that are kept, the outermost ones */

struct writ_extreme {
    bool low; /* the least ones */
    size_t n;
    struct {
        struct writ_decimal at;
        struct writ_sighting seen;
    } items[WRIT_EXTREME_MAX]; /* the outermost first */
};

/** WRIT_E_NOMEM. */
WRIT_RESULT writ_extreme_add(
    struct writ_extreme *extreme, const struct writ_decimal *at, struct writ_seen_in *in);

/** The bound: the outermost number; `widened`: the next of 1, 2, 5, 10, 20, 50 ... outwards (for
 * the least one, 1 or 0 when it is not negative). */
struct writ_decimal writ_extreme_bound(const struct writ_extreme *extreme, bool widened);

/** The calls that would have been refused if their run (call) had not been seen. At least: numbers
 * that are not kept are not counted. */
uint64_t writ_extreme_cost(const struct writ_extreme *extreme, bool widened, bool by_run);

/** The first call beyond what the other runs (calls) allow; the empty view without one. */
struct writ_view writ_extreme_first(
    const struct writ_extreme *extreme, size_t nth, bool widened, bool by_run);

#endif
