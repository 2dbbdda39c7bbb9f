/* draft.h - changes to the draft of a decision: to the deny of a refused call, or to the result of
 * its review. Used by grant.c. All functions change the draft in place, with memory of the entry's
 * arena. They fail with WRIT_E_NOMEM or WRIT_E_LIMIT; do not use the entry then. */
#ifndef WRIT_STORE_DRAFT_H
#define WRIT_STORE_DRAFT_H

#include "store/grant/judgement.h"

/** Turns it into the deny with this reason, or into the `revise` that the reason requires. In
 * shadow mode (`j->granting`) the call still runs, and the record says so. */
WRIT_RESULT writ_draft_deny(struct writ_judgement *j, enum writ_reason reason);

/** Moves it to the boundary of the day's refused calls, with boundary:<id> in its evidence_refs:
 * for a boundary that is sealed, or that does not fit into the table. Also fails as
 * writ_judgement_find_boundary. */
WRIT_RESULT writ_draft_move_to_refused(struct writ_judgement *j);

/** Turns it into a call that waits for the verdict of `j->reviewing`, and records why. */
WRIT_RESULT writ_draft_pend(struct writ_judgement *j);

/** Turns it into the approved allow. */
WRIT_RESULT writ_draft_approve(struct writ_judgement *j);

/** How long the claim of the grant stands, in whole seconds; 0: the grant makes no claim. */
int64_t writ_draft_claim_seconds(const struct writ_judgement *j);

/** Records whether the call was granted against its verdict, the answer that a second call gets,
 * and for how long the key is claimed: a reader derives all this from signed records. */
WRIT_RESULT writ_draft_tell_claim(struct writ_judgement *j);

/** Writes the charges of the granted call (charges.h), or none. */
WRIT_RESULT writ_draft_charge(struct writ_judgement *j);

#endif
