/* delegated_terms.h - delegations that voters set, in reviews.
 *
 * A delegation widens only the terms of a review that opens while it is in force, so every vote is
 * cast for terms that name it. It narrows at once: after its end, or after it was taken back, no
 * vote counts by it, in open reviews too. */
#ifndef WRIT_STORE_DELEGATED_TERMS_H
#define WRIT_STORE_DELEGATED_TERMS_H

#include "store/write/store.h"

/**
 * The terms of a review that opens now: those of the draft, and the delegations that the voters
 * have set. One that is not permitted, that goes to the caller, that would close a cycle with those
 * of the configuration or make one person vote twice, does not count.
 *
 * @param ret  in the arena, with the views of the draft and of the table
 *
 * WRIT_E_NOMEM.
 */
WRIT_RESULT writ_delegated_terms_make(struct writ_ledger *ledger, const struct writ_ask *ask,
    struct writ_arena *arena, struct writ_review *ret, struct writ_err *err);

/** Records in an open review, in the present group, which delegations of its terms were taken back
 * since. As writ_review_changes_make. */
WRIT_RESULT writ_delegated_terms_withdraw(struct writ_ledger *ledger, struct writ_reviewed *review,
    struct writ_arena *arena, struct writ_err *err);

/** It was taken back: the next sweep records that in the open reviews whose terms name it. */
void writ_delegated_terms_look(struct writ_ledger *ledger, const struct writ_delegated *delegated);

/** Whether a review is open whose terms name it, and has no record that it was taken back. */
bool writ_delegated_terms_awaits(
    const struct writ_reviewed *review, const struct writ_delegated *delegated);

#endif
