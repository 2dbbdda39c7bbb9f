/* rerun.h - the log of a crew, whose session is computed again from the inputs in it. Each line is
 * compared, so that a log is either that of this very session, or refused. */
#ifndef WRIT_GATEWAY_RERUN_H
#define WRIT_GATEWAY_RERUN_H

#include "gateway/crews/event.h"
#include "gateway/crews/recording.h"

/** Bytes of a log: one that is longer could be neither replayed nor continued. */
#define WRIT_RERUN_LOG_MAX ((size_t)1 << 30)

/** What an input led to. The line of the input is borrowed for the call; so are the events. */
typedef writ_result writ_rerun_taken(void *user, const struct writ_json *input,
    struct writ_crew_events events, struct writ_err *err);

/** Zero-initialise, set the options, run; wipe. */
struct writ_rerun {
    /* options; borrowed */
    const struct writ_crew_engines *engines; /* NULL: the built-in ones */
    writ_rerun_taken *taken;                 /* NULL: not asked for */
    /** Takes the lines that the session gives after the end of the log: a log that was cut off is
     * then continued. NULL: that is a difference. */
    writ_recording_sink *beyond;
    void *user;             /* of both */
    struct writ_view until; /* stop after the input that took this checkpoint; absent: at the end */
    const struct writ_recording_hooks *hooks; /* asked after the log; NULL: none are */

    /* results */
    struct writ_roster roster;
    struct writ_recording *recording;
    size_t at, line;      /* bytes and lines that are equal */
    uint64_t events;      /* of them */
    double last_ms;       /* the time of the last input */
    double stopped_ms;    /* how long no program ran, in all */
    bool differs, closed; /* closed: the log has its last line */
    bool reached;         /* the checkpoint */
    struct writ_buf why;  /* of the difference, in lines */

    /* its own */
    struct writ_buf log, names_text;
    struct writ_view *names;
    struct writ_event_reader reader;
    const struct writ_json *answers, *next_answer; /* of the hooks of the input */
    bool in_log;                                   /* an input of the log is repeated */
    bool is_event, beyond_log;
};

void writ_rerun_wipe(struct writ_rerun *rerun);

/** Computes the session of a log, which is copied. WRIT_OK also when it differs: see `differs`.
 * WRIT_E_PARSE (not a log), WRIT_E_INVALID, WRIT_E_LIMIT, WRIT_E_NOMEM. */
WRIT_RESULT writ_rerun_text(struct writ_rerun *rerun, struct writ_view log, struct writ_err *err);

/** As writ_rerun_text, of a buffer, which is taken. */
WRIT_RESULT writ_rerun_take(struct writ_rerun *rerun, struct writ_buf *log, struct writ_err *err);

/** Notes that the log has no end, unless it has one. */
void writ_rerun_finish(struct writ_rerun *rerun);

#endif
