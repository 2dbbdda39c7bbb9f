/* sources.h - reads the value of the op `from` (policy/model/flow.h). */
#ifndef WRIT_POLICY_SOURCES_H
#define WRIT_POLICY_SOURCES_H

#include "policy/model/flow.h"
#include "policy/read/option.h"

/** A value whose approval is not read yet: reviews are read with the rule (flows.h). */
struct writ_sources_pending {
    struct writ_from *from;
    const struct writ_yaml *approval;
    struct writ_sources_pending *next;
};

/** The value; its words go to `accepted`. NULL with a finding. Only in `arguments` of a rule, where
 * o->sources is set: an approval is added there. */
const struct writ_from *writ_sources_read(
    struct writ_options *o, const struct writ_yaml *node, struct writ_buf *accepted);

#endif
