/* elect.h - elections inside the library, where ties may go to the order of the candidates. */
#ifndef WRIT_CREW_ELECT_H
#define WRIT_CREW_ELECT_H

#include "writ/crew.h"

/** The rankings of an election, and how an engine that orders candidates by itself breaks ties. */
struct writ_elect {
    const struct writ_view *candidates;
    size_t candidates_n;
    const struct writ_crew_ranking *rankings;
    size_t rankings_n;
    bool by_order; /* a tie goes to the earliest candidate; false: borda breaks it by name */
};

/** As writ_crew_elect. */
WRIT_RESULT writ_elect_run(struct writ_view engine, const struct writ_crew_engines *engines,
    const struct writ_elect *rankings, size_t *ret, struct writ_crew_text *why,
    struct writ_crew_err *err);

/** Whether there is an engine of this name: built in, or added. */
bool writ_elect_knows(struct writ_view engine, const struct writ_crew_engines *engines);

#endif
