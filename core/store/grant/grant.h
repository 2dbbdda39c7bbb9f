/* grant.h - decisions: grants a call, or makes the deny that is recorded. */
#ifndef WRIT_STORE_GRANT_H
#define WRIT_STORE_GRANT_H

#include "store/write/store.h"

/** Prepares a decision: grants or refuses. WRIT_OK when it has rows in the group. */
WRIT_RESULT writ_grant_decision(struct writ_ledger *ledger, struct writ_entry *entry);

#endif
