/* event_writer.h - the events of one call, one after the other, and the first failure. */
#ifndef WRIT_CREW_EVENT_WRITER_H
#define WRIT_CREW_EVENT_WRITER_H

#include "crew/correlation.h"
#include "crew/value.h"
#include "evidence/json/write.h"

/** The events of one call, of a machine and all machines nested in it. */
struct writ_event_writer {
    struct writ_buf text;
    size_t *ends; /* where each event ends in `text` */
    size_t n, cap;
    struct writ_view *list; /* the same events for the caller; made at the end of a call */
    struct writ_buf scratch;
    enum writ_code failed; /* the first failure half way; WRIT_E_UNSET: none */
    size_t recursion;      /* requested actions inside each other */
};

/** Empties it for a new call. */
void writ_event_writer_clear(struct writ_event_writer *writer);
void writ_event_writer_wipe(struct writ_event_writer *writer);
/** Notes a failure; the first one stays. */
void writ_event_writer_fail(struct writ_event_writer *writer, writ_result result);
/** Ends an event whose text was appended to `writer->text`. */
void writ_event_writer_end(struct writ_event_writer *writer);
/** The events for the caller; WRIT_E_NOMEM. */
WRIT_RESULT writ_event_writer_list(struct writ_event_writer *writer, struct writ_crew_events *ret);

/** An optional value as a member of an event, or of a snapshot. */
void writ_event_writer_value(
    struct writ_write *w, const char *name, const struct writ_crew_value *value);
/** A correlation id, without a name. */
void writ_event_writer_id(struct writ_write *w, uint64_t id);

#endif
