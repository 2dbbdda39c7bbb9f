/* phase.h - the life of a machine, from its start to the end of its last phase. Failures go to
 * the event writer, which is checked when the call ends. */
#ifndef WRIT_CREW_PHASE_H
#define WRIT_CREW_PHASE_H

#include "crew/machine.h"

void writ_phase_start(
    struct writ_machine *m, struct writ_crew_value *input, struct writ_crew_value *task);
/** Delivers a terminal event to the step with its id, here or in a nested crew; ignored when there
 * is none. */
void writ_phase_deliver(struct writ_machine *m, uint64_t id, const struct writ_terminal *terminal);
void writ_phase_tick(struct writ_machine *m, double now);
/** Whether the action is allowed; a denial is an event, and may invoke a fixer. */
bool writ_phase_request(struct writ_machine *m, struct writ_view from, struct writ_view to,
    enum writ_crew_action action);
/** Likewise, by the agent of the open step `id`, here or in a nested crew. False: there is none. */
bool writ_phase_act(struct writ_machine *m, uint64_t id, struct writ_view to,
    enum writ_crew_action action, bool *ret_allowed);
/** Completes the phase when nothing is left to wait for. */
void writ_phase_settle(struct writ_machine *m);

#endif
