/* recording.h - a session of a crew that logs its inputs and events.
 *
 * The log is canonical JSON, one object a line:
 *
 *   {"type":"log.opened","format":"crew-log/1",...}  shape, agents and nested shapes as texts, crew
 *                                                    id, default timeout, and what else was set
 *   {"type":"input.start","ts":T,...}                the input: start, deliver, tick, cancel,
 *                                                    message, resume; with what its hooks answered
 *   {"type":"role.entered",...}                      the events that it caused
 *   {"type":"log.closed","digest":"sha256:...",...}  the end, and the SHA-256 of all lines before,
 *                                                    each with its line feed
 *
 * The same inputs give the same log, byte for byte: the clock stands still while an input is
 * processed, and is logged with it. So a log is enough for a replay, and a part of a log is enough
 * to continue. */
#ifndef WRIT_GATEWAY_RECORDING_H
#define WRIT_GATEWAY_RECORDING_H

#include "gateway/crews/roster.h"
#include "evidence/json/json.h"

#define WRIT_RECORDING_FORMAT   "crew-log/1"
#define WRIT_RECORDING_POOL_MAX 1000000 /* insights */

/** Takes one line without its line feed. A failure ends the recording. */
typedef writ_result writ_recording_sink(void *user, struct writ_view line, struct writ_err *err);

/** Asks hooks. */
struct writ_recording_hooks {
    const struct writ_view *names; /* those that are asked, sorted; others are skipped */
    size_t names_n;
    /** Appends the answer: an object with the members checkpoints, a list of ids; actions, a list
     * of {action, from, to}; or failed, a text. Canonical. WRIT_E_NOMEM, and what ends the run. */
    writ_result (*ask)(
        void *user, const struct writ_crew_hook *hook, struct writ_buf *ret, struct writ_err *err);
    void *user;
};

/** The parts of a session, and the sink of its log. Borrowed until the recording is freed. */
struct writ_recording_options {
    const struct writ_roster *roster; /* with its graph */
    struct writ_view crew_id;
    double default_timeout_ms;
    bool auto_checkpoint;
    bool has_pool; /* false: workers get none, as in older logs */
    size_t pool_max;
    struct writ_recording_hooks hooks;
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
    enum writ_crew_abort reason, struct writ_crew_events *ret, struct writ_err *err);

/** A request of the agent of an open step: to the pool, or for an action. The events have the
 * answer, which has the agentId of the agent that it is for (agent_exchange.h). */
WRIT_RESULT writ_recording_message(struct writ_recording *recording, double now_ms,
    struct writ_view agent_id, struct writ_view message, struct writ_crew_events *ret,
    struct writ_err *err);

/** Continues from a snapshot of the session, as another program would: open steps are asked again,
 * or fail. `stopped_ms` is how long no program ran. */
WRIT_RESULT writ_recording_resume(struct writ_recording *recording, double now_ms,
    enum writ_crew_resume policy, double stopped_ms, struct writ_crew_events *ret,
    struct writ_err *err);

/** "ask", "fail" or "refuse". Static storage. */
const char *writ_recording_policy_name(enum writ_crew_resume policy);
/** False: no policy has this name. */
bool writ_recording_policy_read(struct writ_view name, enum writ_crew_resume *ret);

/** The state of the session (writ_crew_session_snapshot). `ret` is new. */
WRIT_RESULT writ_recording_snapshot(
    struct writ_recording *recording, struct writ_crew_value **ret, struct writ_err *err);

/** Writes the last line. */
WRIT_RESULT writ_recording_close(struct writ_recording *recording, struct writ_err *err);

#endif
