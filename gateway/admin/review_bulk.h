/* review_bulk.h - whether a review takes one of several votes that a voter casts together. A voter
 * reads each call on one screen, so a call is left out that cannot be read there completely. */
#ifndef WRIT_GATEWAY_REVIEW_BULK_H
#define WRIT_GATEWAY_REVIEW_BULK_H

#include "policy/model/config.h"
#include "store/ledger/ledger.h"

#define WRIT_REVIEW_BULK_MAX                                                                       \
    1024 /* bytes of the arguments and the state of the target together                            \
          */

/** NULL: it does. Else the reason, as the begin of a sentence; static storage. */
const char *writ_review_bulk_refused(
    const struct writ_entry_review_get *get, const struct writ_config *config);

#endif
