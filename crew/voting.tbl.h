/* voting.tbl.h - the modes of voting, as a table.
 *
 * X(NAME, text, function, sentence) - the function is in count.h; it gets the valid ballots, at
 * least one, and names a winner or none. */
#ifndef WRIT_CREW_VOTING_TBL_H
#define WRIT_CREW_VOTING_TBL_H

/* clang-format off */
#define WRIT_VOTING_MODES(X)                                                                       \
    X(FIRST_VALID, "first_valid", writ_count_first,    "the first valid output")                   \
    X(UNANIMOUS,   "unanimous",   writ_count_unanimous,"the output that all valid entries gave")   \
    X(WEIGHTED,    "weighted_consensus", writ_count_weighted,                                      \
        "the first output whose share of the weight reaches the threshold")                        \
    X(MAJORITY,    "majority",    writ_count_majority, "the most frequent output; tie: the first") \
    X(BEST_OF_N,   "best_of_n",   writ_count_best,     "the output with the highest score")        \
    X(REVIEW,      "review",      writ_count_review,   "approve, reject and modify, by threshold") \
    X(BORDA,       "borda",       writ_count_borda,    "Constrained Hybrid Borda over rankings")   \
    X(ENGINE,      "engine:",     writ_count_engine,   "the engine whose name follows; its name alone is the same")
/* clang-format on */

#endif
