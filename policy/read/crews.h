/* crews.h - reads the files of a crew that is a reviewer. */
#ifndef WRIT_POLICY_CREWS_H
#define WRIT_POLICY_CREWS_H

#include "policy/read/option.h"

#define WRIT_CREW_FILE_MAX  (1 << 20) /* bytes of one file of a crew */
#define WRIT_CREW_FILES_MAX 64        /* shapes that a crew may nest */

/**
 * Reads the files that the entry of a reviewer names, as they are now, and their digest. What is in
 * them is checked above this layer (gateway/reviewers/crew_roster.h). Faults become findings.
 *
 * @param node  the entry
 *
 * @return NULL after a fault
 */
const struct writ_crew_config *writ_crews_read(
    struct writ_options *o, const struct writ_yaml *node, const struct writ_raw_reviewer *raw);

/** Adds the digest of its crew to that of a reviewer. WRIT_E_CRYPTO. */
WRIT_RESULT writ_crews_pin(const struct writ_crew_config *crew, struct writ_digest *digest);

#endif
