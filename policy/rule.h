/* rule.h - `tools` of the configuration, compiled: which rule is for which tool, and budgets. */
#ifndef WRIT_POLICY_RULE_H
#define WRIT_POLICY_RULE_H

#include "policy/compile.h"
#include "policy/policy.h"

#define WRIT_RULES_MAX   64 /* rules of one tool */
#define WRIT_BUDGETS_MAX WRIT_RESERVATIONS_MAX

/** One entry of `budgets`. */
struct writ_budget {
    struct writ_view name;
    struct writ_view place; /* "arguments"-like name for refusals: "budget payments" */
    bool per_agent, per_tenant, per_tool;
    int64_t window_us;
    bool counts_calls;
    struct writ_decimal limit;
    struct writ_view arg;     /* sums: as written */
    struct writ_view pointer; /* sums: as a JSON Pointer; calls: empty */
    struct writ_views tokens; /* sums: the argument */
};

/** One member of `tools`. */
struct writ_tool_entry {
    struct writ_view key, upstream, tool;
    bool pattern; /* tool is a pattern */
    const struct writ_tool_rule *rules;
    size_t rules_n;
    struct writ_views refs; /* of all its rules */
    size_t next;            /* the next entry with the same hash, as index + 1; 0 ends */
};

struct writ_policy {
    const struct writ_tool_entry *entries; /* in the order of the file */
    size_t n;
    const size_t *buckets; /* of exact entries: index + 1; a power of two of them */
    size_t mask;
};

/**
 * Compiles `tools`.
 *
 * @param tools      the map in the file; NULL: no tool may be called
 * @param defaults   what holds where a rule says nothing
 * @param upstreams  the configured ones, for names
 * @param patterns   as in writ_compile_constraints
 *
 * @return the policy, in the arena of `o`; NULL when something was refused, and told
 */
const struct writ_policy *writ_rule_read(struct writ_options *o, const struct writ_yaml *tools,
    const struct writ_raw_defaults *defaults, const struct writ_config *upstreams,
    struct writ_compile_pattern **patterns);

/** The longest window of any budget; 0: there is none. */
int64_t writ_rule_longest_window(const struct writ_policy *policy);

/** The entry for a tool: the exact one, else the first pattern that matches; NULL when none. */
const struct writ_tool_entry *writ_rule_entry(
    const struct writ_policy *policy, struct writ_view upstream, struct writ_view tool);

/** Whether a rule for the tool has duplicates: auto and does not believe its server: a tool that
 * only reads is then refused the second time, though no rule says so. */
bool writ_rule_doubts_reads(
    const struct writ_policy *policy, struct writ_view upstream, struct writ_view tool);

/**
 * Appends everything that can change a decision, as canonical JSON: the preimage of policy_digest.
 *     {"policy":"writ-policy-v1","tools":[{"rules":[...],"tool":"fs/write_file"},...]}
 * with "reviews":{...} behind it where there are any, and "defaults":{...} before it where
 * `defaults` says more than that zero means no. Texts are strings; in values of constraints and
 * arguments of probes numbers are ["n","500.00"], lists ["l",...] and maps ["m",{...}], so that
 * nothing written differently looks the same.
 */
WRIT_RESULT writ_rule_canonical(const struct writ_raw_top *top, const struct writ_yaml *defaults,
    struct writ_arena *arena, struct writ_buf *ret);

/** The digest of one entry of the file in that form. WRIT_E_LIMIT, WRIT_E_NOMEM, WRIT_E_CRYPTO. */
WRIT_RESULT writ_rule_digest(
    const struct writ_yaml *node, struct writ_arena *arena, struct writ_digest *ret);

#endif
