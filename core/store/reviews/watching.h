/* watching.h - reading reviews: one with its records, the end of one, all changes. */
#ifndef WRIT_STORE_WATCHING_H
#define WRIT_STORE_WATCHING_H

#include "store/write/store.h"

/** WRIT_ENTRY_REVIEW_GET. WRIT_E_ABSENT: no such review; WRIT_E_NOMEM, WRIT_E_IO. */
WRIT_RESULT writ_watching_get(struct writ_ledger *ledger, struct writ_entry *entry);

/** WRIT_ENTRY_REVIEW_AWAIT. True: it waits, and ends later; else its code is set. */
bool writ_watching_await(struct writ_ledger *ledger, struct writ_entry *entry);
/** WRIT_ENTRY_REVIEW_WATCH: the entry waits at least until the end of the turn. Returns true. */
bool writ_watching_add(struct writ_ledger *ledger, struct writ_entry *entry);
/** Between two groups: ends the watching entries that have a change to report, or no time left; all
 * of them when the ledger is closed. */
void writ_watching_tell(struct writ_ledger *ledger, bool ending);
/** Ends all entries that await the end of a review, when the ledger is closed. */
void writ_watching_end_all(struct writ_ledger *ledger, enum writ_code code);

#endif
