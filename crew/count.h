/* count.h - the built-in ways to count valid ballots. Each is a row of voting.tbl.h. */
#ifndef WRIT_CREW_COUNT_H
#define WRIT_CREW_COUNT_H

#include "crew/failure.h"
#include "crew/names.h"
#include "crew/tally.h"
#include "crew/voting.h"

/** The opinions that review counts. */
enum writ_count_opinion {
    WRIT_COUNT_NO_OPINION = 0,
    WRIT_COUNT_APPROVE,
    WRIT_COUNT_REJECT,
    WRIT_COUNT_MODIFY,
    WRIT_COUNT_ABSTAIN, /* counted for the quorum, then left out */
};

/** A valid ballot in the form of the modes. `seen` is the part that an engine sees. */
struct writ_count_ballot {
    int64_t weight;
    size_t first; /* the first ballot with an equal output */
    double score; /* best_of_n */
    enum writ_count_opinion opinion;
    bool veto;
};

/** The valid ballots of a vote: `ballots[at]` and `poll.ballots[at]` are the same. */
struct writ_count {
    const struct writ_crew_voting *voting;
    const struct writ_crew_engine *engine; /* mode ENGINE: not NULL */
    struct writ_crew_poll poll;
    const struct writ_names *names; /* of candidates in another order than borda's; NULL: in that */
    struct writ_count_ballot *ballots;
    struct writ_arena *arena;
};

/* Each of them returns WRIT_OK, with or without a winner; WRIT_E_INVALID (NOT_IMPLEMENTED,
 * INVALID_BALLOT), WRIT_E_NOMEM. */
WRIT_RESULT writ_count_first(
    const struct writ_count *count, struct writ_tally *tally, struct writ_crew_err *err);
WRIT_RESULT writ_count_unanimous(
    const struct writ_count *count, struct writ_tally *tally, struct writ_crew_err *err);
WRIT_RESULT writ_count_weighted(
    const struct writ_count *count, struct writ_tally *tally, struct writ_crew_err *err);
WRIT_RESULT writ_count_majority(
    const struct writ_count *count, struct writ_tally *tally, struct writ_crew_err *err);
WRIT_RESULT writ_count_best(
    const struct writ_count *count, struct writ_tally *tally, struct writ_crew_err *err);
WRIT_RESULT writ_count_review(
    const struct writ_count *count, struct writ_tally *tally, struct writ_crew_err *err);
WRIT_RESULT writ_count_borda(
    const struct writ_count *count, struct writ_tally *tally, struct writ_crew_err *err);
WRIT_RESULT writ_count_engine(
    const struct writ_count *count, struct writ_tally *tally, struct writ_crew_err *err);

#endif
