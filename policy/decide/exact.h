/* exact.h - whether every number of a call reaches the tool as it was written.
 *
 * The forwarded form is canonical, and its numbers are doubles. A number with more digits than a
 * double keeps has two values: a rule would compare the one (`ne 100` holds for
 * 99.9999999999999999999), and the tool would read the other (100). Policy refuses such a call
 * before it compares anything, so that every rule, budget, review and digest has the same value. */
#ifndef WRIT_POLICY_EXACT_H
#define WRIT_POLICY_EXACT_H

#include "evidence/json/json.h"

/** True when all of them do. On false `inexact` (which may be NULL) gets the JSON Pointer of the
 * first that does not. */
bool writ_exact_holds(const struct writ_json *value, struct writ_buf *inexact);

#endif
