/* rejudge_groups.h - the changes of a replay: how many, by tool, agent and constraint, and the
 * smallest example of each. Memory does not grow with the number of calls: beyond
 * WRIT_REJUDGE_GROUPS_MAX groups a change is counted, and has no group. One thread. */
#ifndef WRIT_POLICY_REJUDGE_GROUPS_H
#define WRIT_POLICY_REJUDGE_GROUPS_H

#include "policy/replay/rejudge.h"

#define WRIT_REJUDGE_GROUPS_MAX  4096
#define WRIT_REJUDGE_EXAMPLE_MAX 2048 /* bytes of an example's arguments that are kept */

/** Changes of the same kind, cause, tool and agent. Texts are the group's own. */
struct writ_rejudge_group {
    struct writ_rejudge_group *next; /* of its bucket */
    uint64_t hash;
    enum writ_rejudge_change change;
    enum writ_effect was;
    enum writ_reason reason, was_reason; /* NONE for an allowed call */
    struct writ_view upstream, tool;     /* as recorded */
    struct writ_view tenant, agent;
    /* of the refusal or the review, now or, for an allowed call, before */
    struct writ_view argument; /* a number in it is written as "*": an element of a list */
    struct writ_view constraint;
    const struct writ_tool_rule *rule; /* that decides now; NULL: none */
    uint64_t calls;
    size_t bytes;              /* of the smallest arguments */
    struct writ_buf example;   /* its decision_id */
    struct writ_buf arguments; /* its arguments, when they are kept and fit */
    int64_t issued_us;         /* of the example */
};

struct writ_rejudge_groups {
    struct writ_rejudge_group *list[WRIT_REJUDGE_GROUPS_MAX]; /* in the order of the first call */
    size_t n;
    struct writ_rejudge_group *buckets[2 * WRIT_REJUDGE_GROUPS_MAX];
    uint64_t changes[WRIT_REJUDGE_CHANGES_N]; /* by kind; SAME counts the calls without a change */
    uint64_t unknown;
    uint64_t others; /* changes without a group */
    bool keeps_arguments;
    struct writ_arena *arena; /* of the texts */
};

/** Empty groups; NULL without memory. Free with writ_rejudge_groups_free. */
struct writ_rejudge_groups *writ_rejudge_groups_new(bool keeps_arguments);
/** Overwrites kept arguments. NULL is permitted. */
void writ_rejudge_groups_free(struct writ_rejudge_groups *groups);

/** One call: the two verdicts about it, and its arguments in canonical form, borrowed for the
 * call. */
struct writ_rejudge_comparison {
    const struct writ_past *past;
    const struct writ_rejudge_verdict *before, *after;
    struct writ_view arguments;
};

/** Counts it. WRIT_E_NOMEM. */
WRIT_RESULT writ_rejudge_groups_add(struct writ_rejudge_groups *groups,
    const struct writ_rejudge_comparison *one, struct writ_err *err);

/** Puts the groups in the order of a report: by change, then the most calls first, then by the
 * names of tool, agent and constraint. */
void writ_rejudge_groups_sort(struct writ_rejudge_groups *groups);

#endif
