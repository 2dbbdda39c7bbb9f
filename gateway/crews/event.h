/* event.h - JSON lines of a crew, read one at a time: events, answers of workers, lines of a log.
 */
#ifndef WRIT_GATEWAY_EVENT_H
#define WRIT_GATEWAY_EVENT_H

#include "evidence/json/json.h"

/** Reads lines one after the other; a value lives until the next line. Zero-initialise; wipe.
 */
struct writ_event_reader {
    struct writ_arena *arena;
};

/** An object, read strictly. `text` is borrowed as long as `ret`. WRIT_E_PARSE, WRIT_E_LIMIT,
 * WRIT_E_NOMEM. */
WRIT_RESULT writ_event_read(struct writ_event_reader *reader, struct writ_view text,
    const struct writ_json **ret, struct writ_err *err);
void writ_event_reader_wipe(struct writ_event_reader *reader);

/** A member that is a string; absent for anything else. */
struct writ_view writ_event_text(const struct writ_json *event, const char *member);

/** A member that is a number; `otherwise` for anything else. */
double writ_event_number(const struct writ_json *event, const char *member, double otherwise);

/** The canonical text of a member, appended to `buf`; absent without one. Borrowed from `buf`;
 * check its failure. */
struct writ_view writ_event_json(
    const struct writ_json *event, const char *member, struct writ_buf *buf);

/** True when the type of the event is this one. */
bool writ_event_is(const struct writ_json *event, const char *type);

#endif
