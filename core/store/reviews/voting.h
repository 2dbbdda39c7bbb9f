/* voting.h - votes in a review, and requests to end it. */
#ifndef WRIT_STORE_VOTING_H
#define WRIT_STORE_VOTING_H

#include "store/write/store.h"

/**
 * WRIT_ENTRY_REVIEW: checks that the caller may see the review, that an entry can submit the event,
 * and a vote's digest, voter, form and signature; then makes the change, and after a vote the
 * verdict when no outstanding vote can change it.
 *
 * @return WRIT_OK  made; or refused, with the reason in `refused`
 *         WRIT_E_NOMEM, WRIT_E_CRYPTO, WRIT_E_LIMIT  nothing is changed
 */
WRIT_RESULT writ_voting_event(struct writ_ledger *ledger, struct writ_entry *entry);

#endif
