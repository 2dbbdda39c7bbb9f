/* value.h - values of constraints: made from the configuration, compared exactly with arguments.
 *
 * A plain scalar is what JSON says it is: a number, true, false, null, or else a string. Where
 * YAML readers disagree (`no`, `~`, `012`, `1_000`, `12:30`, `.5`, a date) it is refused and has to
 * be put in quotes. A quoted scalar is a string.
 *
 * Numbers are compared as decimals, never as doubles. A number of a call that is not what its
 * canonical form says (exact.h) has no answer: it is another number once it is forwarded. */
#ifndef WRIT_POLICY_VALUE_H
#define WRIT_POLICY_VALUE_H

#include "base/decimal.h"
#include "evidence/json.h"
#include "policy/option.h"

#define WRIT_VALUE_BYTES_MAX (256 * 1024) /* one value, as JSON text */

/** The value at `node`, in the arena of `o`; NULL when it was refused, and told. */
const struct writ_json *writ_value_read(struct writ_options *o, const struct writ_yaml *node);

/** A number for lt, le, gt, ge, sums: plain, or quoted to keep its digits. Told when it is none. */
bool writ_value_number(
    struct writ_options *o, const struct writ_yaml *node, struct writ_decimal *ret);

/** A whole number from 0 to `most`, plain or quoted. Told when it is none. */
bool writ_value_length(
    struct writ_options *o, const struct writ_yaml *node, uint64_t most, uint64_t *ret);

/** A number of a call. WRIT_E_LIMIT when it is not what would be forwarded, or cannot be held
 * exactly. `number` must be a number. */
WRIT_RESULT writ_value_amount(const struct writ_json *number, struct writ_decimal *ret);

enum writ_same {
    WRIT_SAME_UNKNOWN = 0, /* a number cannot be held exactly: an error, neither yes nor no */
    WRIT_SAME_NO,
    WRIT_SAME_YES,
};

/** Whether a value of a call has the type and value that configuration wants; numbers exactly,
 * objects in any member order. */
enum writ_same writ_value_same(const struct writ_json *wanted, const struct writ_json *value);

/** True when both have the same type, true and false being one. */
bool writ_value_same_type(const struct writ_json *a, const struct writ_json *b);

#endif
