/* review_time.h - the ends of reviews that no call and no voter causes. */
#ifndef WRIT_STORE_REVIEW_TIME_H
#define WRIT_STORE_REVIEW_TIME_H

#include "store/write/store.h"

/** WRIT_ENTRY_REVIEW_RULES: reviews under other rules end in this turn. */
WRIT_RESULT writ_review_time_rules(struct writ_ledger *ledger, struct writ_entry *entry);

/** Ends reviews whose time or run is over; forgets ends that no caller fetched. A group
 * of its own. */
void writ_review_time_sweep(struct writ_ledger *ledger);

#endif
