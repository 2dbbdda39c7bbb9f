/* roster.h - a crew from texts: its shape, its agents, the shapes that it may nest, its voting
 * engines, and the graph of them. The texts are kept unchanged, so that a log can contain them. */
#ifndef WRIT_GATEWAY_ROSTER_H
#define WRIT_GATEWAY_ROSTER_H

#include "base/bytes.h"
#include "writ/crew.h"

#define WRIT_ROSTER_TEXT_MAX ((size_t)16 << 20) /* of one file */

/** A shape that may be nested. */
struct writ_roster_nested {
    struct writ_buf key, text;
    struct writ_crew_shape *shape;
};

/** Zero-initialise; wipe. Parts that are not read yet are NULL or empty. */
struct writ_roster {
    const struct writ_crew_engines *engines; /* set first; borrowed. NULL: the built-in ones */
    bool consensual;                         /* whatever the shape says */
    struct writ_buf consensus;               /* the engine that elects; empty: as the shape says */
    struct writ_buf shape_text, agents_text;
    struct writ_crew_shape *shape;
    struct writ_crew_agents *agents;
    struct writ_roster_nested *nested;
    size_t nested_n, nested_cap;
    struct writ_crew_graph *graph;
};

void writ_roster_wipe(struct writ_roster *roster);

/* A failure names the part and its faults. */

/** The shape; `name` is for messages. WRIT_E_PARSE, WRIT_E_INVALID,
 * WRIT_E_LIMIT, WRIT_E_NOMEM. */
WRIT_RESULT writ_roster_shape(
    struct writ_roster *roster, const char *name, struct writ_view text, struct writ_err *err);

/** The agents; absent: the shape alone gives their number. Call it after the shape. */
WRIT_RESULT writ_roster_agents(
    struct writ_roster *roster, const char *name, struct writ_view text, struct writ_err *err);

/** One shape that may be nested. */
WRIT_RESULT writ_roster_nest(struct writ_roster *roster, struct writ_view key, const char *name,
    struct writ_view text, struct writ_err *err);

/** Makes the crew consensual, before the graph is built; `engine` may be absent. WRIT_E_NOMEM. */
WRIT_RESULT writ_roster_elect(
    struct writ_roster *roster, struct writ_view engine, struct writ_err *err);

/** Whether more than `max` processes would be needed, one for each id of an agent. */
bool writ_roster_exceeds(const struct writ_roster *roster, size_t max);

/** The graph, from the parts so far. */
WRIT_RESULT writ_roster_build(struct writ_roster *roster, struct writ_err *err);

#endif
