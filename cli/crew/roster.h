/* roster.h - a crew from files: its shape, its agents, the shapes that it may nest, its voting
 * engines, and the graph of them. The texts are kept unchanged, so that a log can contain them. */
#ifndef WRIT_CLI_ROSTER_H
#define WRIT_CLI_ROSTER_H

#include "base/bytes.h"
#include "writ/crew.h"

#define WRIT_ROSTER_TEXT_MAX ((size_t)16 << 20) /* of one file */

/** Calls `fn` for each *.json of a folder, by name. `stem` is the name without its end. Stops at
 * the first failure. WRIT_E_ABSENT: no such folder. */
typedef writ_result writ_roster_file_fn(
    void *user, const char *path, struct writ_view stem, struct writ_err *err);
WRIT_RESULT writ_roster_folder(
    const char *folder, writ_roster_file_fn *fn, void *user, size_t *ret_n, struct writ_err *err);

/** A shape that may be nested. */
struct writ_roster_nested {
    struct writ_buf key, text;
    struct writ_crew_shape *shape;
};

/** Zero-initialise; wipe. Parts that are not read yet are NULL or empty. */
struct writ_roster {
    struct writ_crew_engines *engines;
    struct writ_plugins *plugins;
    bool consensual;           /* whatever the shape says */
    struct writ_buf consensus; /* the engine that elects; empty: as the shape says */
    struct writ_buf shape_text, agents_text;
    struct writ_crew_shape *shape;
    struct writ_crew_agents *agents;
    struct writ_roster_nested *nested;
    size_t nested_n, nested_cap;
    struct writ_crew_graph *graph;
};

void writ_roster_wipe(struct writ_roster *roster);

/* A failure names the file and its faults. */

/** The built-in engines, and those of a folder (absent: none). Reports skipped engines on standard
 * error. */
WRIT_RESULT writ_roster_engines(
    struct writ_roster *roster, struct writ_view folder, struct writ_err *err);

/** The shape, after the engines; `name` is for messages. WRIT_E_PARSE, WRIT_E_INVALID,
 * WRIT_E_LIMIT, WRIT_E_NOMEM. */
WRIT_RESULT writ_roster_shape(
    struct writ_roster *roster, const char *name, struct writ_view text, struct writ_err *err);

/** The agents; absent: the shape alone gives their number. Call it after the shape. */
WRIT_RESULT writ_roster_agents(
    struct writ_roster *roster, const char *name, struct writ_view text, struct writ_err *err);

/** One shape that may be nested. */
WRIT_RESULT writ_roster_nest(struct writ_roster *roster, struct writ_view key, const char *name,
    struct writ_view text, struct writ_err *err);

/** All of the above but the engines, from files: KEY.json of the folder `registry` (absent: none),
 * the shape, the agents (NULL: none). */
WRIT_RESULT writ_roster_read(struct writ_roster *roster, struct writ_view registry,
    const char *shape, const char *agents, struct writ_err *err);

/** Makes the crew consensual, before the graph is built; `engine` may be absent. WRIT_E_NOMEM. */
WRIT_RESULT writ_roster_elect(
    struct writ_roster *roster, struct writ_view engine, struct writ_err *err);

/** Prints the members of the shapes that have no effect on standard error. */
WRIT_RESULT writ_roster_warn(const struct writ_roster *roster, struct writ_err *err);

/** Whether more than `max` processes would be needed, one for each id of an agent. */
bool writ_roster_exceeds(const struct writ_roster *roster, size_t max);

/** The graph, from the parts so far. */
WRIT_RESULT writ_roster_build(struct writ_roster *roster, struct writ_err *err);

#endif
