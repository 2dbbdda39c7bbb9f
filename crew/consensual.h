/* consensual.h - the consensual process: the agents rank each other, an engine elects one of them,
 * and that one does the task.
 *
 * A crew has one task or a list of them; each takes two phases, which count in phase_index: the
 * poll, in which every candidate is asked for a ranking of the others, and the work of the elected
 * one. A task that names its handler has no poll, and a crew with one candidate needs none. */
#ifndef WRIT_CREW_CONSENSUAL_H
#define WRIT_CREW_CONSENSUAL_H

#include "crew/machine.h"

/** The role of a phase that is a poll. */
#define WRIT_CONSENSUAL_POLL WRIT_GRAPH_NONE

/** One task. */
struct writ_consensual_task {
    const struct writ_json *value; /* as it was given; NULL: the crew has none */
    struct writ_view description;  /* its text for the prompt */
    struct writ_view handler;      /* the role that has to do it; absent: the agents choose */
};

/** Counts the tasks of the crew: the length of a list, else one. WRIT_E_NOMEM. */
WRIT_RESULT writ_consensual_count(struct writ_machine *m);

/** The phases that the machine runs through: those of its graph, or two for each task. */
size_t writ_consensual_phases(const struct writ_machine *m);

/** The task of the present phase. `arena` owns it. WRIT_E_NOMEM. */
WRIT_RESULT writ_consensual_task(
    const struct writ_machine *m, struct writ_arena *arena, struct writ_consensual_task *ret);

/** What a candidate is asked: {"ballot": [the other roles], "prompt": text}. New. WRIT_E_NOMEM,
 * WRIT_E_LIMIT (a prompt with long names). */
WRIT_RESULT writ_consensual_ballot(const struct writ_machine *m,
    const struct writ_consensual_task *task, size_t candidate, struct writ_crew_value **ret);

/** What the elected one gets: {"input": the value before, "task": the task}. New. WRIT_E_NOMEM. */
WRIT_RESULT writ_consensual_input(const struct writ_machine *m,
    const struct writ_consensual_task *task, struct writ_crew_value **ret);

/** Counts the answers of the poll, with an event for each ballot and for the result. False: no
 * candidate is elected. */
bool writ_consensual_elect(struct writ_machine *m, size_t *ret_role);

#endif
