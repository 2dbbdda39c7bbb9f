/* edit.h - the smallest change of a configuration file that lets one call pass where it failed.
 *
 * Each function writes the whole changed text and changes nothing else in it: a value is added to a
 * list, a bound moves to the value of the call, an option is added. The caller reads the result
 * again and judges by it; nothing here decides. Writes no file.
 *
 * All return WRIT_OK; WRIT_E_ABSENT, when no small change is known; WRIT_E_PARSE, WRIT_E_LIMIT,
 * WRIT_E_NOMEM. `ret` is written only on success. */
#ifndef WRIT_POLICY_EDIT_H
#define WRIT_POLICY_EDIT_H

#include "policy/decide/policy.h"
#include "policy/model/constraint.h"
#include "policy/model/rule.h"

/** Lets `value` (NULL: absent) satisfy a constraint. */
WRIT_RESULT writ_edit_constraint(struct writ_view text, const struct writ_constraint *constraint,
    const struct writ_json *value, struct writ_buf *ret);

/** Lets a rule name the leaf at `pointer` of the arguments, with this value alone. */
WRIT_RESULT writ_edit_unlisted(struct writ_view text, const struct writ_tool_rule *rule,
    struct writ_view pointer, const struct writ_json *value, struct writ_buf *ret);

/** Lets a rule be for an agent. */
WRIT_RESULT writ_edit_caller(struct writ_view text, const struct writ_tool_rule *rule,
    const struct writ_agent *agent, struct writ_buf *ret);

/** Adds a rule for the tool, for the call's agent and these arguments alone. */
WRIT_RESULT writ_edit_rule(
    struct writ_view text, const struct writ_policy_call *call, struct writ_buf *ret);

/** Lets the limit of a sum be `amount`. */
WRIT_RESULT writ_edit_budget(struct writ_view text, const struct writ_budget *budget,
    const struct writ_json *amount, struct writ_buf *ret);

/** Lets an included file be agreed. */
WRIT_RESULT writ_edit_agreed(struct writ_view text, struct writ_buf *ret);

/** True when the agent is one that the names permit; no names permit every agent. */
bool writ_edit_permits(const struct writ_views *names, struct writ_view name);

#endif
