/* delegating.h - delegations that voters set: recorded, and applied to the reviews that open.
 *
 * A delegation widens only the terms of a review that opens while it is in force, so every vote is
 * cast for terms that name it. It narrows at once: after its end, or after it was taken back, no
 * vote counts by it, in open reviews too. */
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

/**
 * The terms of a review that opens now: those of the draft, and the delegations that the voters
 * have set. One that is not permitted, that goes to the caller, that would close a cycle with those
 * of the configuration or make one person vote twice, does not count.
 *
 * @param ret  in the arena, with the views of the draft and of the table
 *
 * WRIT_E_NOMEM.
 */
WRIT_RESULT writ_delegating_terms(struct writ_ledger *ledger, const struct writ_ask *ask,
    struct writ_arena *arena, struct writ_review *ret, struct writ_err *err);

/** Records in an open review, in the present group, which delegations of its terms were taken back
 * since. As writ_review_changes_make. */
WRIT_RESULT writ_delegating_withdraw(struct writ_ledger *ledger, struct writ_reviewed *review,
    struct writ_arena *arena, struct writ_err *err);

#endif
