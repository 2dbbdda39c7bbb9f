/* guard_run.h - a whole guard, from its options to its end. */
#ifndef WRIT_GATEWAY_GUARD_RUN_H
#define WRIT_GATEWAY_GUARD_RUN_H

#include "gateway/guard/guard.h"

/** Runs until SIGTERM or SIGINT, or, over stdio, until the client or the server ends. The codes of
 * writ_replay_cache_open, writ_verify_new, the listener and the child. Blocks. */
WRIT_RESULT writ_guard_run(const struct writ_guard_options *options, struct writ_err *err);

#endif
