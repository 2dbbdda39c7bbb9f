/* value_read.h - reads values of constraints.
 *
 * A plain scalar has its type in JSON: a number, true, false, null, or else a string. Where YAML
 * readers disagree (`no`, `~`, `012`, `1_000`, `12:30`, `.5`, a date) it is refused and needs
 * quotes. A quoted scalar is a string. */
#ifndef WRIT_POLICY_VALUE_READ_H
#define WRIT_POLICY_VALUE_READ_H

#include "base/decimal.h"
#include "evidence/json/json.h"
#include "policy/read/option.h"

#define WRIT_VALUE_BYTES_MAX (256 * 1024) /* one value, as JSON text */

/** The value at `node`, in the arena of `o`; NULL after a fault (in the findings). */
const struct writ_json *writ_value_read(struct writ_options *o, const struct writ_yaml *node);

/** A number for lt, le, gt, ge, sums: plain, or quoted to keep its digits. Else a finding. */
bool writ_value_read_number(
    struct writ_options *o, const struct writ_yaml *node, struct writ_decimal *ret);

/** A whole number from 0 to `most`, plain or quoted. Else a finding. */
bool writ_value_read_length(
    struct writ_options *o, const struct writ_yaml *node, uint64_t most, uint64_t *ret);

#endif
