/* end_signals.h - the signals that end a program in order, or make it read its configuration again:
 * SIGTERM, SIGINT and SIGHUP. One thread waits for them; they interrupt none. */
#ifndef WRIT_GATEWAY_END_SIGNALS_H
#define WRIT_GATEWAY_END_SIGNALS_H

#include <signal.h>

/** Blocks them in this thread, and so in every thread that it starts later, and ignores SIGPIPE: a
 * peer that has left is an error code. `ret` has them, for sigwaitinfo. Call it first. */
void writ_end_signals_block(sigset_t *ret);

#endif
