/* review_rules.h - tells the ledger what policy says, so that reviews by other rules end at once.
 */
#ifndef WRIT_GATEWAY_REVIEW_RULES_H
#define WRIT_GATEWAY_REVIEW_RULES_H

#include "gateway/state/gateway.h"

/** Any thread; does not block. What cannot be told now is found out when a caller comes back. */
void writ_review_rules_tell(struct writ_ledger *ledger, const struct writ_config *config);

#endif
