/* approval.h - which calls need an approval, and of whom: `approval` of a rule. */
#ifndef WRIT_POLICY_APPROVAL_H
#define WRIT_POLICY_APPROVAL_H

#include "evidence/record/review.h"
#include "policy/model/constraint.h"
#include "policy/model/rule.h"

/** What a tool's server says of it (2025-11-25, ToolAnnotations), as bits. */
enum writ_hint {
    WRIT_HINT_READ_ONLY = 1,
    WRIT_HINT_DESTRUCTIVE = 2,
    WRIT_HINT_IDEMPOTENT = 4,
    WRIT_HINT_OPEN_WORLD = 8,
};

/** `approval` of a rule, compiled. */
struct writ_approval {
    unsigned hints_asked, hints; /* which of enum writ_hint have to be as they are in `hints` */
    const struct writ_review_config *review;
    const struct writ_constraint_set *when; /* NULL: every call */
    int64_t hold_us;                        /* how long a request waits for the verdict */
    int64_t hold_retry_us;                  /* and one of a caller that was told to come back */
    struct writ_digest rules;               /* of the tool's rules, and of the review */
};

/** Whether a call needs it: unless one of its conditions clearly does not hold. A value that is
 * missing, of another type than is asked for, or that cannot be evaluated is not clear. */
bool writ_approval_needed(const struct writ_approval *approval, const struct writ_json *arguments,
    struct writ_arena *arena);

/** The hints of a tool's definition; what it does not say, or not with true or false, is as MCP has
 * it. */
unsigned writ_approval_hints(const struct writ_json *definition);

/** "readOnlyHint" and so on. Static storage. */
struct writ_view writ_approval_hint_name(enum writ_hint hint);

/** Whether calls of a tool with these hints need it. `hints` NULL: its definition is not known. */
bool writ_approval_annotated(const struct writ_approval *approval, const unsigned *hints);

/** Whether all of these may hold: unless one of them clearly does not. NULL: they do. */
bool writ_approval_may_hold(const struct writ_constraint_set *when,
    const struct writ_json *arguments, struct writ_arena *arena);

/** The texts of `rules` of every approval of a configuration. WRIT_E_NOMEM. */
WRIT_RESULT writ_approval_rules(
    const struct writ_config *config, struct writ_arena *arena, struct writ_views *ret);

/** The subject behind an agent. */
struct writ_view writ_approval_subject(const struct writ_agent *agent);

/**
 * The terms of a review for a call of `agent`: the electorate is everybody but its subject. The
 * digests and the id are the caller's to set.
 *
 * @return WRIT_OK, WRIT_E_INVALID (nobody else is left to decide), WRIT_E_NOMEM
 */
WRIT_RESULT writ_approval_terms(const struct writ_approval *approval,
    const struct writ_agent *agent, struct writ_arena *arena, struct writ_review *ret);

#endif
