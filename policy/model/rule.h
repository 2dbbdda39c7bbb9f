/* rule.h - the rules of tools, compiled: the permitted calls of one tool, by whom, and the lookup
 * of the rule for a tool. */
#ifndef WRIT_POLICY_RULE_H
#define WRIT_POLICY_RULE_H

#include "base/decimal.h"
#include "evidence/record/budget.h"
#include "evidence/record/duplicates.h"
#include "policy/model/config.h"

#define WRIT_RULES_MAX   64 /* rules of one tool */
#define WRIT_BUDGETS_MAX WRIT_RESERVATIONS_MAX

/** The form of a refusal. */
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
    WRIT_PROBE_MISSING_DENY = 0, /* without a state, the call is refused */
    WRIT_PROBE_MISSING_ABSENT,   /* an unreadable target does not exist, and that is its state */
};

struct writ_template;       /* "files/{path}", compiled: template.h */
struct writ_constraint_set; /* `arguments`, compiled: constraint.h */
struct writ_output_rules;   /* `result`, compiled: output.h */
struct writ_approval;       /* `approval`, compiled: approval.h */
struct writ_budget;         /* one entry of `budgets`, compiled: below */
struct writ_labels;         /* `labels`, compiled: flow.h */
struct writ_yaml;           /* a node of the file: policy/read/yaml.h */

/** `state` of a rule: how the state of the target is observed. */
struct writ_state_probe {
    enum writ_probe_kind kind;
    struct writ_view upstream, tool;     /* TOOL; RESOURCE: upstream alone */
    const struct writ_template *uri;     /* RESOURCE, HTTP */
    const struct writ_template *members; /* TOOL: the arguments */
    struct writ_views select;            /* JSON Pointers that count; none: all of it */
    enum writ_probe_missing on_error;
    int64_t timeout_us;
    struct writ_digest digest; /* of the whole entry */
};

/** What is kept of the contents of calls. Zero: nothing. */
struct writ_retention {
    int64_t keep_us;       /* for how long */
    int64_t results_bytes; /* the longest result; 0: arguments alone */
};

/** One rule: the permitted calls of one tool (or pattern of tools), by whom. */
struct writ_tool_rule {
    struct writ_view ref;                     /* "tools/fs~1write_file#0" */
    const struct writ_yaml *node;             /* where it stands */
    bool agreed;                              /* false: every call is refused */
    struct writ_views agents, roles, tenants; /* exact; none: every caller */
    struct writ_views scopes;                 /* the caller must have all of them; none: any */
    const struct writ_template *scope;        /* NULL: not configured, every call is denied */
    const struct writ_template *target;       /* NULL: none */
    const struct writ_state_probe *state;     /* NULL: none */
    const struct writ_constraint_set *arguments;
    const struct writ_approval *approval;   /* NULL: an allowed call needs none */
    const struct writ_output_rules *result; /* NULL: results pass unchanged */
    const struct writ_labels *labels;       /* NULL: results are untrusted */
    const struct writ_budget *budgets;
    size_t budgets_n;
    enum writ_duplicates duplicates;
    bool repeats_reads; /* FORBID, but a tool with readOnlyHint may run again */
    bool doubts_reads;  /* FORBID by auto: annotations of the tool's server are not trusted */
    enum writ_refusal_form refusal;
    bool shadow; /* the verdict is recorded, the call runs anyway */
    bool pin;    /* only with the accepted definition of the tool */
    bool schema; /* what goes in and out must be valid under it */
    struct writ_retention contents;
    int64_t timeout_us;    /* 0: the upstream's */
    int64_t replay_ttl_us; /* REPLAY: how long a result is kept */
    int64_t replay_bytes;  /* REPLAY: the longest result that is kept */
};

/** One entry of `budgets`. */
struct writ_budget {
    struct writ_view name;
    const struct writ_yaml *node; /* where it stands */
    struct writ_view place;       /* "arguments"-like name for refusals: "budget payments" */
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
    bool pattern;     /* tool is a pattern */
    bool may_be_else; /* a pattern, beside a rule of its upstream with secret arguments: a call may
                         be of that tool under a wrong name, and nothing of it is kept */
    const struct writ_tool_rule *rules;
    size_t rules_n;
    struct writ_views refs; /* of all its rules */
    size_t next;            /* the next entry with the same hash, as index + 1; 0 ends */
};

struct writ_policy {
    const struct writ_tool_entry *entries; /* in the order of the file */
    size_t n;
    struct writ_retention contents; /* of defaults */
    bool hides;                     /* some rule may have secret arguments */
    const size_t *buckets;          /* of exact entries: index + 1; a power of two of them */
    size_t mask;
};

/** The number of buckets that writ_rule_index needs for `n` entries: a power of two. */
size_t writ_rule_buckets(size_t n);

/** Makes the policy of `n` entries, in the order of the file, whose exact names are found by hash.
 * `buckets` has writ_rule_buckets(n) elements; the policy borrows entries and buckets.
 */
void writ_rule_index(
    struct writ_tool_entry *entries, size_t n, size_t *buckets, struct writ_policy *ret);

/** The longest window of any budget; 0: no budget. */
int64_t writ_rule_longest_window(const struct writ_policy *policy);

/** The number of rules in shadow mode, of agreed files. */
size_t writ_rule_shadowed(const struct writ_policy *policy);

/** The first rule that keeps contents; NULL: none does. */
const struct writ_tool_rule *writ_rule_keeps(const struct writ_policy *policy);

/** The entry for a tool: the exact one, else the first pattern that matches; NULL when none. */
const struct writ_tool_entry *writ_rule_entry(
    const struct writ_policy *policy, struct writ_view upstream, struct writ_view tool);

/** Whether an entry is for this tool alone, not by a pattern. */
bool writ_rule_is_named(
    const struct writ_policy *policy, struct writ_view upstream, struct writ_view tool);

/** Whether a rule for the tool has duplicates: auto and does not trust its server. A read-only tool
 * is then refused the second time, though no rule says so. */
bool writ_rule_doubts_reads(
    const struct writ_policy *policy, struct writ_view upstream, struct writ_view tool);

#endif
