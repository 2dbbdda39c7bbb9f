/* review_story.h - a review from its records: from the ledger, after a restart, and for recomputing
 * a verdict. */
#ifndef WRIT_EVIDENCE_REVIEW_STORY_H
#define WRIT_EVIDENCE_REVIEW_STORY_H

#include "evidence/record/decision.h"
#include "evidence/record/review_record.h"

/** Zero-initialised: no record yet. */
struct writ_review_story {
    struct writ_review review; /* in the arena */
    enum writ_review_state state;
    uint64_t n;                    /* records so far */
    int64_t changed_us;            /* time of the last change of state */
    char digest[WRIT_DIGEST_TEXT]; /* of the terms */
    enum writ_review_event
        verdict; /* ACCEPT, REJECT, REVISE or FAIL when there was one; else OPEN */
    enum writ_review_vote elected; /* the candidate that an ACCEPT elected; else NO_VOTE */
    struct writ_member_list log;   /* of the verdict, as recorded */
};

/**
 * Adds the next record: the first one opens the review; each later one must be possible in the
 * present state, and bound to the same terms. A voter with a key in the terms must have signed its
 * vote.
 *
 * @param record  borrowed as long as the story is used, with all that is in it
 *
 * @return WRIT_OK
 *         WRIT_E_MISMATCH  the record does not follow: the records contradict each other
 *         WRIT_E_PARSE, WRIT_E_INVALID, WRIT_E_LIMIT, WRIT_E_NOMEM, WRIT_E_CRYPTO
 */
WRIT_RESULT writ_review_story_add(struct writ_review_story *story,
    const struct writ_review_record *record, struct writ_arena *arena, struct writ_err *err);

/** Whether the review is approved, and for the call of that decision: of candidates the elected
 * one. */
bool writ_review_story_approves(
    const struct writ_review_story *story, const struct writ_decision *decision);

#endif
