/* live.h - a crew that runs: its agents are processes, or a script, and its log grows. */
#ifndef WRIT_CLI_LIVE_H
#define WRIT_CLI_LIVE_H

#include "cli/base/cli.h"
#include "cli/crew/environment.h"
#include "cli/crew/log_file.h"
#include "cli/crew/script.h"
#include "gateway/crews/drive.h"

/** Zero-initialise, then writ_live_init; wipe. */
struct writ_live {
    const struct writ_cli *cli;
    struct writ_drive drive;
    struct writ_log_file *log;  /* NULL: none is kept */
    bool log_positioned;        /* of one that is continued: at the end of its session */
    struct writ_script *script; /* or a command */
    struct writ_buf script_text;
    double limit_ms; /* for the whole crew from now on; infinite: none */

    /* its own */
    const char *argv[4], *environment[WRIT_ENVIRONMENT_MAX + 1];
    struct writ_loop *loop;
    struct writ_watch signals;
    struct writ_timer limit;
    double script_ms; /* the crew's clock with a script */
};

void writ_live_init(struct writ_live *live, const struct writ_cli *cli);
void writ_live_wipe(struct writ_live *live);

/* The failures of these functions are in `live->drive.err`. */

/** Reads the agents: a script, when the name ends in .json; else a command, which is started when
 * it is needed. First of all. WRIT_E_ABSENT, WRIT_E_PARSE, WRIT_E_INVALID, WRIT_E_LIMIT, WRIT_E_IO,
 * WRIT_E_NOMEM. */
WRIT_RESULT writ_live_agents(struct writ_live *live, struct writ_view agents);

/** Refuses a crew that needs more processes than there may be. WRIT_E_LIMIT. */
WRIT_RESULT writ_live_check(struct writ_live *live, const struct writ_roster *roster);

/** Starts the crew, and runs it to its end. */
WRIT_RESULT writ_live_start(struct writ_live *live, struct writ_view input, struct writ_view task);

/** Continues a crew whose log was repeated, from the time of its last input, to its end. */
WRIT_RESULT writ_live_resume(
    struct writ_live *live, const struct writ_rerun *rerun, enum writ_crew_resume policy);

/** With --json: one object about the end. */
void writ_live_tell(const struct writ_live *live);

#endif
