/* proposing.h - proposed rules as a whole configuration, for tests. */
#ifndef WRIT_TESTS_PROPOSING_H
#define WRIT_TESTS_PROPOSING_H

#include "policy/propose/propose.h"

/** Appends a configuration with the upstream "s", a review "owner" and the rules of the proposal.
 * `fill` replaces the placeholders: /srv/box, example.com, 100, 1000 and the pattern 1|2. */
void writ_proposing_put(struct writ_buf *ret, const struct writ_proposal *proposal, bool fill);

#endif
