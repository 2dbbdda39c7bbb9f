/* review_judge.h - whether the votes of a review decide it. No I/O.
 *
 * A struct writ_review_judge counts votes (crew/panel.h makes one); writ_review_judge_look asks it
 * whether a missing vote can still change the verdict. */
#ifndef WRIT_EVIDENCE_REVIEW_JUDGE_H
#define WRIT_EVIDENCE_REVIEW_JUDGE_H

#include "evidence/record/review.h"

/** The result of the votes, and its derivation. */
struct writ_review_finding {
    enum writ_review_event verdict; /* ACCEPT, REJECT or REVISE; FAIL: the plug-in failed; VOTE: no
                                       verdict, or only the plug-in can give it */
    enum writ_review_vote elected;  /* ACCEPT of a review of candidates: the one; else NO_VOTE */
    const struct writ_view *log;    /* events of the crew session, canonical JSON each */
    size_t log_n;
    struct writ_view fault; /* FAIL: why, safe to show; else empty */
};

/** Counts votes. Deterministic; on any thread. Blocks only where it runs a plug-in. */
struct writ_review_judge {
    /**
     * @param review  voters without a vote are silent, and have the vote of their speaker
     * @param ret     in the arena; the log only when `with_log`
     *
     * @return WRIT_OK, WRIT_E_INVALID (an unknown engine), WRIT_E_NOMEM, WRIT_E_BUSY (a plug-in
     *         cannot be asked now)
     */
    writ_result (*count)(void *ctx, const struct writ_review *review, bool with_log,
        struct writ_arena *arena, struct writ_review_finding *ret, struct writ_err *err);
    void *ctx;
};

/**
 * Whether a review is decided: whichever way all missing votes are cast, the verdict is the one of
 * the present votes. A veto decides at once. A voter without a vote of its own has that of its
 * speaker. What a plug-in would make of missing votes is not known, so it counts only when none is
 * missing.
 *
 * @param ret  verdict VOTE: not yet; else also the log
 *
 * @return as writ_review_judge.count
 */
WRIT_RESULT writ_review_judge_look(const struct writ_review_judge *judge,
    const struct writ_review *review, struct writ_arena *arena, struct writ_review_finding *ret,
    struct writ_err *err);

/** Counts the present votes again, for a verdict that was recorded, with its log. As
 * writ_review_judge.count. */
WRIT_RESULT writ_review_judge_recount(const struct writ_review_judge *judge,
    const struct writ_review *review, struct writ_arena *arena, struct writ_review_finding *ret,
    struct writ_err *err);

#endif
