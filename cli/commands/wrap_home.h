/* wrap_home.h - the configuration that `writ wrap` makes for itself at first use: writ.yaml and a
 * folder of included files, one for each server, below XDG_CONFIG_HOME; keys, ledger, tokens,
 * socket and log below XDG_STATE_HOME. Folders have mode 0700, files 0600.
 *
 * What is there is never overwritten. The functions block. */
#ifndef WRIT_CLI_WRAP_HOME_H
#define WRIT_CLI_WRAP_HOME_H

#include "base/clock.h"
#include "policy/model/config.h"

struct writ_findings;

/** The paths, each NUL-terminated and in the arena. */
struct writ_wrap_home {
    struct writ_arena *arena;
    const struct writ_clock *clock;
    struct writ_view config;         /* writ.yaml */
    struct writ_view servers, state; /* folders */
    struct writ_view token;          /* file: of the agent that calls */
    int lock;                        /* -1: it is not held */
};

/**
 * Finds the folders, and makes what is missing. The lock is held from then on: no other wrap
 * changes the folders.
 *
 * @param ret  close it in any case
 *
 * @return WRIT_OK
 *         WRIT_E_INVALID  neither XDG_CONFIG_HOME and XDG_STATE_HOME nor HOME name a folder
 *         WRIT_E_IO, and as writ_first_keys_make, writ_ledger_create, writ_bearer_make
 */
WRIT_RESULT writ_wrap_home_open(struct writ_arena *arena, const struct writ_clock *clock,
    struct writ_wrap_home *ret, struct writ_err *err);

/** Gives the lock back. */
void writ_wrap_home_close(struct writ_wrap_home *home);

/** The included file of a server, in the arena; `ret_there` says whether it exists. WRIT_E_LIMIT,
 * WRIT_E_IO. */
WRIT_RESULT writ_wrap_home_file(const struct writ_wrap_home *home, struct writ_view name,
    struct writ_view *ret, bool *ret_there, struct writ_err *err);

/** Notes that the gateway must end before it knows all servers, or that it has ended. A note of a
 * wrap that was killed in between stays. WRIT_E_IO, WRIT_E_LIMIT. */
WRIT_RESULT writ_wrap_home_set_due(
    const struct writ_wrap_home *home, bool due, struct writ_err *err);

/** Whether the note is there. WRIT_E_IO, WRIT_E_LIMIT. */
WRIT_RESULT writ_wrap_home_is_due(
    const struct writ_wrap_home *home, bool *ret, struct writ_err *err);

/** Asks a server for its tools, and writes its file with the proposed rules and `agreed: false`.
 * Starts the server if it is a program. As writ_discover_tools, writ_cli_write_new. */
WRIT_RESULT writ_wrap_home_propose(const struct writ_wrap_home *home,
    const struct writ_upstream_config *server, struct writ_err *err);

/** Sets `agreed: true` in the file of a server, if the whole configuration is then good; else the
 * file stays as it was, and `findings` has the faults. WRIT_OK also when it was agreed already.
 * WRIT_E_ABSENT (the file does not exist), WRIT_E_INVALID (it has no line `agreed: false`), as
 * writ_load_file, WRIT_E_IO. */
WRIT_RESULT writ_wrap_home_agree(const struct writ_wrap_home *home, struct writ_view name,
    struct writ_findings *findings, struct writ_err *err);

#endif
