/* repair.h - edits of a configuration file until it lets one call pass, and the rule that is
 * nearest to letting it pass. Judges with the code of the gateway after each edit; writes no file.
 */
#ifndef WRIT_POLICY_REPAIR_H
#define WRIT_POLICY_REPAIR_H

#include "policy/decide/evaluate.h"
#include "policy/decide/policy.h"
#include "policy/model/constraint.h"

/** A rule of the tool, and what about it does not let the call pass. */
struct writ_repair_near {
    const struct writ_tool_rule *rule;       /* NULL: none */
    size_t refusals;                         /* constraints that refuse the arguments */
    const struct writ_constraint *refusing;  /* the first of them; NULL: an argument has none */
    struct writ_constraint_failure *failure; /* in the arena; NULL: without refusals */
    unsigned strangers;                      /* of agent, role and tenant, those that it excludes */
};

/** The agreed rule of the tool, other than `but` (may be NULL), that fewest constraints keep from
 * letting the call pass, and of those the one that is most nearly for its caller. Arguments that
 * are NULL refuse nothing. */
void writ_repair_nearest(const struct writ_config *config, const struct writ_policy_call *call,
    const struct writ_tool_rule *but, struct writ_arena *arena, struct writ_repair_near *ret);

/** The file that the edits of this call are made in. NUL-terminated. */
struct writ_view writ_repair_file(const struct writ_config *config,
    const struct writ_policy_call *call, struct writ_arena *arena);

/**
 * Judges the call, and makes one edit against the verdict.
 *
 * @param config       read with `text` as the content of `file`
 * @param ret_allowed  the configuration allows the call, and nothing was edited
 * @param ret          the whole edited text; a call may need several edits
 *
 * @return WRIT_OK
 *         WRIT_E_ABSENT  no small edit is known
 *         WRIT_E_PARSE, WRIT_E_LIMIT, WRIT_E_NOMEM
 */
WRIT_RESULT writ_repair_step(const struct writ_config *config, const struct writ_policy_call *call,
    struct writ_view file, struct writ_view text, struct writ_arena *arena, bool *ret_allowed,
    struct writ_buf *ret);

#endif
