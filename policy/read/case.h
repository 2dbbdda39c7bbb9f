/* case.h - written calls, judged without a gateway: for `writ explain` and for policy test cases.
 *
 * A call is a JSON object (in a file of cases: YAML):
 *     {"agent": "dev", "tool": "pay/transfer", "arguments": {...},
 *      "target_state_digest": "sha256:...", "boundary_id": "...", "idempotency_key": "..."}
 * agent is the id of a configured agent, or {"id", "tenant", "role", "credential_scope",
 * "credential_tier", "scopes"} (OAuth scopes with spaces between); without it the anonymous agent
 * calls. arguments left out are {}. The last three are needed for digests alone. Unknown members
 * are refused.
 *
 * A file of cases:
 *     config: policy.yaml            # relative to the file of cases
 *     cases:
 *       - name: half a thousand is enough
 *         call: {agent: dev, tool: pay/transfer, arguments: {amount: 500.01, currency: EUR}}
 *         expect: {decision: deny, reason: constraint_failed, constraint: amount le}
 * expect is `allow`, `deny`, `require_approval`, or an object with at least one of the values to
 * compare: decision, reason, argument, constraint, scope, target, shadow. */
#ifndef WRIT_POLICY_CASE_H
#define WRIT_POLICY_CASE_H

#include "policy/decide/policy.h"
#include "policy/read/option.h"

#define WRIT_CASE_FILE_MAX (4 * 1024 * 1024) /* bytes of a file of cases */
#define WRIT_CASE_CALL_MAX (1024 * 1024)     /* bytes of a file with one call */
#define WRIT_CASES_MAX     16384             /* cases of one file */

struct writ_case_call {
    struct writ_agent agent;
    struct writ_view upstream, tool;
    const struct writ_json *arguments;
    struct writ_view target_state_digest; /* ptr NULL: not stated */
    struct writ_view boundary_id, idempotency_key;
};

/**
 * Reads a call.
 *
 * @param value  as described above; borrowed as long as the call is used
 * @return WRIT_OK, WRIT_E_INVALID (err has the fault), WRIT_E_NOMEM
 */
WRIT_RESULT writ_case_call(const struct writ_json *value, const struct writ_config *config,
    struct writ_arena *arena, struct writ_case_call *ret, struct writ_err *err);

/** The call as policy judges it; borrows from `call`. */
struct writ_policy_call writ_case_policy_call(const struct writ_case_call *call);

/** One case of a file. */
struct writ_case {
    struct writ_view name; /* empty: none given */
    size_t line;
    const struct writ_json *call, *expect; /* NULL call: faulty, with a finding */
};

struct writ_case_file {
    struct writ_view config; /* as written */
    const struct writ_case *cases;
    size_t n;
};

/**
 * Reads a file of cases.
 *
 * @param findings  gets every fault; then `ret` is not written
 * @return WRIT_OK, WRIT_E_PARSE, WRIT_E_INVALID, WRIT_E_LIMIT, WRIT_E_NOMEM
 */
WRIT_RESULT writ_case_file(struct writ_view text, struct writ_arena *arena,
    struct writ_findings *findings, struct writ_case_file *ret);

/**
 * Runs one case.
 *
 * @param ret_passed  whether the verdict is the expected one
 * @param ret         the verdict, in the arena
 * @param difference  the difference as one line; empty when passed
 * @return WRIT_OK, WRIT_E_INVALID (the case is faulty), WRIT_E_NOMEM
 */
WRIT_RESULT writ_case_run(const struct writ_config *config, const struct writ_case *one,
    struct writ_arena *arena, bool *ret_passed, struct writ_verdict *ret,
    struct writ_buf *difference, struct writ_err *err);

/** Appends a verdict as one JSON object: decision, reason, rule, policy_refs, scope, target,
 * constraint, accepted, shadow. */
void writ_case_put(const struct writ_verdict *verdict, struct writ_buf *ret);

/** "allow", "require_approval" or "deny". */
const char *writ_case_decision(const struct writ_verdict *verdict);

/** The reason of that. */
enum writ_reason writ_case_reason(const struct writ_verdict *verdict);

#endif
