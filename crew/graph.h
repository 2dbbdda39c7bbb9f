/* graph.h - the agents of a crew, in the order of their roles. Never changes after it is built. */
#ifndef WRIT_CREW_GRAPH_H
#define WRIT_CREW_GRAPH_H

#include "crew/shape.h"

/** No agent; no role. */
#define WRIT_GRAPH_NONE SIZE_MAX

/** A role with its agents: `count` of them from `first` on. */
struct writ_graph_role {
    const struct writ_shape_role *shape;
    size_t first, count;
    struct writ_crew_graph *nested;   /* of each of its agents; owned; NULL: ordinary agents */
    struct writ_crew_value *snapshot; /* the role as requests show it; owned */
};

struct writ_graph_agent {
    struct writ_view id;
    size_t role;
};

struct writ_crew_graph {
    const struct writ_crew_shape *shape;     /* borrowed */
    const struct writ_crew_engines *engines; /* borrowed; may be NULL */
    struct writ_arena *arena;
    struct writ_graph_role *roles; /* shape->roles_n of them */
    struct writ_graph_agent *agents;
    size_t agents_n;
    size_t total;                        /* agents, those of nested crews included */
    size_t fixers[WRIT_SHAPE_REASONS_N]; /* the agent that a reason activates, or none */
    size_t *phases;                      /* NULL in a consensual crew */
    size_t phases_n;
    bool consensual;
    struct writ_view consensus; /* the engine; absent: the default */
    size_t *candidates;         /* of a consensual crew: agents that may do a task */
    size_t candidates_n;
};

/** The agent with this id, or WRIT_GRAPH_NONE. */
size_t writ_graph_find(const struct writ_crew_graph *graph, struct writ_view id);

#endif
