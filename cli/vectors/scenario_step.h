/* scenario_step.h - drives the crew library with the steps of a scenario. */
#ifndef WRIT_CLI_SCENARIO_STEP_H
#define WRIT_CLI_SCENARIO_STEP_H

#include "cli/vectors/scenario_member.h"
#include "writ/crew.h"

/** What steps are run against. */
struct writ_scenario_crew {
    const struct writ_json *hook_actions; /* by the name of the hook; borrowed */
    struct writ_crew_graph *graph;
    struct writ_crew_options options;
    struct writ_crew_hooks hooks;
    struct writ_crew_memory memory;
    struct writ_crew_session *session;
    struct writ_crew_checkpoints *labels, *store;
    double now;
    struct writ_buf hook_calls; /* of the step: canonical records, each ended by a newline */
};

/** One step, and what it gave. */
struct writ_scenario_step {
    const struct writ_json *json; /* the only input; borrowed */
    const char *error;            /* NULL: none */
    bool has_allowed, allowed;
    bool has_events, has_pending; /* `events` is of this kind */
    struct writ_crew_events events;
    bool has_found, found;
    bool has_ids;
    struct writ_crew_value *memory, *resolved, *snapshot;
    bool has_resolved;
    struct writ_buf result;
    bool has_result;
    bool has_status;
};

/** Runs the step that `step->json` describes. What fails is noted in it, as everything else. */
void writ_scenario_step_run(struct writ_scenario_crew *crew, struct writ_scenario_step *step);

void writ_scenario_step_wipe(struct writ_scenario_step *step);

/** The clock and the hooks of the session; `user` is the crew. */
double writ_scenario_step_clock(void *user);
void writ_scenario_step_hook(
    void *user, const struct writ_crew_hook *hook, struct writ_crew_control *control);

#endif
