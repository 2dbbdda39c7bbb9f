/* session.h - the parts of a session that resuming uses. */
#ifndef WRIT_CREW_SESSION_H
#define WRIT_CREW_SESSION_H

#include "crew/machine.h"

/** For WRIT_AUTO. */
void writ_session_freep(struct writ_crew_session **session);

/** The machine of a session; borrowed. */
struct writ_machine *writ_session_machine(struct writ_crew_session *session);

/** Delivers one event; the event writer continues. */
WRIT_RESULT writ_session_deliver(
    struct writ_crew_session *session, struct writ_view event, struct writ_crew_err *err);
/** Ends the call: the events of the event writer, or its failure. */
WRIT_RESULT writ_session_events(
    struct writ_crew_session *session, struct writ_crew_events *ret, struct writ_crew_err *err);

#endif
