/* conditions.h - why a rule requires an approval, for voters and operators. Callers do not see it:
 * an agent that knew the conditions could stay below them. */
#ifndef WRIT_POLICY_CONDITIONS_H
#define WRIT_POLICY_CONDITIONS_H

#include "evidence/json/json.h"
#include "policy/decide/approval.h"

/**
 * The conditions under which a call needs the approval, as a canonical JSON array of {condition,
 * found, wants}: each hint of `approval.annotations`, then each entry of `approval.when`, and
 * whether it holds or is unclear.
 *
 * @param hints      of the tool's definition; NULL: unknown
 * @param arguments  of the call
 * @param flow       what its run has to do with it (flow.h), as such an array; may be empty
 * @param ret        in the arena; empty when every call needs the approval
 *
 * WRIT_E_LIMIT, WRIT_E_NOMEM.
 */
WRIT_RESULT writ_conditions_make(const struct writ_approval *approval, const unsigned *hints,
    const struct writ_json *arguments, struct writ_view flow, struct writ_arena *arena,
    struct writ_view *ret, struct writ_err *err);

#endif
