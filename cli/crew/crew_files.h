/* crew_files.h - a crew from files: its voting engines, its shape, its agents, the shapes that it
 * may nest; and the log of one. A failure names the file and its faults. */
#ifndef WRIT_CLI_CREW_FILES_H
#define WRIT_CLI_CREW_FILES_H

#include "cli/base/cli.h"
#include "gateway/crews/rerun.h"
#include "gateway/engines/engine_folder.h"

/** Calls `fn` for each *.json of a folder, by name. `stem` is the name without its end. Stops at
 * the first failure. WRIT_E_ABSENT: no such folder. */
typedef writ_result writ_crew_files_fn(
    void *user, const char *path, struct writ_view stem, struct writ_err *err);
WRIT_RESULT writ_crew_files_folder(
    const char *folder, writ_crew_files_fn *fn, void *user, size_t *ret_n, struct writ_err *err);

/** Engines, and the plug-ins that some of them are from. Zero-initialise; wipe after what uses
 * them. */
struct writ_crew_files_engines {
    struct writ_crew_engines *engines;
    struct writ_engine_folder *folder;
};

/** The built-in engines, and those of the folder of --engines, each count of which is a process.
 * Reports skipped engines on standard error. */
WRIT_RESULT writ_crew_files_engines(
    const struct writ_cli *cli, struct writ_crew_files_engines *ret, struct writ_err *err);
void writ_crew_files_engines_wipe(struct writ_crew_files_engines *engines);

/** All parts of a crew but its engines: KEY.json of the folder `registry` (absent: none), the
 * shape, the agents (NULL: none). */
WRIT_RESULT writ_crew_files_read(struct writ_roster *roster, struct writ_view registry,
    const char *shape, const char *agents, struct writ_err *err);

/** Prints the members of the shapes that have no effect on standard error. */
WRIT_RESULT writ_crew_files_warn(const struct writ_roster *roster, struct writ_err *err);

/** Reads a log, and computes its session (writ_rerun_text). */
WRIT_RESULT writ_crew_files_rerun(struct writ_rerun *rerun, const char *path, struct writ_err *err);

#endif
