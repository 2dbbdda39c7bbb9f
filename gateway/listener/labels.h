/* labels.h - metrics whose labels are names of the configuration: calls and refusals by upstream
 * and tool, budgets, upstreams that are up, the build.
 *
 * A label is never a name that a caller chose: a tool is named by the key of the rule that decided,
 * as the configuration writes it ("pay", "read_*"), and a call without one is counted as
 * `unlisted`. Each metric has at most WRIT_LABEL_SET_MAX series (label_set.h); further ones after a
 * reload are counted under "other".
 *
 * Thread-safe: one lock, held for a lookup in a hash table. */
#ifndef WRIT_GATEWAY_LABELS_H
#define WRIT_GATEWAY_LABELS_H

#include "evidence/record/budget.h"
#include "evidence/record/decision.h"
#include "evidence/record/reason.h"
#include "gateway/listener/label_set.h"
#include "policy/decide/policy.h"

struct writ_labels;

/** Whether one upstream is up. */
struct writ_labels_upstream {
    struct writ_view name;
    bool up;
};

/** One governed call. */
struct writ_labels_call {
    struct writ_view upstream;         /* a name of the configuration, or empty */
    const struct writ_tool_rule *rule; /* that decided; NULL: none did */
    enum writ_decision_route verdict;  /* as recorded */
    enum writ_reason refused;          /* why it did not get its result, or NONE */
};

/** WRIT_E_NOMEM. `ret` is new, free with writ_labels_free; written only on success. */
WRIT_RESULT writ_labels_new(struct writ_labels **ret, struct writ_err *err);
void writ_labels_free(struct writ_labels *labels);

void writ_labels_count(struct writ_labels *labels, const struct writ_labels_call *call);

/** A call drew on a budget, of which `used` is used at the wall time `now_us`. */
void writ_labels_budget(struct writ_labels *labels, const struct writ_labels_call *call,
    const struct writ_reservation *drawn, const struct writ_decimal *used, int64_t now_us);

/** The state of an export: records that wait, and the age of the oldest one. */
struct writ_labels_export {
    struct writ_view name; /* outlives the labels */
    uint64_t waiting;
    int64_t lag_us;
};

/** Sets the state of export `i`, below WRIT_EXPORTS_MAX. Any thread. */
void writ_labels_export(
    struct writ_labels *labels, size_t i, const struct writ_labels_export *state);

/** Appends all of them, and the state of `n` upstreams, in the Prometheus text format. A budget
 * whose window has passed at `now_us` is unused. */
void writ_labels_put(struct writ_labels *labels, const struct writ_labels_upstream *upstreams,
    size_t n, int64_t now_us, struct writ_buf *ret);

#endif
