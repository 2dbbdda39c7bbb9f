/* detectors.h - reads `detectors`, and lists of names of detectors. */
#ifndef WRIT_POLICY_READ_DETECTORS_H
#define WRIT_POLICY_READ_DETECTORS_H

#include "policy/detect/detector.h"
#include "policy/read/option.h"
#include "policy/read/raw.h"

/** Reads the file's own detectors into config->detectors and o->detectors. `patterns` as in
 * writ_compile_constraints. */
void writ_detectors_read(struct writ_options *o, const struct writ_yaml *node,
    struct writ_config *config, struct writ_pattern_list **patterns);

/** The detectors that a name or a list of names stands for, each a name or a pattern such as
 * secret.*. NULL with a finding: also for a name of which there is none. */
const struct writ_detector_set *writ_detectors_named(
    struct writ_options *o, const struct writ_yaml *node);

/** Appends the names as written: "secret.*, card.number". */
void writ_detectors_tell(const struct writ_yaml *node, struct writ_buf *ret);

/** Sets config->detecting once everything is read. */
void writ_detectors_used(struct writ_options *o, struct writ_config *config);

#endif
