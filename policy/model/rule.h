/* rule.h - the rules of tools, compiled: what one tool may be called with, by whom, and which rule
 * is for which tool. */
#ifndef WRIT_POLICY_RULE_H
#define WRIT_POLICY_RULE_H

#include "base/decimal.h"
#include "evidence/record/budget.h"
#include "evidence/record/duplicates.h"
#include "policy/model/config.h"

#define WRIT_RULES_MAX   64 /* rules of one tool */
#define WRIT_BUDGETS_MAX WRIT_RESERVATIONS_MAX

/** How the caller is told no. */
enum writ_refusal_form {
    WRIT_REFUSAL_ERROR = 0, /* a JSON-RPC error */
    WRIT_REFUSAL_RESULT,    /* a result with isError */
};

enum writ_probe_kind {
    WRIT_PROBE_NONE = 0,
    WRIT_PROBE_TOOL,
    WRIT_PROBE_RESOURCE,
    WRIT_PROBE_HTTP,
};

enum writ_probe_missing {
    WRIT_PROBE_MISSING_DENY = 0, /* no state, no call */
    WRIT_PROBE_MISSING_ABSENT,   /* the target does not exist, and that is its state */
};

struct writ_template;       /* "files/{path}", compiled: template.h */
struct writ_constraint_set; /* `arguments`, compiled: constraint.h */
struct writ_output_rules;   /* `result`, compiled: output.h */
struct writ_approval;       /* `approval`, compiled: approval.h */
struct writ_budget;         /* one entry of `budgets`, compiled: below */

/** `state` of a rule: how the state of the target is observed. */
struct writ_state_probe {
    enum writ_probe_kind kind;
    struct writ_view upstream, tool;     /* TOOL; RESOURCE: upstream alone */
    const struct writ_template *uri;     /* RESOURCE, HTTP */
    const struct writ_template *members; /* TOOL: the arguments */
    struct writ_views select;            /* JSON Pointers that count; none: everything counts */
    enum writ_probe_missing on_error;
    int64_t timeout_us;
    struct writ_digest digest; /* of all that stands in it */
};

/** One rule: what one tool (or pattern of tools) may be called with, by whom. */
struct writ_tool_rule {
    struct writ_view ref;                     /* "tools/fs~1write_file#0" */
    struct writ_views agents, roles, tenants; /* exact; none: everybody */
    struct writ_views scopes;                 /* the caller must have all of them; none: any */
    const struct writ_template *scope;        /* NULL: not configured, every call is denied */
    const struct writ_template *target;       /* NULL: none */
    const struct writ_state_probe *state;     /* NULL: none */
    const struct writ_constraint_set *arguments;
    const struct writ_approval *approval;   /* NULL: what is allowed needs none */
    const struct writ_output_rules *result; /* NULL: results are let through as they are */
    const struct writ_budget *budgets;
    size_t budgets_n;
    enum writ_duplicates duplicates;
    bool repeats_reads; /* FORBID, but a tool that says readOnlyHint may run again */
    bool doubts_reads;  /* FORBID by auto: what the tool's server says of it is not believed */
    enum writ_refusal_form refusal;
    bool shadow;           /* the verdict is recorded, the call goes through anyway */
    bool pin;              /* only with the accepted definition of the tool */
    int64_t timeout_us;    /* 0: the upstream's */
    int64_t replay_ttl_us; /* REPLAY: how long a result is kept */
    int64_t replay_bytes;  /* REPLAY: the longest result that is kept */
};

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

/** The buckets that writ_rule_index wants for `n` entries: a power of two. */
size_t writ_rule_buckets(size_t n);

/** Makes the policy of `n` entries, in the order of the file, whose exact names are found by hash.
 * `buckets` are as many as writ_rule_buckets says; entries and buckets are borrowed by the policy.
 */
void writ_rule_index(
    struct writ_tool_entry *entries, size_t n, size_t *buckets, struct writ_policy *ret);

/** The longest window of any budget; 0: there is none. */
int64_t writ_rule_longest_window(const struct writ_policy *policy);

/** The entry for a tool: the exact one, else the first pattern that matches; NULL when none. */
const struct writ_tool_entry *writ_rule_entry(
    const struct writ_policy *policy, struct writ_view upstream, struct writ_view tool);

/** Whether a rule for the tool has duplicates: auto and does not believe its server: a tool that
 * only reads is then refused the second time, though no rule says so. */
bool writ_rule_doubts_reads(
    const struct writ_policy *policy, struct writ_view upstream, struct writ_view tool);

#endif
