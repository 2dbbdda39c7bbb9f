/* review.tbl.h - the whole life of a review: states, events, and transitions.
 *
 * WRIT_REVIEW_STATES   X(NAME, name, PHASE, REASON, what it means)
 *   PHASE   NONE (there is none), LIVE (something may still happen), OVER (nothing ever again)
 *   REASON  the reason that a caller gets for the call while its review is in that state
 *
 * WRIT_REVIEW_EVENTS   X(NAME, name, what happens)
 *
 * WRIT_REVIEW_VOTES    X(NAME, name); WRIT_REVIEW_VOTES_WITH puts `between` between the rows;
 *                      ABSTAIN counts for the quorum and not for the verdict
 *
 * WRIT_REVIEW_CANDIDATES  X(N, "name"): options of a review of candidates, by the place of each in
 *                         the request; a voter ranks them like votes, and never votes for one alone
 *
 * WRIT_REVIEW_ENGINES  X(NAME, "word", NEEDS): how its votes are counted, a mode of
 *                      crew/voting.tbl.h; a tie never accepts, so that the verdict does not depend
 * on the order of the votes NEEDS   what a vote must have: VOTE alone, CONFIDENCE, or RANKING of
 * all options A plug-in is not a row: its name is that of its file (writ_review_is_plugin), and it
 * needs RANKING.
 *
 * WRIT_REVIEW_MOVES    X(STATE, EVENT, NEXT). A move without a row is refused and changes nothing.
 *                      test_review.c walks every event in every state, and checks the
 *                      table as a whole:
 *   - nothing leaves a state that is over, and every live state can still be left for one;
 *   - votes count while a review is open, and never again;
 *   - only ACCEPT, and only from OPEN, leads to APPROVED; only REDEEM, and only from APPROVED,
 * leads to REDEEMED: so silence, a cancel or a restart never approve, and nothing runs twice;
 *   - each end has a state of its own with a reason of its own. */
#ifndef WRIT_EVIDENCE_REVIEW_TBL_H
#define WRIT_EVIDENCE_REVIEW_TBL_H

/* clang-format off */
#define WRIT_REVIEW_STATES(X)                                                                      \
    X(ABSENT, absent, NONE, APPROVAL_REQUIRED, "no review")                                        \
    X(OPEN, open, LIVE, APPROVAL_REQUIRED, "the voters may vote")                                  \
    X(APPROVED, approved, LIVE, APPROVAL_GRANTED, "the caller may redeem the approval, once")      \
    X(REDEEMED, redeemed, OVER, APPROVAL_REDEEMED, "the call was granted under the approval")      \
    X(REJECTED, rejected, OVER, APPROVAL_REJECTED, "the voters rejected the call")                 \
    X(REVISED, revised, OVER, REVISION_REQUESTED, "the voters ask for a changed call")             \
    X(EXPIRED, expired, OVER, APPROVAL_EXPIRED, "no verdict came in time")                         \
    X(LAPSED, lapsed, OVER, APPROVAL_LAPSED, "the approval was not redeemed in time")              \
    X(WITHDRAWN, withdrawn, OVER, APPROVAL_WITHDRAWN, "the caller gave the call up")               \
    X(CANCELLED, cancelled, OVER, APPROVAL_CANCELLED, "an administrator ended the review")         \
    X(OUTDATED, outdated, OVER, APPROVAL_OUTDATED, "the policy of the tool changed meanwhile")     \
    X(DRIFTED, drifted, OVER, TARGET_STATE_DRIFT, "the target changed meanwhile")                  \
    X(FAILED, failed, OVER, APPROVAL_FAILED, "the plug-in could not count the votes")

#define WRIT_REVIEW_EVENTS(X)                                                                      \
    X(OPEN, open, "a call needs an approval")                                                      \
    X(JOIN, join, "the same call again")                                                           \
    X(VOTE, vote, "a voter votes, or votes again")                                                 \
    X(ACCEPT, accept, "no missing vote can change that the call is accepted")                      \
    X(REJECT, reject, "no missing vote can change that it is rejected; or a veto")                 \
    X(REVISE, revise, "no missing vote can change that a revision is asked for")                   \
    X(REDEEM, redeem, "the caller returns, and the call is granted in the same transaction")       \
    X(EXPIRE, expire, "the time of the state is over")                                             \
    X(WITHDRAW, withdraw, "the caller gives the call up, or its run ends")                         \
    X(CANCEL, cancel, "an administrator ends it")                                                  \
    X(OUTDATE, outdate, "the policy of the tool changed")                                          \
    X(DRIFT, drift, "the target is in another state")                                              \
    X(FAIL, fail, "the plug-in that counts the votes crashed, hung or gave nonsense")              \
    X(REVOKE, revoke, "the delegation of a voter was taken back")

#define WRIT_REVIEW_VOTES_WITH(X, between)                                                         \
    X(APPROVE, approve) between                                                                    \
    X(REJECT, reject) between                                                                      \
    X(MODIFY, modify) between                                                                      \
    X(ABSTAIN, abstain)
#define WRIT_REVIEW_VOTES(X) WRIT_REVIEW_VOTES_WITH(X, )

#define WRIT_REVIEW_CANDIDATES(X)                                                                  \
    X(1, "1") X(2, "2") X(3, "3") X(4, "4") X(5, "5") X(6, "6") X(7, "7") X(8, "8")

#define WRIT_REVIEW_ENGINES(X)                                                                     \
    X(REVIEW, "review", VOTE)                                                                      \
    X(UNANIMOUS, "unanimous", VOTE)                                                                \
    X(WEIGHTED, "weighted_consensus", VOTE)                                                        \
    X(MAJORITY, "majority", VOTE)                                                                  \
    X(BEST_OF_N, "best_of_n", CONFIDENCE)                                                          \
    X(BORDA, "borda", RANKING)

#define WRIT_REVIEW_MOVES(X)                                                                       \
    X(ABSENT,   OPEN,     OPEN)                                                                    \
    X(OPEN,     JOIN,     OPEN)                                                                    \
    X(OPEN,     VOTE,     OPEN)                                                                    \
    X(OPEN,     ACCEPT,   APPROVED)                                                                \
    X(OPEN,     REJECT,   REJECTED)                                                                \
    X(OPEN,     REVISE,   REVISED)                                                                 \
    X(OPEN,     EXPIRE,   EXPIRED)                                                                 \
    X(OPEN,     WITHDRAW, WITHDRAWN)                                                               \
    X(OPEN,     CANCEL,   CANCELLED)                                                               \
    X(OPEN,     OUTDATE,  OUTDATED)                                                                \
    X(OPEN,     DRIFT,    DRIFTED)                                                                 \
    X(OPEN,     FAIL,     FAILED)                                                                  \
    X(OPEN,     REVOKE,   OPEN)                                                                    \
    X(APPROVED, REDEEM,   REDEEMED)                                                                \
    X(APPROVED, EXPIRE,   LAPSED)                                                                  \
    X(APPROVED, WITHDRAW, WITHDRAWN)                                                               \
    X(APPROVED, CANCEL,   CANCELLED)                                                               \
    X(APPROVED, OUTDATE,  OUTDATED)                                                                \
    X(APPROVED, DRIFT,    DRIFTED)
/* clang-format on */

#endif
