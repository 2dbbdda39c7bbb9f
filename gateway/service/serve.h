/* serve.h - a whole gateway, from a configuration to its end. */
#ifndef WRIT_GATEWAY_SERVE_H
#define WRIT_GATEWAY_SERVE_H

#include "base/log.h"
#include "policy/model/config.h"

/** The options of the operator. All borrowed. */
struct writ_serve_options {
    const char *config_file;
    const struct writ_config *config; /* its content */
    struct writ_log *log;
    const struct writ_clock *clock;
    int64_t idle_us; /* it ends by itself when it was unused for so long; 0: never */
};

/**
 * Serves until SIGTERM or SIGINT, or until it was idle for `idle_us`; SIGHUP reads the
 * configuration file again (policy, agents and keys; a bad file changes nothing, and the reason is
 * logged). Call it from the main thread of a process that has no other threads yet: it blocks these
 * signals and waits for them.
 *
 * At the end no new connection is accepted, running calls get `drain_us` to finish, children are
 * stopped, and the ledger is closed in order.
 *
 * @return WRIT_OK after an orderly end; else the failure of opening: as writ_generation_new,
 *         writ_ledger_open, writ_listener_open, writ_upstream_open
 */
WRIT_RESULT writ_serve_run(const struct writ_serve_options *options, struct writ_err *err);

#endif
