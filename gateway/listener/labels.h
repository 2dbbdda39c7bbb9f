/* labels.h - metrics whose labels are names of the configuration: calls by upstream and tool,
 * upstreams that are up, the build.
 *
 * A label is never a name that a caller chose: a tool is named by the key of the rule that decided,
 * as the configuration writes it ("pay", "read_*"), and a call without one is counted as
 * `unlisted`. There are at most WRIT_LABELS_MAX such series; further ones after a reload are
 * counted under "other".
 *
 * Thread-safe: one lock, held for a lookup in a hash table. */
#ifndef WRIT_GATEWAY_LABELS_H
#define WRIT_GATEWAY_LABELS_H

#include "evidence/record/decision.h"
#include "policy/decide/policy.h"

#define WRIT_LABELS_MAX 1024

struct writ_labels;

/** Whether one upstream is up. */
struct writ_labels_upstream {
    struct writ_view name;
    bool up;
};

/** WRIT_E_NOMEM. `ret` is new, free with writ_labels_free; written only on success. */
WRIT_RESULT writ_labels_new(struct writ_labels **ret, struct writ_err *err);
void writ_labels_free(struct writ_labels *labels);

/** Counts a call: by the rule that decided (NULL: none did) and the recorded verdict. `upstream` is
 * a name of the configuration, or empty. */
void writ_labels_count(struct writ_labels *labels, struct writ_view upstream,
    const struct writ_tool_rule *rule, enum writ_decision_route verdict);

/** Appends all of them, and the state of `n` upstreams, in the Prometheus text format. */
void writ_labels_put(struct writ_labels *labels, const struct writ_labels_upstream *upstreams,
    size_t n, struct writ_buf *ret);

#endif
