/* serve.h - a whole gateway, from a configuration to its end. */
#ifndef WRIT_GATEWAY_SERVE_H
#define WRIT_GATEWAY_SERVE_H

#include "base/log.h"
#include "policy/model/config.h"

/** What the one who runs the gateway gives it. All borrowed. */
struct writ_serve_options {
    const char *config_file;
    const struct writ_config *config; /* what was read from it */
    struct writ_log *log;
    const struct writ_clock *clock;
};

/**
 * Serves until SIGTERM or SIGINT; SIGHUP reads the configuration file again (policy, agents and
 * keys; a bad file changes nothing and says why). Call it from the main thread of a process that
 * has no other threads yet: it blocks these signals and waits for them.
 *
 * At the end no new connection is taken, calls under way get `drain_us` to finish, children are
 * stopped, and the ledger is closed in order.
 *
 * @return WRIT_OK after an orderly end; else what could not be opened: as writ_generation_new,
 *         writ_ledger_open, writ_listener_open, writ_upstream_open
 */
WRIT_RESULT writ_serve_run(const struct writ_serve_options *options, struct writ_err *err);

#endif
