/* live.h - a crew that runs: its agents are processes, or a script, and its log grows. */
#ifndef WRIT_CLI_LIVE_H
#define WRIT_CLI_LIVE_H

#include "cli/base/cli.h"
#include "cli/crew/log_file.h"
#include "cli/crew/recording.h"
#include "cli/crew/rerun.h"
#include "cli/crew/script.h"
#include "cli/crew/steps.h"
#include "cli/crew/workers.h"

#define WRIT_LIVE_VALUE_MAX      ((size_t)1 << 30) /* bytes of a value, or of an event */
#define WRIT_LIVE_TIMEOUT_MAX_MS ((UINT64_C(1) << 53) - 1)

/** Zero-initialise, then writ_live_init; wipe. */
struct writ_live {
    const struct writ_cli *cli;
    struct writ_recording *recording; /* borrowed */
    struct writ_log_file *log;        /* NULL: none is kept */
    bool log_positioned;              /* of one that is continued: at the end of its session */
    struct writ_script *script;       /* or a command */
    struct writ_buf script_text;
    double limit_ms; /* for the whole crew from now on; infinite: none */

    /* results */
    struct writ_buf output, handler; /* of the last task of a consensual crew: its agent */
    bool resolved;                   /* the last crew that completed had a value */
    uint64_t events;
    writ_result failed; /* WRIT_E_UNSET without a failure */
    struct writ_err err;

    /* its own */
    bool again; /* a log is repeated: nothing is asked or printed */
    bool ending;
    struct writ_steps steps;
    struct writ_event_reader reader;
    struct writ_workers *workers;
    struct writ_loop *loop;
    struct writ_watch signals;
    struct writ_timer limit;
    double begin_ms; /* the crew's clock at `mono_us`; that of a script stands in `script_ms` */
    int64_t mono_us;
    double script_ms;
};

void writ_live_init(struct writ_live *live, const struct writ_cli *cli);
void writ_live_wipe(struct writ_live *live);

/* The failures of these functions are in `live->err`. */

/** Reads the agents: a script, when the name ends in .json; else a command, which is started when
 * it is needed. First of all. WRIT_E_ABSENT, WRIT_E_PARSE, WRIT_E_INVALID, WRIT_E_LIMIT, WRIT_E_IO,
 * WRIT_E_NOMEM. */
WRIT_RESULT writ_live_agents(struct writ_live *live, struct writ_view agents);

/** Refuses a crew that needs more processes than there may be. WRIT_E_LIMIT. */
WRIT_RESULT writ_live_check(struct writ_live *live, const struct writ_roster *roster);

/** Takes what a repeated input led to (writ_rerun_taken): the steps and the result. */
WRIT_RESULT writ_live_repeat(struct writ_live *live, const struct writ_json *input,
    struct writ_crew_events events, struct writ_err *err);

/** Starts the crew, and runs it to its end. */
WRIT_RESULT writ_live_start(struct writ_live *live, struct writ_view input, struct writ_view task);

/** Continues a crew whose log was repeated, from the time of its last input, to its end. */
WRIT_RESULT writ_live_resume(
    struct writ_live *live, const struct writ_rerun *rerun, enum writ_crew_resume policy);

/** Whether the crew has completed, with a value. */
bool writ_live_resolved(const struct writ_live *live);

/** With --json: one object about the end. */
void writ_live_tell(const struct writ_live *live);

#endif
