/* draft.h - changes to the draft of a decision: into the deny of a refused call, or by the result
 * of its review. Used by grant.c. All change the draft in place, with memory of the entry's arena,
 * and fail with WRIT_E_NOMEM or WRIT_E_LIMIT; the entry is of no use then. */
#ifndef WRIT_STORE_DRAFT_H
#define WRIT_STORE_DRAFT_H

#include "store/grant/judgement.h"

/** Makes it the deny with this reason, or the `revise` that the reason asks for. In shadow mode
 * (`j->granting`) the call goes nevertheless, and the record says so. */
WRIT_RESULT writ_draft_deny(struct writ_judgement *j, enum writ_reason reason);

/** Moves it to the boundary of the day's refused calls, with boundary:<id> in its evidence_refs:
 * for a boundary that is sealed, or that there is no room for. Also fails as
 * writ_judgement_find_boundary. */
WRIT_RESULT writ_draft_move_to_refused(struct writ_judgement *j);

/** Makes it a call that waits for the verdict of `j->reviewing`, and says in the record why. */
WRIT_RESULT writ_draft_pend(struct writ_judgement *j);

/** Makes it the allow that was approved. */
WRIT_RESULT writ_draft_approve(struct writ_judgement *j);

/** How long the claim stands that the grant makes, in whole seconds; 0: it makes none. */
int64_t writ_draft_claim_seconds(const struct writ_judgement *j);

/** Says in the record whether it was granted against its verdict, what a second call gets, and for
 * how long its key is claimed: what was done follows from what is signed. */
WRIT_RESULT writ_draft_tell_claim(struct writ_judgement *j);

/** Writes the charges of the call that is granted (charges.h), or none. */
WRIT_RESULT writ_draft_charge(struct writ_judgement *j);

#endif
