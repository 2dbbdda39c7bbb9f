/* burst.h - events, as they are written (semantics 4). */
#ifndef WRIT_CREW_BURST_H
#define WRIT_CREW_BURST_H

#include "crew/machine.h"

double writ_burst_now(const struct writ_machine *m);
/** Empties a burst for a new call. */
void writ_burst_clear(struct writ_burst *burst);
void writ_burst_wipe(struct writ_burst *burst);
/** Notes a failure; the first one stays. */
void writ_burst_fail(struct writ_burst *burst, writ_result result);
/** Ends an event whose text was appended to `burst->text`. */
void writ_burst_end(struct writ_burst *burst);
/** The events for the caller; WRIT_E_NOMEM. */
WRIT_RESULT writ_burst_list(struct writ_burst *burst, struct writ_crew_events *ret);

/* One event each (semantics 4). An absent value is left out. */
void writ_burst_started(struct writ_machine *m, struct writ_crew_value *task);
void writ_burst_entered(struct writ_machine *m, size_t role);
void writ_burst_requested(struct writ_machine *m, const struct writ_step *step, double ts);
void writ_burst_timed_out(struct writ_machine *m, uint64_t id, double ts);
void writ_burst_fixer(struct writ_machine *m, size_t agent, enum writ_shape_reason reason);
void writ_burst_denied(struct writ_machine *m, struct writ_view from, struct writ_view to,
    enum writ_crew_action action);
void writ_burst_resolved(struct writ_machine *m, size_t role, struct writ_crew_value *value);
void writ_burst_checkpoint(struct writ_machine *m, struct writ_view id);
void writ_burst_command(
    struct writ_machine *m, size_t agent, const struct writ_crew_value *command);
void writ_burst_nested_started(struct writ_machine *m, size_t agent, struct writ_view name);
void writ_burst_nested_completed(
    struct writ_machine *m, size_t agent, struct writ_crew_value *output);
void writ_burst_aborted(struct writ_machine *m, enum writ_crew_abort reason);
void writ_burst_completed(struct writ_machine *m);
/** A pending request as writ_crew_session_pending shows it. */
void writ_burst_pending(struct writ_machine *m, const struct writ_step *step);

/** The reason in a word. */
const char *writ_burst_reason(enum writ_shape_reason reason);
/** An optional value as a member of an event, or of a snapshot. */
void writ_burst_value(struct writ_write *w, const char *name, const struct writ_crew_value *value);
/** A correlation id, without a name. */
void writ_burst_id(struct writ_write *w, uint64_t id);

#endif
