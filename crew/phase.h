/* phase.h - what happens in a machine: from its start to the end of its last phase. Failures go to
 * the event writer, which is looked at when the call ends. */
#ifndef WRIT_CREW_PHASE_H
#define WRIT_CREW_PHASE_H

#include "crew/machine.h"

void writ_phase_start(
    struct writ_machine *m, struct writ_crew_value *input, struct writ_crew_value *task);
/** Gives a terminal to the step, here or inside, that has the id; nothing when there is none. */
void writ_phase_deliver(struct writ_machine *m, uint64_t id, const struct writ_terminal *terminal);
void writ_phase_tick(struct writ_machine *m, double now);
/** Whether it is allowed; a denial is told, and may invoke a fixer. */
bool writ_phase_request(struct writ_machine *m, struct writ_view from, struct writ_view to,
    enum writ_crew_action action);
/** Completes the phase when nothing keeps it. */
void writ_phase_settle(struct writ_machine *m);

#endif
