/* recording.h - a session of a crew that logs its inputs and events.
 *
 * The log is canonical JSON, one object a line:
 *
 *   {"type":"log.opened","format":"crew-log/1",...}  shape, agents and nested shapes as texts, crew
 *                                                    id, default timeout
 *   {"type":"input.start","ts":T,...}                the input: start, deliver, tick, cancel
 *   {"type":"role.entered",...}                      the events that it caused
 *   {"type":"log.closed","digest":"sha256:...",...}  the end, and the SHA-256 of all lines before,
 *                                                    each with its line feed
 *
 * The same inputs give the same log, byte for byte: the clock stands still while an input is
 * processed, and is logged with it. So a log is enough for a replay. */
#ifndef WRIT_CLI_RECORDING_H
#define WRIT_CLI_RECORDING_H

#include "cli/crew/roster.h"

#define WRIT_RECORDING_FORMAT "crew-log/1"

/** Takes one line without its line feed. A failure ends the recording. */
typedef writ_result writ_recording_sink(void *user, struct writ_view line, struct writ_err *err);

/** The parts of a session, and the sink of its log. Borrowed until the recording is freed. */
struct writ_recording_options {
    const struct writ_roster *roster; /* with its graph */
    struct writ_view crew_id;
    double default_timeout_ms;
    writ_recording_sink *sink; /* NULL: nowhere */
    void *user;
};

struct writ_recording;

/** Opens a session, with the reference memory, and begins its log. WRIT_E_INVALID, WRIT_E_NOMEM,
 * and the failures of the sink. */
WRIT_RESULT writ_recording_open(const struct writ_recording_options *options,
    struct writ_recording **ret, struct writ_err *err);
void writ_recording_free(struct writ_recording *recording);

enum writ_crew_status writ_recording_status(const struct writ_recording *recording);

/* Inputs. `now_ms` is the clock while they are processed. Events are borrowed until the next call.
 * An input that the crew refuses is not in the log. */

WRIT_RESULT writ_recording_start(struct writ_recording *recording, double now_ms,
    struct writ_view input, struct writ_view task, struct writ_crew_events *ret,
    struct writ_err *err);
WRIT_RESULT writ_recording_deliver(struct writ_recording *recording, double now_ms,
    struct writ_view event, struct writ_crew_events *ret, struct writ_err *err);
/** Without events nothing is logged: nothing has changed. */
WRIT_RESULT writ_recording_tick(struct writ_recording *recording, double now_ms,
    struct writ_crew_events *ret, struct writ_err *err);
WRIT_RESULT writ_recording_cancel(struct writ_recording *recording, double now_ms,
    struct writ_crew_events *ret, struct writ_err *err);

/** Writes the last line. */
WRIT_RESULT writ_recording_close(struct writ_recording *recording, struct writ_err *err);

#endif
