/* policy.h - decides whether a call may run. Pure and total: a call goes in, a verdict comes out,
 * and a call that cannot be evaluated is a deny that names the rule. No I/O, no clock, no state of
 * its own: the same call under the same policy_digest always gets the same verdict.
 *
 * Zero means no: a tool that no rule lists, an argument value that no constraint names, a scope
 * that cannot be made, a limit that is reached: all are denies. docs/policy.md explains every
 * option and every op.
 *
 * Everything here is safe to use from many threads at once on one configuration. Results live in
 * the caller's arena or in the configuration, and end with the first of them. */
#ifndef WRIT_POLICY_POLICY_H
#define WRIT_POLICY_POLICY_H

#include "evidence/json/digest.h"
#include "evidence/json/json.h"
#include "evidence/record/budget.h"
#include "evidence/record/reason.h"
#include "policy/model/rule.h"

#define WRIT_SCOPE_MAX 4096 /* longest scope or target that a template may give */

/** A call about to be judged. All borrowed. */
struct writ_policy_call {
    const struct writ_agent *agent;
    struct writ_view upstream, tool;   /* the upstream's own name of the tool */
    const struct writ_json *arguments; /* an object; anything else (also NULL) is a deny */
};

enum writ_policy_answer {
    WRIT_POLICY_DENY = 0,
    WRIT_POLICY_ALLOW,
};

struct writ_verdict {
    enum writ_policy_answer answer;
    enum writ_reason reason;           /* the reason against it; for allow the one of an allowed
                                        * call */
    const struct writ_tool_rule *rule; /* the rule that decided; NULL when none matched */
    bool shadow;                       /* report the verdict, let the call run */
    struct writ_view scope;            /* normalized_scope; {NULL, 0} when it cannot be made */
    struct writ_view target;           /* {NULL, 0} without one */
    struct writ_view argument;         /* JSON Pointer of the argument at fault; or empty */
    struct writ_view constraint;       /* the failing entry, e.g. "amount le"; else empty */
    struct writ_view accepted;         /* for the caller; may be empty */
    struct writ_view hint;             /* a common mistake about that; mostly empty */
    struct writ_views policy_refs;     /* rules that were evaluated; at least one */
    const struct writ_reservation *reservations; /* for the claim's transaction; allow only */
    size_t reservations_n;
    const struct writ_budget *too_small;  /* its limit is below the amount of this call alone */
    const struct writ_approval *approval; /* an allow that needs it first; NULL: none */
};

/**
 * The rule for a tool and an agent, without a call: for tools/list, and for settings.
 * The exact name wins, then patterns in the order of the file; of a list of rules the first whose
 * agents, roles and tenants all match. A listed tool whose rules all name others has no rule.
 *
 * @param why  written when NULL is returned: WRIT_REASON_UPSTREAM_NOT_LISTED,
 *             WRIT_REASON_TOOL_NOT_LISTED or WRIT_REASON_AGENT_NOT_PERMITTED; may be NULL
 */
const struct writ_tool_rule *writ_policy_find(const struct writ_config *config,
    const struct writ_agent *agent, struct writ_view upstream, struct writ_view tool,
    enum writ_reason *why);

/**
 * Judges one call: the rule, closed coverage of the arguments, constraints, scope and target,
 * amounts for the budgets. Total: even an exhausted arena is a deny (WRIT_REASON_POLICY_ERROR, or
 * WRIT_REASON_CONSTRAINT_ERROR where it stops a constraint).
 *
 * @param config  borrowed; what `ret` points to in it lives as long as the configuration
 * @param arena   for scope, target and reservations
 * @param ret     always written completely
 */
void writ_policy_decide(const struct writ_config *config, const struct writ_policy_call *call,
    struct writ_arena *arena, struct writ_verdict *ret);

/** Makes the verdict a deny (number_not_exact) about the number at `pointer`: for a number that
 * goes to the tool beside the arguments. Shadow mode does not override it. */
void writ_policy_refuse_number(struct writ_view pointer, struct writ_verdict *ret);

/** The key of the counter that a call draws on: of `call` agent (id and tenant), upstream and tool.
 * WRIT_E_LIMIT, WRIT_E_NOMEM, WRIT_E_CRYPTO. */
WRIT_RESULT writ_policy_budget_key(
    const struct writ_budget *budget, const struct writ_policy_call *call, struct writ_digest *ret);

/** A request for the target's state, with the call's arguments filled in. */
struct writ_probe_request {
    const struct writ_state_probe *probe;
    struct writ_view uri;              /* RESOURCE, HTTP: values are percent-encoded */
    const struct writ_json *arguments; /* TOOL: an object */
};

/**
 * Fills the state probe of `rule`. Use it only for an allowed call: a probe must not contain
 * arguments that policy refuses.
 *
 * @return WRIT_OK
 *         WRIT_E_ABSENT   an argument that the probe names is not in the call
 *         WRIT_E_INVALID  an argument's type or value is not permitted there (`..` in a URI)
 *         WRIT_E_LIMIT, WRIT_E_NOMEM
 */
WRIT_RESULT writ_policy_probe(const struct writ_tool_rule *rule, const struct writ_json *arguments,
    struct writ_arena *arena, struct writ_probe_request *ret, struct writ_err *err);

#endif
