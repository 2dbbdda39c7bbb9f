/* kept.h - which of the arguments of a call are kept, and for how long.
 *
 * The kept form of arguments is their canonical form without secret members. A secret member is
 * absent, and leaves no mark in its object; that something was left out is said beside the form. An
 * element of an array cannot be absent, so an array with a secret element is left out as a whole.
 *
 * Fail closed: what cannot be told from a secret is left out too. When a rule of the tool, for
 * whichever caller, has a secret argument, then of every call of the tool only those values are
 * kept that a constraint of these rules names, each at its own place: not a member without a
 * constraint, not a value of another shape where a secret should be, and not what only a constraint
 * on the object around it covers.
 *
 * Pure, for any thread. */
#ifndef WRIT_POLICY_KEPT_H
#define WRIT_POLICY_KEPT_H

#include "evidence/json/json.h"
#include "policy/model/rule.h"

/**
 * What is kept of a call of this tool.
 *
 * @param rule  the one that decided; NULL: none is for the caller, or none was looked for. Then all
 *              rules of the tool must keep contents, and the shortest time and the smallest result
 *              apply. A tool without a rule has those of `defaults`, unless a rule of any tool has
 *              secret arguments: it may be that tool under a wrong name.
 *
 * Nothing is kept of a tool that only a pattern names, when another rule of its upstream has secret
 * arguments, for the same reason.
 */
struct writ_retention writ_kept_terms(const struct writ_config *config, struct writ_view upstream,
    struct writ_view tool, const struct writ_tool_rule *rule);

/** Whether some rule of the tool has a secret argument. */
bool writ_kept_hides(
    const struct writ_config *config, struct writ_view upstream, struct writ_view tool);

/**
 * Appends the kept form of the arguments of a call of this tool.
 *
 * @param ret_whole  whether nothing was left out: the form is that of the arguments
 *
 * @return WRIT_OK
 *         WRIT_E_PARSE  a number has no canonical form
 *         WRIT_E_LIMIT, WRIT_E_NOMEM  of the buffer
 */
WRIT_RESULT writ_kept_arguments(const struct writ_config *config, struct writ_view upstream,
    struct writ_view tool, const struct writ_json *arguments, struct writ_buf *ret,
    bool *ret_whole);

#endif
