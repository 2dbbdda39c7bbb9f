/* delegating.h - delegations that voters set, recorded and taken back; delegated_terms.h applies
 * them. */
#ifndef WRIT_STORE_DELEGATING_H
#define WRIT_STORE_DELEGATING_H

#include "evidence/record/fact.h"
#include "store/write/store.h"

/** WRIT_ENTRY_DELEGATE: WRIT_OK, with the reason in `refused`; WRIT_E_LIMIT, WRIT_E_NOMEM,
 * WRIT_E_CRYPTO: nothing is changed. */
WRIT_RESULT writ_delegating_set(struct writ_ledger *ledger, struct writ_entry *entry);
/** WRIT_ENTRY_UNDELEGATE: as writ_delegating_set. */
WRIT_RESULT writ_delegating_revoke(struct writ_ledger *ledger, struct writ_entry *entry);
/** WRIT_ENTRY_DELEGATIONS. WRIT_E_NOMEM. */
WRIT_RESULT writ_delegating_list(struct writ_ledger *ledger, struct writ_entry *entry);

/** Takes a fact of the log: at a start, or of another gateway. WRIT_E_MISMATCH, WRIT_E_NOMEM,
 * WRIT_E_CRYPTO. */
WRIT_RESULT writ_delegating_hear(
    struct writ_ledger *ledger, const struct writ_fact *fact, struct writ_err *err);
/** Forgets those whose time is over, unless an open review has yet to record that one was revoked.
 * The reviews must be loaded. */
void writ_delegating_prune(struct writ_ledger *ledger);

#endif
