/* labels.h - the labels of a tool's results, and the marks of their values. Pure. */
#ifndef WRIT_POLICY_LABELS_H
#define WRIT_POLICY_LABELS_H

#include "evidence/flow/run.h"
#include "evidence/flow/mark.h"
#include "evidence/json/json.h"
#include "policy/model/flow.h"

/**
 * The labels that a result of the tool may bring into the run, before it is known: in the order of
 * bytes, in the arena. Where the server's own labels are believed, those are not among them, and
 * those of `detected` are in `ret_detected`: a result decides about them.
 *
 * @param labels  of the rule; NULL: untrusted
 * @param hints   of the tool's accepted definition (enum writ_hint); NULL: unknown
 *
 * WRIT_E_NOMEM.
 */
WRIT_RESULT writ_labels_expected(const struct writ_labels *labels, const unsigned *hints,
    struct writ_arena *arena, struct writ_views *ret, struct writ_views *ret_detected);

/** Whether the rule may trust a value at this place of a result: a pointer as records have it, with
 * `*` for an index. */
bool writ_labels_may_trust(const struct writ_labels *labels, struct writ_view at);

/**
 * `flow` of the outcome of a call: the labels of its result, and the marks of its values by field.
 *
 * The values are those of `structuredContent`; else of the JSON in its only text; else those of
 * `content`. Pointers of `labels` are into the first two of them, and begin with /content in the
 * last. Member names are no values.
 *
 * Labels of `resources` are recorded with their pattern (`resource`).
 *
 * `detected` looks at the whole result, in WRIT_DETECT_TIME_US for all of its patterns. What a
 * detector cannot answer counts as found. With `untrusted` of it no value of the result is trusted.
 *
 * @param result  the member `result` of the answer, or `error`; NULL: no marks
 * @param unseen  the caller has a result that is not here: `detected` counts as found
 * @param ret     in the arena
 *
 * WRIT_E_LIMIT: the server's own labels are too many or too long, too; the outcome is then recorded
 * without `flow`, and its run has every label.
 *
 * WRIT_E_NOMEM, WRIT_E_LIMIT, WRIT_E_CRYPTO.
 */
WRIT_RESULT writ_labels_outcome(const struct writ_labels *labels, const unsigned *hints,
    const struct writ_json *result, bool unseen, const struct writ_mark_key *key,
    struct writ_arena *arena, struct writ_run_flow *ret, struct writ_err *err);

#endif
