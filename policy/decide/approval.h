/* approval.h - `approval` of a rule: the calls that need an approval, and its voters. */
#ifndef WRIT_POLICY_APPROVAL_H
#define WRIT_POLICY_APPROVAL_H

#include "evidence/record/review.h"
#include "policy/model/constraint.h"
#include "policy/model/rule.h"

/** The annotations of a tool by its server (2025-11-25, ToolAnnotations), as bits. */
enum writ_hint {
    WRIT_HINT_READ_ONLY = 1,
    WRIT_HINT_DESTRUCTIVE = 2,
    WRIT_HINT_IDEMPOTENT = 4,
    WRIT_HINT_OPEN_WORLD = 8,
};

/** `approval` of a rule, compiled. */
struct writ_approval {
    unsigned hints_asked, hints; /* the bits of enum writ_hint that must be as in `hints` */
    const struct writ_review_config *review;
    const struct writ_constraint_set *when; /* NULL: every call */
    int64_t hold_us;                        /* time that a request waits for the verdict */
    int64_t hold_retry_us;                  /* the same for a caller that returns */
    struct writ_digest rules;               /* of the tool's rules, and of the review */
};

/** Whether a call needs it: yes, unless one of its conditions clearly does not hold. A value that
 * is missing, of another type, or that cannot be evaluated is not clear. */
bool writ_approval_needed(const struct writ_approval *approval, const struct writ_json *arguments,
    struct writ_arena *arena);

/** The hints of a tool's definition; a hint that is missing or not a boolean has the default of
 * MCP. */
unsigned writ_approval_hints(const struct writ_json *definition);

/** "readOnlyHint" and so on. Static storage. */
struct writ_view writ_approval_hint_name(enum writ_hint hint);

/** Whether calls of a tool with these hints need it. `hints` NULL: its definition is unknown. */
bool writ_approval_annotated(const struct writ_approval *approval, const unsigned *hints);

/** Whether all of these may hold: yes, unless one of them clearly does not. NULL: yes. */
bool writ_approval_may_hold(const struct writ_constraint_set *when,
    const struct writ_json *arguments, struct writ_arena *arena);

/** The texts of `rules` of every approval of a configuration. WRIT_E_NOMEM. */
WRIT_RESULT writ_approval_rules(
    const struct writ_config *config, struct writ_arena *arena, struct writ_views *ret);

/** The subject behind an agent. */
struct writ_view writ_approval_subject(const struct writ_agent *agent);

#endif
