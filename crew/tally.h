/* tally.h - the result of a count, and its explanation. */
#ifndef WRIT_CREW_TALLY_H
#define WRIT_CREW_TALLY_H

#include "base/bytes.h"
#include "writ/crew.h"

enum writ_tally_winner {
    WRIT_TALLY_NOBODY = 0,
    WRIT_TALLY_BALLOT,    /* the value of ballot `index` */
    WRIT_TALLY_CANDIDATE, /* the name of candidate `index` */
    WRIT_TALLY_WORD,      /* `word`: a verdict that only this mode has */
};

/** Make it with writ_tally_make; wipe `why`. */
struct writ_tally {
    struct writ_crew_tally face;           /* the view for an added engine; the first member */
    const struct writ_crew_engine *engine; /* the added engine that counts, or NULL */
    enum writ_tally_winner winner;
    size_t index;
    const char *word; /* static storage */
    struct writ_buf why;
};

struct writ_tally writ_tally_make(void);
void writ_tally_ballot(struct writ_tally *tally, size_t ballot);
void writ_tally_candidate(struct writ_tally *tally, size_t candidate);
/** The added engine that counts, of the tally that it gets: an engine that is more than a function
 * finds its data beside it. */
const struct writ_crew_engine *writ_tally_engine(const struct writ_crew_tally *face);
/** Adds a line; over WRIT_CREW_WHY_MAX bytes nothing is added. */
void writ_tally_explain(struct writ_tally *tally, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/** Takes the explanation, NUL-terminated. WRIT_E_NOMEM. */
WRIT_RESULT writ_tally_why(struct writ_tally *tally, struct writ_crew_text *ret);

#endif
