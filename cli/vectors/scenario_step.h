/* scenario_step.h - drives the crew library with the steps of a scenario. */
#ifndef WRIT_CLI_SCENARIO_STEP_H
#define WRIT_CLI_SCENARIO_STEP_H

#include "cli/vectors/scenario_record.h"

/** Runs the step that `step->json` describes. Notes failures in the step, like all results. */
void writ_scenario_step_run(struct writ_scenario_crew *crew, struct writ_scenario_step *step);

void writ_scenario_step_wipe(struct writ_scenario_step *step);

/** The clock and the hooks of the session; `user` is the crew. */
double writ_scenario_step_clock(void *user);
void writ_scenario_step_hook(
    void *user, const struct writ_crew_hook *hook, struct writ_crew_control *control);

#endif
