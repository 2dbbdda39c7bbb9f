/* tally.h - what a count came to, and its explanation. */
#ifndef WRIT_CREW_TALLY_H
#define WRIT_CREW_TALLY_H

#include "base/bytes.h"
#include "writ/crew.h"

enum writ_tally_winner {
    WRIT_TALLY_NOBODY = 0,
    WRIT_TALLY_BALLOT,    /* the value of ballot `index` */
    WRIT_TALLY_CANDIDATE, /* the name of candidate `index` */
    WRIT_TALLY_WORD,      /* `word`: a verdict of the mode's own */
};

/** Zero-initialise, with a buffer for `why`; wipe the buffer. */
struct writ_crew_tally {
    enum writ_tally_winner winner;
    size_t index;
    const char *word; /* static storage */
    struct writ_buf why;
};

#endif
