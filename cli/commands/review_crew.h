/* review_crew.h - the log of a crew that voted, computed again. */
#ifndef WRIT_CLI_REVIEW_CREW_H
#define WRIT_CLI_REVIEW_CREW_H

#include "evidence/record/review_record.h"

/** The votes of crews in a review. Zero-initialise; `log` is an option. */
struct writ_review_crew {
    struct writ_view log;   /* of one of them; ptr NULL: none is computed again */
    size_t votes, replayed; /* votes of crews, and those that the log is of */
    bool differs;           /* the log is not that of its session, or says another vote */
};

/** Takes the record of a vote. WRIT_E_PARSE, WRIT_E_LIMIT, WRIT_E_NOMEM, WRIT_E_CRYPTO. */
WRIT_RESULT writ_review_crew_take(struct writ_review_crew *crew,
    const struct writ_review_record *vote, struct writ_arena *arena, struct writ_err *err);

#endif
