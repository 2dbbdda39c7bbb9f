/* event.h - writes the events of a machine (semantics 4). */
#ifndef WRIT_CREW_EVENT_H
#define WRIT_CREW_EVENT_H

#include "crew/machine.h"

/** The clock of the session, which must be finite: a failure goes to the event writer. */
double writ_event_now(const struct writ_machine *m);

/* One event each (semantics 4). An absent value is left out. */
void writ_event_started(struct writ_machine *m, struct writ_crew_value *task);
void writ_event_entered(struct writ_machine *m, size_t role);
void writ_event_requested(struct writ_machine *m, const struct writ_step *step, double ts);
void writ_event_timed_out(struct writ_machine *m, uint64_t id, double ts);
void writ_event_fixer(struct writ_machine *m, size_t agent, enum writ_shape_reason reason);
void writ_event_denied(struct writ_machine *m, struct writ_view from, struct writ_view to,
    enum writ_crew_action action);
void writ_event_resolved(struct writ_machine *m, size_t role, struct writ_crew_value *value);
void writ_event_checkpoint(struct writ_machine *m, struct writ_view id);
void writ_event_command(
    struct writ_machine *m, size_t agent, const struct writ_crew_value *command);
void writ_event_nested_started(struct writ_machine *m, size_t agent, struct writ_view name);
void writ_event_nested_completed(
    struct writ_machine *m, size_t agent, struct writ_crew_value *output);
void writ_event_aborted(struct writ_machine *m, enum writ_crew_abort reason);
void writ_event_completed(struct writ_machine *m);
/* The consensual process: a poll of all candidates begins; a ballot of it (`ranking->list` NULL:
 * there is an answer that cannot be read, or none); the one that is elected (`why` absent: the task
 * names its handler); no candidate is. */
void writ_event_poll(struct writ_machine *m, const struct writ_crew_value *task);
void writ_event_ballot(
    struct writ_machine *m, size_t agent, const struct writ_crew_ranking *ranking, bool answered);
void writ_event_elected(struct writ_machine *m, size_t agent, struct writ_view why);
void writ_event_undecided(struct writ_machine *m, struct writ_view error, struct writ_view why);
/** A pending request as writ_crew_session_pending shows it. */
void writ_event_pending(struct writ_machine *m, const struct writ_step *step);

/** The reason in a word. */
const char *writ_event_reason(enum writ_shape_reason reason);

#endif
