/* reload.h - reads the configuration, the keys and the certificates again at SIGHUP; and newly
 * accepted definitions of tools without a signal.
 *
 * All or nothing: everything that can fail is done first, and the running gateway is not changed
 * before it has succeeded. A running call keeps the state with which it began. */
#ifndef WRIT_GATEWAY_RELOAD_H
#define WRIT_GATEWAY_RELOAD_H

#include "gateway/state/gateway.h"

/**
 * Reads `file` and applies it. From the main thread; blocks for files.
 *
 * @param current    the generation that is held for the main thread; exchanged on success
 * @param ret_waits  names of changed options that wait for a restart (changes.h)
 *
 * @return WRIT_OK; else nothing has changed: the fault of the configuration, the keys or the
 *         certificates, WRIT_E_INVALID for a change that needs a restart, WRIT_E_NOMEM
 */
WRIT_RESULT writ_reload_run(struct writ_gateway *gateway, const char *file,
    struct writ_generation **current, struct writ_buf *ret_waits, struct writ_err *err);

/**
 * Reads newly accepted definitions and applies them; the rest stays unchanged. From the main
 * thread; blocks for files.
 *
 * As writ_generation_renew; on failure nothing has changed.
 */
WRIT_RESULT writ_reload_accepted(
    struct writ_gateway *gateway, struct writ_generation **current, struct writ_err *err);

/** Passes the present rules to the ledger, so that reviews by other rules end at once: at the
 * start, and at each reload. Any thread; does not block. Without memory it is skipped: the change
 * is then noticed when a caller comes back. */
void writ_reload_tell_rules(struct writ_ledger *ledger, const struct writ_config *config);

#endif
