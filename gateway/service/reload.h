/* reload.h - SIGHUP: the configuration, the keys and the certificates are read again; and
 * definitions of tools that were accepted, which need no signal.
 *
 * All or nothing: everything that can fail is done first, and nothing of the running gateway is
 * touched before it succeeded. A call that is under way keeps what it began with. */
#ifndef WRIT_GATEWAY_RELOAD_H
#define WRIT_GATEWAY_RELOAD_H

#include "gateway/state/gateway.h"

/**
 * Reads `file` and takes it. From the main thread; blocks for files.
 *
 * @param current    the generation that is held for the main thread; exchanged on success
 * @param ret_waits  names of options that would have changed and wait for a restart (changes.h)
 *
 * @return WRIT_OK; else everything is as it was: what the configuration, the keys or the
 *         certificates were refused for, WRIT_E_INVALID for a change that needs a restart,
 *         WRIT_E_NOMEM
 */
WRIT_RESULT writ_reload_run(struct writ_gateway *gateway, const char *file,
    struct writ_generation **current, struct writ_buf *ret_waits, struct writ_err *err);

/**
 * Reads what operators accepted and takes it; the rest stays as it is. From the main thread; blocks
 * for files.
 *
 * As writ_generation_renew; on failure everything is as it was.
 */
WRIT_RESULT writ_reload_accepted(
    struct writ_gateway *gateway, struct writ_generation **current, struct writ_err *err);

/** Tells the ledger what policy says, so that reviews by other rules end at once: at the start, and
 * by itself at a reload. Any thread; does not block. What cannot be told, for want of memory, is
 * found out when a caller comes back. */
void writ_reload_tell_rules(struct writ_ledger *ledger, const struct writ_config *config);

#endif
