/* crewkit.h - a crew in hostile hands, for the fuzz targets: small limits, one with everything that
 * a session can do (timeouts, fixers, nested crews, memory), and what must hold of what comes out.
 */
#ifndef WRIT_TESTS_CREWKIT_H
#define WRIT_TESTS_CREWKIT_H

#include "base/bytes.h"
#include "writ/crew.h"

/** Small ones, so that a small input cannot ask for much. */
extern const struct writ_crew_limits writ_crewkit_limits;

/** A shape with all of it, which nests the crew "inner"; and its agents file. */
extern const char writ_crewkit_shape[], writ_crewkit_agents[];

/** A crew, and a session of it. Zero-initialise; wipe. */
struct writ_crewkit {
    struct writ_crew_shape *shape, *inner;
    struct writ_crew_agents *agents;
    struct writ_crew_graph *graph;
    struct writ_crew_memory memory;
    struct writ_crew_options options;
    struct writ_crew_session *session;
    double now;
};

/** Reads both texts (agents absent: an empty list) and builds the graph. False: something was
 * refused, with a reason, which is checked. */
bool writ_crewkit_open(struct writ_crewkit *kit, struct writ_view shape, struct writ_view agents);
/** Opens a session and starts it. */
void writ_crewkit_start(struct writ_crewkit *kit);
void writ_crewkit_wipe(struct writ_crewkit *kit);

/** Every event is in canonical form. */
void writ_crewkit_check(const struct writ_crew_events *events);

/** A valid snapshot resumes the session, and its own snapshot, resumed, gives the same snapshot. */
void writ_crewkit_resume(struct writ_crewkit *kit, struct writ_view snapshot);

/** The id of the step that has waited longest. False: none waits. */
bool writ_crewkit_pending(struct writ_crewkit *kit, char ret[16]);

#endif
