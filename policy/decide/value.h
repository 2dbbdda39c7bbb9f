/* value.h - compares values of constraints with arguments, exactly.
 *
 * Numbers are compared as decimals, never as doubles. A number of a call that differs from its
 * canonical form (exact.h) has no answer: it is another number once it is forwarded. */
#ifndef WRIT_POLICY_VALUE_H
#define WRIT_POLICY_VALUE_H

#include "base/decimal.h"
#include "evidence/json/json.h"

/** A number of a call. WRIT_E_LIMIT when it would change in forwarding, or cannot be held exactly.
 * `number` must be a number. */
WRIT_RESULT writ_value_amount(const struct writ_json *number, struct writ_decimal *ret);

enum writ_same {
    WRIT_SAME_UNKNOWN = 0, /* a number cannot be held exactly: an error, neither yes nor no */
    WRIT_SAME_NO,
    WRIT_SAME_YES,
};

/** Whether a value of a call has the type and value of the configured one; numbers exactly, objects
 * in any member order. */
enum writ_same writ_value_same(const struct writ_json *wanted, const struct writ_json *value);

/** True when both have the same type, true and false being one. */
bool writ_value_same_type(const struct writ_json *a, const struct writ_json *b);

#endif
