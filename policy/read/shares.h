/* shares.h - the numbers of a review: its threshold, its quorum, and the weights of its voters.
 * They are taken exactly as they are written. */
#ifndef WRIT_POLICY_SHARES_H
#define WRIT_POLICY_SHARES_H

#include "evidence/record/review.h"
#include "policy/model/config.h"
#include "policy/read/option.h"

#define WRIT_SHARES_STEPS_MAX 32 /* steps of one threshold */

/** Reads `threshold`, a share or steps, into the review; NULL: 2/3. `place` is the review, for
 * findings. */
void writ_shares_threshold(struct writ_options *o, const struct writ_yaml *place,
    const struct writ_yaml *node, struct writ_review_config *ret);

/** Reads `weight` of a voter; NULL: 1. After a finding it is 1. */
void writ_shares_weight(
    struct writ_options *o, const struct writ_yaml *node, struct writ_review_voter *ret);

/** Whether a text is a number of voters that can be reached, or a fraction of them. */
bool writ_shares_is_quorum(struct writ_view text, size_t voters);

#endif
