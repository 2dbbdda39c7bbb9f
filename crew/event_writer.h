/* event_writer.h - events, as they are written (semantics 4). */
#ifndef WRIT_CREW_EVENT_WRITER_H
#define WRIT_CREW_EVENT_WRITER_H

#include "crew/machine.h"

double writ_event_writer_now(const struct writ_machine *m);
/** Empties it for a new call. */
void writ_event_writer_clear(struct writ_event_writer *writer);
void writ_event_writer_wipe(struct writ_event_writer *writer);
/** Notes a failure; the first one stays. */
void writ_event_writer_fail(struct writ_event_writer *writer, writ_result result);
/** Ends an event whose text was appended to `writer->text`. */
void writ_event_writer_end(struct writ_event_writer *writer);
/** The events for the caller; WRIT_E_NOMEM. */
WRIT_RESULT writ_event_writer_list(struct writ_event_writer *writer, struct writ_crew_events *ret);

/* One event each (semantics 4). An absent value is left out. */
void writ_event_writer_started(struct writ_machine *m, struct writ_crew_value *task);
void writ_event_writer_entered(struct writ_machine *m, size_t role);
void writ_event_writer_requested(struct writ_machine *m, const struct writ_step *step, double ts);
void writ_event_writer_timed_out(struct writ_machine *m, uint64_t id, double ts);
void writ_event_writer_fixer(struct writ_machine *m, size_t agent, enum writ_shape_reason reason);
void writ_event_writer_denied(struct writ_machine *m, struct writ_view from, struct writ_view to,
    enum writ_crew_action action);
void writ_event_writer_resolved(struct writ_machine *m, size_t role, struct writ_crew_value *value);
void writ_event_writer_checkpoint(struct writ_machine *m, struct writ_view id);
void writ_event_writer_command(
    struct writ_machine *m, size_t agent, const struct writ_crew_value *command);
void writ_event_writer_nested_started(struct writ_machine *m, size_t agent, struct writ_view name);
void writ_event_writer_nested_completed(
    struct writ_machine *m, size_t agent, struct writ_crew_value *output);
void writ_event_writer_aborted(struct writ_machine *m, enum writ_crew_abort reason);
void writ_event_writer_completed(struct writ_machine *m);
/** A pending request as writ_crew_session_pending shows it. */
void writ_event_writer_pending(struct writ_machine *m, const struct writ_step *step);

/** The reason in a word. */
const char *writ_event_writer_reason(enum writ_shape_reason reason);
/** An optional value as a member of an event, or of a snapshot. */
void writ_event_writer_value(
    struct writ_write *w, const char *name, const struct writ_crew_value *value);
/** A correlation id, without a name. */
void writ_event_writer_id(struct writ_write *w, uint64_t id);

#endif
